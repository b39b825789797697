package openstack

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// callFailures are all ways in which a call fails, or the process during it.
func callFailures() map[string]func(env *environment, call int) {
	killAt := func(phase wire.Phase) func(env *environment, call int) {
		return func(env *environment, call int) {
			var dead atomic.Bool
			env.cloud.SetHook(func(event wire.Event) wire.HookResult {
				if event.Phase == phase && event.Call.Seq == call+1 {
					dead.Store(true)
				}
				if dead.Load() {
					return wire.DropConnection
				}
				return wire.Proceed
			})
		}
	}
	all := map[string]func(env *environment, call int){
		"killed before its effect": killAt(wire.Before),
		"killed after its effect":  killAt(wire.After),
	}
	for how, fault := range map[string]wire.Fault{
		"error response":                  {Status: 500},
		"lost before its effect":          {Drop: wire.DropBefore},
		"error response after its effect": {Status: 504, AfterEffect: true},
		"lost after its effect":           {Drop: wire.DropAfter},
	} {
		all[how] = func(env *environment, call int) {
			fault.Skip = call
			env.cloud.Inject(fault)
		}
	}
	return all
}

// Each call fails in each way, the process is killed or not, and the record is kept or lost: no group exists
// twice, and none is left behind.
func TestServerGroups_Faults(t *testing.T) {
	for sentence, tc := range map[string]struct {
		before, change func(env *environment)
		do             func(env *environment) error
	}{
		"new groups": {
			before: func(*environment) {}, do: (*environment).reconcile,
			change: func(env *environment) {
				env.setServerGroup("cpu", "soft-anti-affinity")
				env.setServerGroup("gpu", "soft-anti-affinity")
			},
		},
		"changed policy and removed group": {
			before: func(env *environment) {
				env.setServerGroup("cpu", "soft-anti-affinity")
				env.setServerGroup("gpu", "soft-anti-affinity")
				env.mustReconcile()
			},
			change: func(env *environment) { env.setServerGroup("cpu", "anti-affinity"); env.setServerGroup("gpu", "") },
			do:     (*environment).reconcile,
		},
		"deletion": {
			before: func(env *environment) {
				env.setServerGroup("cpu", "soft-anti-affinity")
				env.setServerGroup("gpu", "soft-anti-affinity")
				env.mustReconcile()
			},
			change: func(*environment) {},
			do:     (*environment).delete,
		},
	} {
		start := func(t *testing.T) *environment {
			t.Helper()
			env := newCloudEnvironment(t)
			env.addPool("gpu")
			env.createServerGroup("database", "affinity")
			tc.before(env)
			tc.change(env)
			env.cloud.ResetLog()
			return env
		}
		reference := start(t)
		require.NoError(t, tc.do(reference))
		want := reference.serverGroupNames()
		calls := len(reference.calls())
		for call := range calls {
			for how, inject := range callFailures() {
				for _, losesRecord := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s: call %d of %d %s, record lost: %t", sentence, call+1, calls, how, losesRecord), func(t *testing.T) {
						env := start(t)
						inject(env, call)
						_ = tc.do(env)
						env.restart()
						if losesRecord {
							env.status = nil
						}
						require.NoError(t, tc.do(env))
						assert.Equal(t, want, env.serverGroupNames())
						assert.Len(t, slices.Compact(env.serverGroupNames()), len(env.serverGroupNames()), "no duplicates")
						require.NoError(t, env.delete())
						assert.Equal(t, []string{"database"}, env.serverGroupNames())
					})
				}
			}
		}
	}
}
