package openstack

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// chaos breaks connections and kills processes at random while many machines are changed, so that failures of one affect
// look-ups and polls that others share.
type chaos struct {
	*testCloud
	process *process
	kills   int

	mu     sync.Mutex
	random *rand.Rand
}

func (u *chaos) injectFault(wire.Event) wire.HookResult {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch n := u.random.IntN(400); {
	case n < 4:
		u.process.killed.Store(true)
		return wire.DropConnection
	case n < 16:
		return wire.DropConnection
	default:
		return wire.Proceed
	}
}

// settle repeats all incomplete operations concurrently until all are complete.
func (u *chaos) settle(t *testing.T, testMachines []*testMachine, do func(*testMachine, *process) error) {
	t.Helper()
	for range 100 {
		if u.process.killed.Load() {
			require.NoError(t, u.cloud.WaitIdle(t.Context()))
			u.mu.Lock()
			u.process = u.testCloud.process()
			u.kills++
			u.mu.Unlock()
		}
		results := make([]error, len(testMachines))
		var group sync.WaitGroup
		for i, o := range testMachines {
			group.Go(func() { results[i] = do(o, u.process) })
		}
		group.Wait()
		var left []*testMachine
		for i, err := range results {
			if err != nil {
				left = append(left, testMachines[i])
			}
		}
		if testMachines = left; len(testMachines) == 0 {
			return
		}
	}
	t.Fatalf("%d machines are not done", len(testMachines))
}

func TestChaos(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			const machines = 40
			s := startCloud(t, fake.WithLatency(time.Millisecond))
			for _, resource := range []string{"instances", "cores", "ram", "port"} {
				require.NoError(t, s.cloud.SetQuota(fake.DefaultProject, resource, -1))
			}
			u := &chaos{testCloud: s, process: s.process(), random: rand.New(rand.NewPCG(seed, 1))}
			var testMachines []*testMachine
			for i := range machines {
				testMachines = append(testMachines, s.newMachine(fmt.Sprintf("%s-cpu-z1-5d9f8-%05d", technicalID, i)))
			}
			s.cloud.SetHook(u.injectFault)
			u.settle(t, testMachines, func(o *testMachine, p *process) error { return o.create(t.Context(), p) })
			state := s.cloud.State(fake.DefaultProject)
			require.Len(t, state.Servers, machines)
			require.Len(t, state.Ports, machines)
			for _, port := range state.Ports {
				require.NotEmpty(t, port.DeviceID)
			}
			u.settle(t, testMachines, func(o *testMachine, p *process) error { return o.delete(t.Context(), p) })
			state = s.cloud.State(fake.DefaultProject)
			require.Empty(t, state.Servers)
			require.Empty(t, state.Ports)
			t.Logf("%d processes were killed", u.kills)
		})
	}
}
