package openstack

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// turmoil breaks connections and kills processes by chance while many machines are under way, so that what goes wrong with one meets
// look-ups and polls that others share.
type turmoil struct {
	*stage
	process *process
	kills   int

	mu     sync.Mutex
	chance *rand.Rand
}

func (u *turmoil) strike(wire.Event) wire.Verdict {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch n := u.chance.IntN(400); {
	case n < 4:
		u.process.dead.Store(true)
		return wire.Cut
	case n < 16:
		return wire.Cut
	default:
		return wire.Proceed
	}
}

// settle repeats what is not done yet, all at the same time, until everything is.
func (u *turmoil) settle(t *testing.T, orders []*order, do func(*order, *process) error) {
	t.Helper()
	for range 100 {
		if u.process.dead.Load() {
			require.NoError(t, u.cloud.WaitIdle(t.Context()))
			u.mu.Lock()
			u.process = u.stage.process()
			u.kills++
			u.mu.Unlock()
		}
		results := make([]error, len(orders))
		var group sync.WaitGroup
		for i, o := range orders {
			group.Go(func() { results[i] = do(o, u.process) })
		}
		group.Wait()
		var left []*order
		for i, err := range results {
			if err != nil {
				left = append(left, orders[i])
			}
		}
		if orders = left; len(orders) == 0 {
			return
		}
	}
	t.Fatalf("%d machines are not done", len(orders))
}

func TestManyMachinesInTurmoil(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			const machines = 40
			s := start(t, fake.WithLatency(time.Millisecond))
			for _, resource := range []string{"instances", "cores", "ram", "port"} {
				require.NoError(t, s.cloud.SetQuota(fake.DefaultProject, resource, -1))
			}
			u := &turmoil{stage: s, process: s.process(), chance: rand.New(rand.NewPCG(seed, 1))}
			var orders []*order
			for i := range machines {
				orders = append(orders, s.order(fmt.Sprintf("%s-cpu-z1-5d9f8-%05d", technicalID, i)))
			}
			s.cloud.SetHook(u.strike)
			u.settle(t, orders, func(o *order, p *process) error { return o.create(t.Context(), p) })
			state := s.cloud.State(fake.DefaultProject)
			require.Len(t, state.Servers, machines)
			require.Len(t, state.Ports, machines)
			for _, port := range state.Ports {
				require.NotEmpty(t, port.DeviceID)
			}
			u.settle(t, orders, func(o *order, p *process) error { return o.delete(t.Context(), p) })
			state = s.cloud.State(fake.DefaultProject)
			require.Empty(t, state.Servers)
			require.Empty(t, state.Ports)
			t.Logf("%d processes were killed", u.kills)
		})
	}
}
