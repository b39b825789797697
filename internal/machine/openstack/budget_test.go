package openstack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// TestDriver_CallsFor100Machines checks the driver's budget: one login, a few look-ups and polls for all machines, and for each
// machine its port and its server.
func TestDriver_CallsFor100Machines(t *testing.T) {
	const machines = 100
	s := startCloud(t, fake.WithLatency(5*time.Millisecond))
	for _, resource := range []string{"instances", "cores", "ram", "port"} {
		require.NoError(t, s.cloud.SetQuota(fake.DefaultProject, resource, -1))
	}
	s.cloud.SetTransition(fake.ServerBuild, fake.Transition{After: 200 * time.Millisecond})
	s.cloud.SetTransition(fake.ServerDelete, fake.Transition{After: 100 * time.Millisecond})
	p := s.process()
	p.options.PollInterval = 100 * time.Millisecond
	testMachines := make([]*testMachine, machines)
	all := func(do func(*testMachine) error) wire.Calls {
		s.cloud.ResetLog()
		var group sync.WaitGroup
		for _, o := range testMachines {
			group.Go(func() {
				if err := do(o); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		return s.cloud.Log()
	}
	for i := range testMachines {
		testMachines[i] = s.newMachine(fmt.Sprintf("%s-cpu-z1-5d9f8-%05d", technicalID, i))
	}

	started := time.Now()
	calls := all(func(o *testMachine) error { return o.create(t.Context(), p) })
	t.Logf("creating %d machines: %d calls, %.2f per machine\n%s", machines, len(calls), float64(len(calls))/machines, calls.Summary())
	require.Len(t, s.cloud.State(fake.DefaultProject).Servers, machines)
	require.Equal(t, 1, calls.Logins())
	count := calls.Count()
	require.Equal(t, machines, count["neutron POST /v2.0/ports"])
	require.Equal(t, machines, count["nova POST /v2.1/servers"])
	require.LessOrEqual(t, 2*machines, SessionBurst, "two waves of 50 machines pass the rate limiter at once")
	shared := []string{
		"nova GET /v2.1/flavors/detail", "glance GET /v2/images", "neutron GET /v2.0/security-groups", "neutron GET /v2.0/ports",
	}
	for _, name := range shared {
		require.Equal(t, 1, count[name], name)
	}
	// Two look-ups, the first polls, and one poll in half of an interval. On a busy machine that takes longer.
	lists := 12 + int(time.Since(started)/(p.options.PollInterval/2))
	require.LessOrEqual(t, count["nova GET /v2.1/servers/detail"], lists)
	require.ElementsMatch(t, slices.Concat(shared, []string{
		"keystone POST /v3/auth/tokens", "nova GET /v2.1/servers/detail", "nova POST /v2.1/servers", "neutron POST /v2.0/ports",
	}), slices.Collect(maps.Keys(count)), "nothing else is called")

	calls = all(func(o *testMachine) error { return o.create(t.Context(), p) })
	t.Logf("looking at them: %d calls\n%s", len(calls), calls.Summary())
	require.LessOrEqual(t, len(calls), 10)

	started = time.Now()
	calls = all(func(o *testMachine) error { return o.delete(t.Context(), p) })
	t.Logf("deleting them: %d calls, %.2f per machine\n%s", len(calls), float64(len(calls))/machines, calls.Summary())
	lists = 20 + int(time.Since(started)/(p.options.PollInterval/2))
	require.LessOrEqual(t, len(calls), 2*machines+lists, "a machine costs the deletion of its server and its port")
	state := s.cloud.State(fake.DefaultProject)
	require.Empty(t, state.Servers)
	require.Empty(t, state.Ports)
}

func TestDriver_CallsForNextMachine(t *testing.T) {
	s := startCloud(t)
	s.cloud.SetTransition(fake.ServerBuild, fake.Transition{})
	p := s.process()
	require.NoError(t, s.newMachine(machineName).create(t.Context(), p))
	s.cloud.ResetLog()
	require.NoError(t, s.newMachine(strings.Replace(machineName, "x7k2p", "aaaaa", 1)).create(t.Context(), p))
	t.Logf("\n%s", s.cloud.Log())
	var names []string
	for _, call := range s.cloud.Log() {
		names = append(names, call.Name())
	}
	require.Equal(t, []string{
		"nova GET /v2.1/servers/detail", "neutron POST /v2.0/ports", "nova POST /v2.1/servers", "nova GET /v2.1/servers/detail",
	}, names)
}

// holdUntilAll returns a hook that holds these calls until all of them have been made, and a function that reports those that were not made in time.
func holdUntilAll(ctx context.Context, names ...string) (hook func(wire.Event) wire.HookResult, missing func() []string) {
	var mu sync.Mutex
	left := sets.New(names...)
	all := make(chan struct{})
	hook = func(event wire.Event) wire.HookResult {
		if event.Phase != wire.Before || !slices.Contains(names, event.Call.Name()) {
			return wire.Proceed
		}
		mu.Lock()
		if left.Delete(event.Call.Name()); left.Len() == 0 {
			select {
			case <-all:
			default:
				close(all)
			}
		}
		mu.Unlock()
		select {
		case <-all:
		case <-ctx.Done():
		}
		return wire.Proceed
	}
	return hook, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return sets.List(left)
	}
}

func TestDriver_ConcurrentCalls(t *testing.T) {
	for sentence, test := range map[string]struct {
		create, delete []string
	}{
		"looks up all that is not cached at the same time": {create: []string{
			"nova GET /v2.1/flavors/detail", "glance GET /v2/images", "neutron GET /v2.0/security-groups", "neutron GET /v2.0/ports",
		}},
		"looks for ports while a server is deleted": {delete: []string{"nova GET /v2.1/servers/detail", "neutron GET /v2.0/ports"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := startCloud(t)
			o, p := s.newMachine(machineName), s.process()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			hook, missing := holdUntilAll(ctx, test.create...)
			s.cloud.SetHook(hook)
			require.NoError(t, o.create(t.Context(), p))
			require.Empty(t, missing())

			if len(test.delete) > 0 {
				// The first look-up of the server comes before its deletion.
				hook, missing = holdUntilAll(ctx, test.delete...)
				s.cloud.SetHook(afterFirst("nova DELETE /v2.1/servers/{id}", hook))
			}
			require.NoError(t, o.delete(t.Context(), p))
			require.Empty(t, missing())
			require.NoError(t, ctx.Err(), "a call waited for another one")
		})
	}
}

// afterFirst returns a hook that takes effect after the first call with the name.
func afterFirst(name string, hook func(wire.Event) wire.HookResult) func(wire.Event) wire.HookResult {
	var called atomic.Bool
	return func(event wire.Event) wire.HookResult {
		if event.Phase == wire.After && event.Call.Name() == name {
			called.Store(true)
		}
		if !called.Load() {
			return wire.Proceed
		}
		return hook(event)
	}
}
