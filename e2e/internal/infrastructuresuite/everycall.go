package infrastructuresuite

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// failureMode is a way in which a request to the cloud fails.
type failureMode struct {
	name string
	// faults are the cloud's failures, one after another from request to request; none if the controller is killed.
	faults []wire.Fault
	// killPhase is when the controller is killed, before the request takes effect or after it.
	killPhase wire.Phase
}

func failureModes() []failureMode {
	return []failureMode{
		{name: "refused", faults: []wire.Fault{
			{Status: http.StatusServiceUnavailable},
			{Status: http.StatusTooManyRequests, RetryAfter: time.Second},
			{Status: http.StatusInternalServerError},
		}},
		{name: "cut off before its effect", faults: []wire.Fault{{Drop: wire.DropBefore}}},
		{name: "cut off after its effect", faults: []wire.Fault{{Drop: wire.DropAfter}}},
		{name: "last of a controller killed before its effect", killPhase: wire.Before},
		{name: "last of a controller killed after its effect", killPhase: wire.After},
	}
}

// testEveryCall lets each request of a creation and of a deletion fail once in each mode. The operation succeeds without help; nothing is
// created twice, and nothing is left. Each shoot serves two cases.
func testEveryCall(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	creation, deletion := lifecycleCalls(env)
	t.Logf("creation: %v\ndeletion: %v", names(creation), names(deletion))
	for i, mode := range failureModes() {
		for j := range max(len(creation), len(deletion)) {
			first, last := creation[j%len(creation)], deletion[j%len(deletion)]
			passed := t.Run(fmt.Sprintf("%s/%s, %s", mode.name, path(first), path(last)), func(t *testing.T) {
				mode.run(env.WithT(t), fmt.Sprintf("every-%d-%d", i, j), j, first, last)
			})
			if !passed {
				env = replaceEnv(t, f, env)
			}
		}
	}
}

// replaceEnv returns a new Env after a failed case, so that what that case has left does not affect others.
func replaceEnv(t *testing.T, f *testenv.Fixture, env *testenv.Env) *testenv.Env {
	t.Helper()
	if env.Controller != nil {
		env.StopController()
	}
	return f.NewEnv(t)
}

// run lets a request of a shoot's creation fail, and then one of its deletion.
func (a failureMode) run(env *testenv.Env, name string, turn int, first, last wire.Call) {
	env.T.Helper()
	if (first.IsLogin() || !first.IsWrite()) && env.Controller != nil {
		env.StopController() // which forgets its session, and the floating network
	}
	if env.Controller == nil {
		env.StartController()
	}
	shoot := env.Shoot(name)
	a.inject(env, turn, first, func() { env.RequestReconcile(shoot) })
	env.WaitHealthy(shoot)
	assertOneOfEach(env)
	a.inject(env, turn, last, func() { env.RequestDeletion(shoot) })
	env.WaitGone(shoot)
	assertEmpty(env)
}

// inject starts an operation and lets a request fail. A controller runs afterwards.
func (a failureMode) inject(env *testenv.Env, turn int, call wire.Call, trigger func()) {
	env.T.Helper()
	match := wire.Match{Service: call.Service, Method: call.Method, Path: call.Path}
	if a.killPhase != "" {
		env.KillAt(match, a.killPhase, trigger)
		env.StartController()
		return
	}
	fault := a.faults[turn%len(a.faults)]
	fault.Match = match
	struck := env.Cloud.Inject(fault)
	trigger()
	env.Eventually(call.Name()+" goes wrong", func() bool { return struck() == 1 })
}

// lifecycleCalls returns the requests of a creation, login included, and of a deletion, without repetitions.
func lifecycleCalls(env *testenv.Env) (creation, deletion wire.Calls) {
	env.T.Helper()
	env.StartController()
	env.Cloud.ResetLog()
	shoot := env.NewReconciledShoot("every-call")
	creation = uniqueCalls(env.Cloud.Log())
	env.Cloud.ResetLog()
	env.Destroy(shoot)
	deletion = uniqueCalls(env.Cloud.Log())
	require.GreaterOrEqual(env.T, len(creation), 8)
	require.GreaterOrEqual(env.T, len(deletion), 6)
	assertEmpty(env)
	return creation, deletion
}

// uniqueCalls keeps the first call of each name.
func uniqueCalls(calls wire.Calls) wire.Calls {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(calls), func(call wire.Call) bool {
		was := seen[call.Name()]
		seen[call.Name()] = true
		return was
	})
}

func names(calls wire.Calls) []string {
	var all []string
	for _, call := range calls {
		all = append(all, call.Name())
	}
	return all
}

// path turns a call into a part of a test's name, in which slashes separate levels.
func path(call wire.Call) string { return strings.ReplaceAll(call.Name(), "/", "∕") }

// testPartialCreation deletes shoots whose creation never succeeded, because the cloud permanently refuses one of its writes; and one that
// is deleted right after its creation was requested.
func testPartialCreation(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	creation, _ := lifecycleCalls(env)
	writes := creation.Where(func(call wire.Call) bool { return call.IsWrite() && !call.IsLogin() })
	for i, write := range writes {
		passed := t.Run("without "+path(write), func(t *testing.T) {
			env := env.WithT(t)
			shoot := env.Shoot(fmt.Sprintf("half-made-%d", i))
			t.Cleanup(env.Cloud.ClearFaults)
			env.Cloud.Inject(wire.Fault{
				Match: wire.Match{Service: write.Service, Method: write.Method, Path: write.Path},
				Times: -1, Status: http.StatusInternalServerError,
			})
			env.RequestReconcile(shoot)
			reported := env.WaitForError(shoot).Status.LastError
			t.Log(reported.Description)
			assert.NotEqual(t, env.Provider.Resources, env.CountByKind())
			env.Destroy(shoot)
			env.Cloud.ClearFaults()
			assertEmpty(env)
		})
		if !passed {
			env = replaceEnv(t, f, env)
			env.StartController()
		}
	}
	env.StopController() // two processes on one seed would both take what comes next
	testEarlyDeletion(t, f)
}

// testEarlyDeletion deletes shoots during their creation.
func testEarlyDeletion(t *testing.T, f *testenv.Fixture) {
	for _, c := range []struct {
		name, shoot string
		await       func(*testenv.Env)
	}{
		{"right after its order", "half-made-at-once", func(*testenv.Env) {}},
		{"while it is made", "half-made-meanwhile", func(env *testenv.Env) {
			env.Eventually("something is made", func() bool {
				return len(env.Cloud.Log().Where(func(call wire.Call) bool { return call.IsWrite() && !call.IsLogin() })) > 0
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := f.NewEnv(t)
			env.StartController()
			shoot := env.Shoot(c.shoot)
			env.RequestReconcile(shoot)
			c.await(env)
			env.Destroy(shoot)
			assertEmpty(env)
		})
	}
}
