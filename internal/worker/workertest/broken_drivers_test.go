package workertest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

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

func (s brokenDriver) Prepare(ctx context.Context, shoot *worker.Shoot) (runtime.Object, error) {
	if s.prepare == nil {
		return s.exampleDriver.Prepare(ctx, shoot)
	}
	return s.prepare(ctx, shoot)
}

func (s brokenDriver) Machines(shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*worker.Machines, error) {
	if s.machines == nil {
		return s.exampleDriver.Machines(shoot, status, pool)
	}
	return s.machines(shoot, status, pool)
}

func (s brokenDriver) Cleanup(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
	if s.cleanup == nil {
		return s.exampleDriver.Cleanup(ctx, shoot, status)
	}
	return s.cleanup(ctx, shoot, status)
}

// newStatusOnlyDriver finds only the resources that the Worker's status names.
func newStatusOnlyDriver(g exampleDriver) worker.Driver {
	return brokenDriver{exampleDriver: g, prepare: func(ctx context.Context, shoot *worker.Shoot) (runtime.Object, error) {
		if shoot.Worker.Status.ProviderStatus != nil {
			return g.Prepare(ctx, shoot)
		}
		status := newExampleStatus()
		for _, pool := range shoot.Worker.Spec.Pools {
			var made exampleGroup
			wanted := exampleGroup{Name: shoot.TechnicalID + "-" + pool.Name, Owner: shoot.UID}
			if err := g.do(ctx, http.MethodPost, "/groups", wanted, &made); err != nil {
				return nil, err
			}
			status.Groups[pool.Name] = made.ID
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
			driver: func(g exampleDriver) worker.Driver {
				return brokenDriver{exampleDriver: g, cleanup: func(_ context.Context, _ *worker.Shoot, status runtime.Object) (runtime.Object, error) {
					return status, nil
				}}
			},
			scenario: "create, again, delete", wants: "left behind: group",
		},
		"removes shared resources in use": {
			driver: func(g exampleDriver) worker.Driver {
				return brokenDriver{exampleDriver: g, cleanup: func(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
					all := *shoot
					all.Deleting = true
					return g.Cleanup(ctx, &all, status)
				}}
			},
			scenario: "create, again, delete", wants: "the cloud has the shared resources",
		},
		"removes resources of others": {
			driver: func(g exampleDriver) worker.Driver {
				return brokenDriver{exampleDriver: g, cleanup: func(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
					if !shoot.Deleting {
						return g.Cleanup(ctx, shoot, status)
					}
					var all []exampleGroup
					err := g.do(ctx, http.MethodGet, "/groups", nil, &all)
					for _, p := range all {
						if strings.HasPrefix(p.Name, shoot.TechnicalID) {
							err = errors.Join(err, g.do(ctx, http.MethodDelete, "/groups/"+p.ID, nil, nil))
						}
					}
					return status, err
				}}
			},
			scenario: "create, again, delete", wants: "foreign group",
		},
		"describes machines non-deterministically": {
			driver: func(g exampleDriver) worker.Driver {
				var times atomic.Int32
				return brokenDriver{exampleDriver: g, machines: func(
					shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool,
				) (*worker.Machines, error) {
					machines, err := g.Machines(shoot, status, pool)
					machines.HashData = append(machines.HashData, fmt.Sprint(times.Add(1)))
					return machines, err
				}}
			},
			scenario: "create, again, delete", wants: "writes of a no-op",
		},
		"writes to the cloud in each reconciliation": {
			driver: func(g exampleDriver) worker.Driver {
				return brokenDriver{exampleDriver: g, prepare: func(ctx context.Context, shoot *worker.Shoot) (runtime.Object, error) {
					status, err := g.Prepare(ctx, shoot)
					return status, errors.Join(err, g.do(ctx, http.MethodDelete, "/groups/none", nil, nil))
				}}
			},
			scenario: "create, again, delete", wants: "a no-op changes the cloud",
		},
		"hashes the number of pools": {
			driver: func(g exampleDriver) worker.Driver {
				return brokenDriver{exampleDriver: g, machines: func(
					shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool,
				) (*worker.Machines, error) {
					machines, err := g.Machines(shoot, status, pool)
					machines.HashData = append(machines.HashData, fmt.Sprint(len(shoot.Worker.Spec.Pools)))
					return machines, err
				}}
			},
			scenario: "remove a pool", wants: "machines of other pools are kept",
		},
		"describes no machines in a deletion": {
			driver: func(g exampleDriver) worker.Driver {
				return brokenDriver{exampleDriver: g, machines: func(
					shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool,
				) (*worker.Machines, error) {
					if shoot.Deleting {
						return nil, errors.New("machines are unknown")
					}
					return g.Machines(shoot, status, pool)
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
			violations := workertest.Violations(t.Context(), apiServer.Get(t), exampleSubject(test.driver, "zone-b"), test.scenario)
			require.NotEmpty(t, violations, "the suite finds the fault")
			assert.Contains(t, strings.Join(violations, "\n"), test.wants)
		})
	}
}

// TestExplore_StatusOnlyDriver shows that the exploration finds faults that matter only after another failure.
func TestExplore_StatusOnlyDriver(t *testing.T) {
	t.Parallel()
	report, err := workertest.Explore(t.Context(), apiServer.Get(t), exampleSubject(newStatusOnlyDriver, "zone-b"), contracttest.Options{
		MaxFailures: 1, MergeFaults: true, Deadline: time.Minute, Phases: []contracttest.Phase{contracttest.Create}, Filter: "POST /groups: kill after",
	})
	require.NoError(t, err)
	require.NotEmpty(t, report.Failures, "%s", report)
	assert.True(t, slices.ContainsFunc(report.Failures[0].Violations, func(violation string) bool {
		return strings.Contains(violation, "the cloud holds")
	}), report.Failures[0].Violations)
}
