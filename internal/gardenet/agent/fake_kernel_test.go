package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/trellis-garden/trellis/internal/gardenet/desired"
	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// fakeKernel is a node. It outlives agents.
type fakeKernel struct {
	mutex sync.Mutex
	// has is what has been applied; generation is that of the rules in it.
	has        *desired.State
	generation uint8
	// applications are when states were applied, failed ones included.
	applications []time.Time
	// calls counts all calls.
	calls int
	// fails are the errors of the next applications.
	fails []error
	// failsAfter are the errors of the next applications that have changed the rules before.
	failsAfter []error
	// duration is how long an application takes.
	duration time.Duration
	// hangs, if set, is what an application waits for, whatever its context says.
	hangs chan struct{}
	// repairs are what the next verification finds; verifications are when there was one.
	repairs       []string
	verifications []time.Time
	verifyFails   []error
	rulesFails    []error
	droppedFails  []error
	// dropped are the counters of packets.
	dropped map[string]uint64
	// interrupted is true if a context ended during an application.
	interrupted bool
}

var _ Kernel = (*fakeKernel)(nil)

// next removes and returns the first error.
func next(errs *[]error) error {
	if len(*errs) == 0 {
		return nil
	}
	err := (*errs)[0]
	*errs = (*errs)[1:]
	return err
}

// Facts implements Kernel.
func (k *fakeKernel) Facts(_ context.Context, _ desired.Node, others []desired.Node) (desired.Facts, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.calls++
	var facts desired.Facts
	for _, other := range others {
		for _, address := range other.Addresses {
			if network.Contains(address) {
				facts.OnLink = append(facts.OnLink, address)
			}
		}
	}
	return facts, nil
}

// Apply implements Kernel.
func (k *fakeKernel) Apply(ctx context.Context, state desired.State) ([]string, error) {
	k.mutex.Lock()
	k.calls++
	k.applications = append(k.applications, time.Now())
	err, after, duration, hangs := next(&k.fails), next(&k.failsAfter), k.duration, k.hangs
	k.mutex.Unlock()
	if hangs != nil {
		<-hangs
	}
	if duration > 0 {
		select {
		case <-time.After(duration):
		case <-ctx.Done():
		}
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.interrupted = k.interrupted || ctx.Err() != nil
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, err
	}
	changes := k.changes(state)
	k.has, k.generation = &state, generationOf(state)
	return changes, after
}

// handOver orders what a test and the agent do with the fields: tests read and change them while the agent waits.
func (k *fakeKernel) handOver() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
}

// Verify implements Kernel.
func (k *fakeKernel) Verify(context.Context, desired.State) ([]string, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.calls++
	k.verifications = append(k.verifications, time.Now())
	if err := next(&k.verifyFails); err != nil {
		return nil, err
	}
	repairs := k.repairs
	k.repairs = nil
	return repairs, nil
}

// Rules implements Kernel.
func (k *fakeKernel) Rules(context.Context) (uint8, bool, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.calls++
	return k.generation, k.has != nil, next(&k.rulesFails)
}

// Dropped implements Kernel.
func (k *fakeKernel) Dropped(context.Context) (map[string]uint64, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return maps.Clone(k.dropped), next(&k.droppedFails)
}

// network is the layer 2 network of the fake kernel.
var network = netip.MustParsePrefix("10.250.0.0/24")

// exampleState is a simple desired.Compute: routes to all nodes in the network, and a set with the addresses of all pods that a policy allows.
func exampleState(in desired.Input) (desired.State, error) {
	state := desired.State{Conflist: fmt.Sprint(in.Node.PodRanges), Unreachable: map[string]string{}}
	for _, other := range in.Others {
		for i, address := range other.Addresses {
			if i >= len(other.PodRanges) {
				continue
			}
			if !slices.Contains(in.Facts.OnLink, address) {
				state.Unreachable[other.Name] = "behind a gateway"
				continue
			}
			state.Routes = append(state.Routes, desired.Route{To: other.PodRanges[i], Via: address})
		}
	}
	if in.Config.NetworkPolicy == nil {
		return state, nil
	}
	var allowed []string
	if len(in.Cluster.Policies) == 0 {
		for _, pod := range in.Cluster.Pods {
			if pod.Status.PodIP != "" {
				allowed = append(allowed, pod.Status.PodIP)
			}
		}
	}
	slices.Sort(allowed)
	state.Table = nft.Table{
		Sets:   []nft.Set{{Name: "allowed", Elements: allowed}},
		Chains: []nft.Chain{{Name: "generation", Rules: []string{fmt.Sprint(in.Generation)}}},
	}
	return state, nil
}

func generationOf(state desired.State) uint8 {
	var number uint8
	for _, chain := range state.Table.Chains {
		if chain.Name == "generation" {
			_, _ = fmt.Sscan(chain.Rules[0], &number)
		}
	}
	return number
}

// elementsOf are the elements of the set of exampleState.
func elementsOf(sets []nft.Set) map[string]bool {
	elements := map[string]bool{}
	for _, set := range sets {
		for _, element := range set.Elements {
			elements[element] = true
		}
	}
	return elements
}

// allowed returns what the kernel lets pass.
func (k *fakeKernel) allowed() []string {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.has == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(elementsOf(k.has.Table.Sets)))
}

// routes returns the ranges that the kernel has routes to.
func (k *fakeKernel) routes() []string {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	routes := []string{}
	if k.has != nil {
		for _, route := range k.has.Routes {
			routes = append(routes, route.To.String()+" via "+route.Via.String())
		}
	}
	return routes
}

// applied returns how many applications there were.
func (k *fakeKernel) applied() int {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return len(k.applications)
}

// changes describes what differs from what the node has.
func (k *fakeKernel) changes(state desired.State) []string {
	if k.has != nil && reflect.DeepEqual(*k.has, state) {
		return nil
	}
	return []string{"table"}
}
