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

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/worker"
	"github.com/trellis-garden/trellis/internal/worker/workertest"
)

// spoiled is a groom of whom some habits are bad ones.
type spoiled struct {
	groom
	prepare  func(context.Context, *worker.Shoot) (runtime.Object, error)
	machines func(*worker.Shoot, runtime.Object, *extensionsv1alpha1.WorkerPool) (*worker.Machines, error)
	tidy     func(context.Context, *worker.Shoot, runtime.Object) (runtime.Object, error)
}

func (s spoiled) Prepare(ctx context.Context, shoot *worker.Shoot) (runtime.Object, error) {
	if s.prepare == nil {
		return s.groom.Prepare(ctx, shoot)
	}
	return s.prepare(ctx, shoot)
}

func (s spoiled) Machines(shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*worker.Machines, error) {
	if s.machines == nil {
		return s.groom.Machines(shoot, status, pool)
	}
	return s.machines(shoot, status, pool)
}

func (s spoiled) Tidy(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
	if s.tidy == nil {
		return s.groom.Tidy(ctx, shoot, status)
	}
	return s.tidy(ctx, shoot, status)
}

// remembering finds again only what the Worker's status says.
func remembering(g groom) worker.Driver {
	return spoiled{groom: g, prepare: func(ctx context.Context, shoot *worker.Shoot) (runtime.Object, error) {
		if shoot.Worker.Status.ProviderStatus != nil {
			return g.Prepare(ctx, shoot)
		}
		status := newGroomStatus()
		for _, pool := range shoot.Worker.Spec.Pools {
			var made paddock
			wanted := paddock{Name: shoot.TechnicalID + "-" + pool.Name, Owner: shoot.UID}
			if err := g.do(ctx, http.MethodPost, "/paddocks", wanted, &made); err != nil {
				return nil, err
			}
			status.Paddocks[pool.Name] = made.ID
		}
		return status, nil
	}}
}

// TestWhatTheSuiteRejects shows that it would find out what it is there to find out.
func TestWhatTheSuiteRejects(t *testing.T) {
	t.Parallel()
	for sentence, test := range map[string]struct {
		driver          func(groom) worker.Driver
		scenario, wants string
	}{
		"one that leaves behind what machines have shared": {
			driver: func(g groom) worker.Driver {
				return spoiled{groom: g, tidy: func(_ context.Context, _ *worker.Shoot, status runtime.Object) (runtime.Object, error) {
					return status, nil
				}}
			},
			scenario: "create, again, delete", wants: "left behind: paddock",
		},
		"one that removes what machines still share": {
			driver: func(g groom) worker.Driver {
				return spoiled{groom: g, tidy: func(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
					all := *shoot
					all.Deleting = true
					return g.Tidy(ctx, &all, status)
				}}
			},
			scenario: "create, again, delete", wants: "the cloud holds what the pools share",
		},
		"one that takes what others have for its own": {
			driver: func(g groom) worker.Driver {
				return spoiled{groom: g, tidy: func(ctx context.Context, shoot *worker.Shoot, status runtime.Object) (runtime.Object, error) {
					if !shoot.Deleting {
						return g.Tidy(ctx, shoot, status)
					}
					var all []paddock
					err := g.do(ctx, http.MethodGet, "/paddocks", nil, &all)
					for _, p := range all {
						if strings.HasPrefix(p.Name, shoot.TechnicalID) {
							err = errors.Join(err, g.do(ctx, http.MethodDelete, "/paddocks/"+p.ID, nil, nil))
						}
					}
					return status, err
				}}
			},
			scenario: "create, again, delete", wants: "foreign paddock",
		},
		"one that answers the same question differently": {
			driver: func(g groom) worker.Driver {
				var times atomic.Int32
				return spoiled{groom: g, machines: func(
					shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool,
				) (*worker.Machines, error) {
					machines, err := g.Machines(shoot, status, pool)
					machines.HashData = append(machines.HashData, fmt.Sprint(times.Add(1)))
					return machines, err
				}}
			},
			scenario: "create, again, delete", wants: "writes of a no-op",
		},
		"one that writes something to the cloud each time": {
			driver: func(g groom) worker.Driver {
				return spoiled{groom: g, prepare: func(ctx context.Context, shoot *worker.Shoot) (runtime.Object, error) {
					status, err := g.Prepare(ctx, shoot)
					return status, errors.Join(err, g.do(ctx, http.MethodDelete, "/paddocks/none", nil, nil))
				}}
			},
			scenario: "create, again, delete", wants: "a no-op changes the cloud",
		},
		"one that forgets pools that are dropped": {
			driver: func(g groom) worker.Driver {
				return spoiled{groom: g, machines: func(
					shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool,
				) (*worker.Machines, error) {
					machines, err := g.Machines(shoot, status, pool)
					machines.HashData = append(machines.HashData, fmt.Sprint(len(shoot.Worker.Spec.Pools)))
					return machines, err
				}}
			},
			scenario: "drop a pool", wants: "what another pool's machines are like has no say",
		},
		"one that knows nothing about machines when they are to go": {
			driver: func(g groom) worker.Driver {
				return spoiled{groom: g, machines: func(
					shoot *worker.Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool,
				) (*worker.Machines, error) {
					if shoot.Deleting {
						return nil, errors.New("the book is lost")
					}
					return g.Machines(shoot, status, pool)
				}}
			},
			scenario: "delete without classes", wants: "the book is lost",
		},
		"one that trusts in the status alone": {
			driver: remembering, scenario: "move to another seed", wants: "the machines are the same",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			violations := workertest.Violations(t.Context(), apiServer.Get(t), stableSubject(test.driver, "hill"), test.scenario)
			require.NotEmpty(t, violations, "nobody has noticed")
			assert.Contains(t, strings.Join(violations, "\n"), test.wants)
		})
	}
}

// TestWhatTheExplorationRejects shows it of drivers that go wrong only where something else does.
func TestWhatTheExplorationRejects(t *testing.T) {
	t.Parallel()
	report, err := workertest.Explore(t.Context(), apiServer.Get(t), stableSubject(remembering, "hill"), contracttest.Options{
		MaxFailures: 1, Swift: true, Phases: []contracttest.Phase{contracttest.Create}, Only: "POST /paddocks: kill after",
	})
	require.NoError(t, err)
	require.NotEmpty(t, report.Failures, "%s", report)
	assert.True(t, slices.ContainsFunc(report.Failures[0].Violations, func(violation string) bool {
		return strings.Contains(violation, "the cloud holds")
	}), report.Failures[0].Violations)
}
