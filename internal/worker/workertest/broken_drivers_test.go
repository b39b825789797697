package workertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/worker"
	"github.com/trellis-garden/trellis/internal/worker/workertest"
)

// brokenDriver is the example driver with faults.
type brokenDriver struct {
	exampleDriver
	prepare  func(context.Context, *worker.Shoot) (runtime.Object, error)
	machines func(*worker.Shoot, runtime.Object, *extensionsv1alpha1.WorkerPool) (*worker.Machines, error)
	cleanup  func(context.Context, *worker.Shoot, runtime.Object) (runtime.Object, error)
}

// Prepare implements worker.Driver.
func (d brokenDriver) Prepare(ctx context.Context, shoot *worker.Shoot) (runtime.Object, error) {
	if d.prepare == nil {
		return d.exampleDriver.Prepare(ctx, shoot)
	}
	return d.prepare(ctx, shoot)
}

// Machines implements worker.Driver.
func (d brokenDriver) Machines(shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*worker.Machines, error) {
	if d.machines == nil {
		return d.exampleDriver.Machines(shoot, status, pool)
	}
	return d.machines(shoot, status, pool)
}

// Cleanup implements worker.Driver.
func (d brokenDriver) Cleanup(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
	if d.cleanup == nil {
		return d.exampleDriver.Cleanup(ctx, shoot, status)
	}
	return d.cleanup(ctx, shoot, status)
}

// newStatusOnlyDriver finds only the resources that the Worker's status names.
func newStatusOnlyDriver(d exampleDriver) worker.Driver {
	return brokenDriver{exampleDriver: d, prepare: func(ctx context.Context, shoot *worker.Shoot) (runtime.Object, error) {
		if shoot.Worker.Status.ProviderStatus != nil {
			return d.Prepare(ctx, shoot)
		}
		status := v1alpha1.NewWorkerStatus()
		status.Groups = map[string]string{}
		for _, pool := range shoot.Worker.Spec.Pools {
			created, err := d.session.Groups().Create(ctx, cloudexample.Group{Name: shoot.TechnicalID + "-" + pool.Name, Owner: shoot.UID})
			if err != nil {
				return nil, err
			}
			status.Groups[pool.Name] = created.ID
		}
		return status, nil
	}}
}

// TestViolations_BrokenDrivers shows that the suite finds faults of drivers.
func TestViolations_BrokenDrivers(t *testing.T) {
	t.Parallel()
	for sentence, test := range map[string]struct {
		driver          func(exampleDriver) worker.Driver
		scenario, wants string
	}{
		"leaves shared resources behind": {
			driver: func(d exampleDriver) worker.Driver {
				return brokenDriver{exampleDriver: d, cleanup: func(_ context.Context, _ *worker.Shoot, status runtime.Object) (runtime.Object, error) {
					return status, nil
				}}
			},
			scenario: "create, again, delete", wants: "left behind: groups",
		},
		"removes shared resources in use": {
			driver: func(d exampleDriver) worker.Driver {
				return brokenDriver{exampleDriver: d, cleanup: func(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
					all := *shoot
					all.Deleting = true
					return d.Cleanup(ctx, &all, status)
				}}
			},
			scenario: "create, again, delete", wants: "the cloud has the shared resources",
		},
		"removes resources of others": {
			driver: func(d exampleDriver) worker.Driver {
				return brokenDriver{exampleDriver: d, cleanup: func(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
					if !shoot.Deleting {
						return d.Cleanup(ctx, shoot, status)
					}
					all, err := d.session.Groups().List(ctx, cloudexample.Filter{})
					for _, group := range all {
						if strings.HasPrefix(group.Name, shoot.TechnicalID) {
							err = errors.Join(err, d.session.Groups().Delete(ctx, group.ID))
						}
					}
					return status, err
				}}
			},
			scenario: "create, again, delete", wants: "foreign groups",
		},
		"describes machines non-deterministically": {
			driver: func(d exampleDriver) worker.Driver {
				var times atomic.Int32
				return brokenDriver{exampleDriver: d, machines: func(
					shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool,
				) (*worker.Machines, error) {
					machines, err := d.Machines(shoot, status, pool)
					machines.HashData = append(machines.HashData, fmt.Sprint(times.Add(1)))
					return machines, err
				}}
			},
			scenario: "create, again, delete", wants: "writes of a no-op",
		},
		"writes to the cloud in each reconciliation": {
			driver: func(d exampleDriver) worker.Driver {
				return brokenDriver{exampleDriver: d, prepare: func(ctx context.Context, shoot *worker.Shoot) (runtime.Object, error) {
					status, err := d.Prepare(ctx, shoot)
					_ = d.session.Groups().Delete(ctx, "none")
					return status, err
				}}
			},
			scenario: "create, again, delete", wants: "a no-op changes the cloud",
		},
		"hashes the number of pools": {
			driver: func(d exampleDriver) worker.Driver {
				return brokenDriver{exampleDriver: d, machines: func(
					shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool,
				) (*worker.Machines, error) {
					machines, err := d.Machines(shoot, status, pool)
					machines.HashData = append(machines.HashData, fmt.Sprint(len(shoot.Worker.Spec.Pools)))
					return machines, err
				}}
			},
			scenario: "remove a pool", wants: "machines of other pools are kept",
		},
		"describes no machines in a deletion": {
			driver: func(d exampleDriver) worker.Driver {
				return brokenDriver{exampleDriver: d, machines: func(
					shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool,
				) (*worker.Machines, error) {
					if shoot.Deleting {
						return nil, errors.New("machines are unknown")
					}
					return d.Machines(shoot, status, pool)
				}}
			},
			scenario: "delete without classes", wants: "machines are unknown",
		},
		"finds resources only by the status": {
			driver: newStatusOnlyDriver, scenario: "migrate to another seed", wants: "machines are kept",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			violations := workertest.Violations(t.Context(), apiServer.Get(t), exampleSubject(test.driver), test.scenario)
			require.NotEmpty(t, violations, "the suite finds the fault")
			assert.Contains(t, strings.Join(violations, "\n"), test.wants)
		})
	}
}

// TestViolations_Driver shows that violations are those of the broken drivers. The whole suite is run in the package of the driver.
func TestViolations_Driver(t *testing.T) {
	t.Parallel()
	subject := exampleSubject(func(d exampleDriver) worker.Driver { return d })
	for _, scenario := range []string{"create, again, delete", "migrate to another seed"} {
		assert.Empty(t, workertest.Violations(t.Context(), apiServer.Get(t), subject, scenario))
	}
}

// TestExplore_StatusOnlyDriver shows that the exploration finds faults that matter only after another failure.
func TestExplore_StatusOnlyDriver(t *testing.T) {
	t.Parallel()
	report, err := workertest.Explore(t.Context(), apiServer.Get(t), exampleSubject(newStatusOnlyDriver), contracttest.Options{
		MaxFailures: 1, MergeFaults: true, Deadline: time.Minute, Phases: []contracttest.Phase{contracttest.Create}, Filter: "POST /groups: kill after",
	})
	require.NoError(t, err)
	require.NotEmpty(t, report.Failures, "%s", report)
	assert.True(t, slices.ContainsFunc(report.Failures[0].Violations, func(violation string) bool {
		return strings.Contains(violation, "the cloud holds")
	}), report.Failures[0].Violations)
}
