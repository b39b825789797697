package openstack

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// mishaps are all the ways in which a call goes wrong, or the process at it.
func mishaps() map[string]func(w *world, call int) {
	die := func(phase wire.Phase) func(w *world, call int) {
		return func(w *world, call int) {
			var dead atomic.Bool
			w.cloud.SetHook(func(event wire.Event) wire.Verdict {
				if event.Phase == phase && event.Call.Seq == call+1 {
					dead.Store(true)
				}
				if dead.Load() {
					return wire.Cut
				}
				return wire.Proceed
			})
		}
	}
	all := map[string]func(w *world, call int){
		"killed before its effect": die(wire.Before),
		"killed after its effect":  die(wire.After),
	}
	for how, fault := range map[string]wire.Fault{
		"refused":                         {Status: 500},
		"lost before its effect":          {Drop: wire.DropBefore},
		"answered badly after its effect": {Status: 504, AfterEffect: true},
		"lost after its effect":           {Drop: wire.DropAfter},
	} {
		all[how] = func(w *world, call int) {
			fault.Skip = call
			w.cloud.Inject(fault)
		}
	}
	return all
}

// Whatever call goes wrong, in whatever way, whether or not the process survives it, and whether or not the record does: nothing exists
// twice, and nothing is left behind.
func TestEveryCallMayFail(t *testing.T) {
	for sentence, tc := range map[string]struct {
		before, change func(w *world)
		do             func(w *world) error
	}{
		"new groups": {
			before: func(*world) {}, do: (*world).reconcile,
			change: func(w *world) { w.ask("cpu", "soft-anti-affinity"); w.ask("gpu", "soft-anti-affinity") },
		},
		"another policy, and a pool without": {
			before: func(w *world) {
				w.ask("cpu", "soft-anti-affinity")
				w.ask("gpu", "soft-anti-affinity")
				w.mustReconcile()
			},
			change: func(w *world) { w.ask("cpu", "anti-affinity"); w.ask("gpu", "") },
			do:     (*world).reconcile,
		},
		"deletion": {
			before: func(w *world) {
				w.ask("cpu", "soft-anti-affinity")
				w.ask("gpu", "soft-anti-affinity")
				w.mustReconcile()
			},
			change: func(*world) {},
			do:     (*world).delete,
		},
	} {
		start := func(t *testing.T) *world {
			t.Helper()
			w := newCloudWorld(t)
			w.addPool("gpu")
			w.plantGroup("database", "affinity")
			tc.before(w)
			tc.change(w)
			w.cloud.ResetLog()
			return w
		}
		reference := start(t)
		require.NoError(t, tc.do(reference))
		want := reference.there()
		calls := len(reference.calls())
		for call := range calls {
			for how, strike := range mishaps() {
				for _, loses := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s: call %d of %d %s, record lost: %t", sentence, call+1, calls, how, loses), func(t *testing.T) {
						w := start(t)
						strike(w, call)
						_ = tc.do(w)
						w.restart()
						if loses {
							w.status = nil
						}
						require.NoError(t, tc.do(w))
						assert.Equal(t, want, w.there())
						assert.Len(t, slices.Compact(w.there()), len(w.there()), "none twice")
						require.NoError(t, w.delete())
						assert.Equal(t, []string{"database"}, w.there())
					})
				}
			}
		}
	}
}
