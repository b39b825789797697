package controllerinstallation

import (
	"maps"
	"sync"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

// notice is what the reconciler of rollouts knows of a deployment. It is not changed any more once it is on the board.
type notice struct {
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

// board is where the reconciler of rollouts leaves what it knows for that of installations. After a restart it is empty, and filled again before
// anything is done.
type board struct {
	mutex   sync.RWMutex
	notices map[string]notice // by the name of the deployment
}

func newBoard() *board { return &board{notices: map[string]notice{}} }

func (b *board) read(deployment string) (notice, bool) {
	b.mutex.RLock()
	defer b.mutex.RUnlock()
	n, found := b.notices[deployment]
	return n, found
}

// ours lists the deployments that the operator serves.
func (b *board) ours() []string {
	b.mutex.RLock()
	defer b.mutex.RUnlock()
	var names []string
	for name, n := range b.notices {
		if n.relation == ours {
			names = append(names, name)
		}
	}
	return names
}

// put reports whether the notice tells installations anything new.
func (b *board) put(deployment string, n notice) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	before, found := b.notices[deployment]
	b.notices[deployment] = n
	return !found || before.relation != n.relation || before.note != n.note || !sameProblem(before.problem, n.problem) ||
		(before.waiting == nil) != (n.waiting == nil) || !maps.Equal(before.waves, n.waves)
}

func sameProblem(a, b *problem.Problem) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
