package controllerinstallation

import (
	"maps"
	"sync"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

// deploymentState is what the reconciler of rollouts knows of a deployment. It is not changed any more once it is on the board.
type deploymentState struct {
	relation relation
	config   *installationv1alpha1.ControllerDeploymentConfig
	problem  *problem.Problem
	waiting  error
	note     string
	// trial is the newest revision while it is a candidate.
	trial string
	// empty are the waves that select nobody.
	empty []string
	// waves tells the wave of each installation.
	waves map[string]string
}

// stateStore is where the reconciler of rollouts leaves what it knows for that of installations. After a restart it is empty, and filled again before
// anything is done.
type stateStore struct {
	mutex  sync.RWMutex
	states map[string]deploymentState // by the name of the deployment
}

func newStateStore() *stateStore { return &stateStore{states: map[string]deploymentState{}} }

func (b *stateStore) read(deployment string) (deploymentState, bool) {
	b.mutex.RLock()
	defer b.mutex.RUnlock()
	state, found := b.states[deployment]
	return state, found
}

// ours lists the deployments that the operator serves.
func (b *stateStore) ours() []string {
	b.mutex.RLock()
	defer b.mutex.RUnlock()
	var names []string
	for name, state := range b.states {
		if state.relation == ours {
			names = append(names, name)
		}
	}
	return names
}

// put reports whether the notice tells installations anything new.
func (b *stateStore) put(deployment string, state deploymentState) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	before, found := b.states[deployment]
	b.states[deployment] = state
	return !found || before.relation != state.relation || before.note != state.note || !sameProblem(before.problem, state.problem) ||
		(before.waiting == nil) != (state.waiting == nil) || !maps.Equal(before.waves, state.waves)
}

func sameProblem(a, b *problem.Problem) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
