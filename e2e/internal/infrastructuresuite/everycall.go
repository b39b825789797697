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

	"github.com/trellis-garden/trellis/e2e/internal/rig"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// way is a way in which a call to the cloud goes wrong.
type way struct {
	name string
	// faults are what the cloud does, in turn from call to call; none where the controller is killed.
	faults []wire.Fault
	// killed is when the controller is killed, before the call's effect or after it.
	killed wire.Phase
}

func ways() []way {
	return []way{
		{name: "refused", faults: []wire.Fault{
			{Status: http.StatusServiceUnavailable},
			{Status: http.StatusTooManyRequests, RetryAfter: time.Second},
			{Status: http.StatusInternalServerError},
		}},
		{name: "cut off before its effect", faults: []wire.Fault{{Drop: wire.DropBefore}}},
		{name: "cut off after its effect", faults: []wire.Fault{{Drop: wire.DropAfter}}},
		{name: "last of a controller killed before its effect", killed: wire.Before},
		{name: "last of a controller killed after its effect", killed: wire.After},
	}
}

// testEveryCall lets each call of a creation and of a deletion go wrong in every way, once. The shoot is fulfilled, or gone,
// without any help; nothing exists twice, and nothing is left. Each life of a shoot serves two cases.
func testEveryCall(t *testing.T, r *rig.Rig) {
	w := r.NewWorld(t)
	creation, deletion := callsOfALife(w)
	t.Logf("creation: %v\ndeletion: %v", names(creation), names(deletion))
	for i, way := range ways() {
		for j := range max(len(creation), len(deletion)) {
			first, last := creation[j%len(creation)], deletion[j%len(deletion)]
			passed := t.Run(fmt.Sprintf("%s/%s, %s", way.name, path(first), path(last)), func(t *testing.T) {
				way.play(w.In(t), fmt.Sprintf("every-%d-%d", i, j), j, first, last)
			})
			if !passed {
				w = another(t, r, w)
			}
		}
	}
}

// another returns a new world, for the cases that follow a failed one: what that has left is no concern of theirs.
func another(t *testing.T, r *rig.Rig, w *rig.World) *rig.World {
	t.Helper()
	if w.Controller != nil {
		w.StopController()
	}
	return r.NewWorld(t)
}

// play lets a call of a shoot's creation go wrong, and then one of its deletion.
func (a way) play(w *rig.World, name string, turn int, first, last wire.Call) {
	w.T.Helper()
	if first.Service == wire.Keystone && w.Controller != nil {
		w.StopController() // which forgets its session
	}
	if w.Controller == nil {
		w.StartController()
	}
	shoot := w.Shoot(name)
	a.strike(w, turn, first, func() { w.Order(shoot) })
	w.WaitHealthy(shoot)
	assertOneOfEach(w)
	a.strike(w, turn, last, func() { w.OrderDeletion(shoot) })
	w.WaitGone(shoot)
	assertEmpty(w)
}

// strike sets something off and lets a call go wrong. There is a controller afterwards.
func (a way) strike(w *rig.World, turn int, call wire.Call, setOff func()) {
	w.T.Helper()
	match := wire.Match{Service: call.Service, Method: call.Method, Path: call.Path}
	if a.killed != "" {
		w.KillAt(match, a.killed, setOff)
		w.StartController()
		return
	}
	fault := a.faults[turn%len(a.faults)]
	fault.Match = match
	struck := w.Cloud.Inject(fault)
	setOff()
	w.Eventually(call.Name()+" goes wrong", func() bool { return struck() == 1 })
}

// callsOfALife returns the calls of a creation by a controller that is not logged in, and of a deletion, without
// repetitions.
func callsOfALife(w *rig.World) (creation, deletion wire.Calls) {
	w.T.Helper()
	w.StartController()
	w.Cloud.ResetLog()
	shoot := w.Fulfilled("every-call")
	creation = once(w.Cloud.Log())
	w.Cloud.ResetLog()
	w.Destroy(shoot)
	deletion = once(w.Cloud.Log())
	require.GreaterOrEqual(w.T, len(creation), 8)
	require.GreaterOrEqual(w.T, len(deletion), 9)
	assertEmpty(w)
	return creation, deletion
}

// once keeps the first call of each name.
func once(calls wire.Calls) wire.Calls {
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

// path names a call in the name of a test, where slashes mean something.
func path(call wire.Call) string { return strings.ReplaceAll(call.Name(), "/", "∕") }

// testHalfMade deletes shoots that never came to be, because the cloud refuses one of their creation's writes for good; and
// one that is deleted as soon as it was ordered.
func testHalfMade(t *testing.T, r *rig.Rig) {
	w := r.NewWorld(t)
	creation, _ := callsOfALife(w)
	writes := creation.Where(func(call wire.Call) bool { return call.Writes() && !call.IsLogin() })
	for i, write := range writes {
		passed := t.Run("without "+path(write), func(t *testing.T) {
			w := w.In(t)
			shoot := w.Shoot(fmt.Sprintf("half-made-%d", i))
			t.Cleanup(w.Cloud.ClearFaults)
			w.Cloud.Inject(wire.Fault{
				Match: wire.Match{Service: write.Service, Method: write.Method, Path: write.Path},
				Times: -1, Status: http.StatusInternalServerError,
			})
			w.Order(shoot)
			reported := w.WaitForError(shoot).Status.LastError
			t.Log(reported.Description)
			assert.NotEqual(t, oneOfEach(), w.Kinds())
			w.Destroy(shoot)
			w.Cloud.ClearFaults()
			assertEmpty(w)
		})
		if !passed {
			w = another(t, r, w)
			w.StartController()
		}
	}
	w.StopController() // two processes on one seed would both take what comes next
	testDeletedEarly(t, r)
}

// testDeletedEarly deletes shoots as soon as they were ordered, or a little later.
func testDeletedEarly(t *testing.T, r *rig.Rig) {
	for _, c := range []struct {
		name, shoot string
		await       func(*rig.World)
	}{
		{"right after its order", "half-made-at-once", func(*rig.World) {}},
		{"while it is made", "half-made-meanwhile", func(w *rig.World) {
			w.Eventually("something is made", func() bool {
				return len(w.Cloud.Log().Where(func(call wire.Call) bool { return call.Writes() && !call.IsLogin() })) > 0
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := r.NewWorld(t)
			w.StartController()
			shoot := w.Shoot(c.shoot)
			w.Order(shoot)
			c.await(w)
			w.Destroy(shoot)
			assertEmpty(w)
		})
	}
}
