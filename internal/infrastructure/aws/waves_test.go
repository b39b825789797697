package aws

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// waves makes an operation with every call held back until the cloud has been quiet for a while. It returns the names of the calls that were let go together.
// Their number is the depth of the operation: with a latency far above everything else, the operation takes so many times as long.
func (env *environment) waves(quiet time.Duration, do func()) [][]string {
	env.t.Helper()
	type held struct {
		action  string
		proceed chan struct{}
	}
	arrived := make(chan held)
	env.cloud.SetHook(func(event wire.Event) wire.HookResult {
		if event.Phase == wire.Before {
			call := held{event.Call.Path, make(chan struct{})}
			arrived <- call
			<-call.proceed
		}
		return wire.Proceed
	})
	defer env.cloud.SetHook(nil)
	done := make(chan struct{})
	go func() { defer close(done); do() }()

	var waves [][]string
	var waiting []held
	for {
		select {
		case <-done:
			return waves
		case call := <-arrived:
			waiting = append(waiting, call)
		case <-time.After(quiet):
			if len(waiting) == 0 {
				continue
			}
			var wave []string
			for _, call := range waiting {
				wave = append(wave, call.action)
				close(call.proceed)
			}
			slices.Sort(wave)
			waves, waiting = append(waves, wave), nil
		}
	}
}

// depths are the numbers of waves of a creation, a no-op and a deletion, with the calls.
func depths(t *testing.T, use func(env *environment), quiet time.Duration) (counts [3]int, calls string) {
	t.Helper()
	env := newEnvironment(t)
	use(env)
	var lines []string
	for i, operation := range []func(){
		func() { env.mustReconcile() }, func() { env.mustReconcile() }, func() { require.NoError(t, env.delete()) },
	} {
		waves := env.waves(quiet, operation)
		counts[i] = len(waves)
		for _, wave := range waves {
			lines = append(lines, strings.Join(wave, " "))
		}
		lines = append(lines, "")
	}
	return counts, strings.Join(lines, "\n")
}

// The depth does not depend on the number of zones. It is that of the way to the NAT gateways and, in a deletion, back from them.
func TestDriver_Depth(t *testing.T) {
	for sentence, use := range upstreamVariants() {
		want := [3]int{6, 1, 6}
		if strings.Contains(sentence, "dual stack") {
			want = [3]int{7, 2, 6} // the range of the VPC is read before subnets are created, and the reserved one after them
		}
		t.Run(sentence, func(t *testing.T) {
			var counts [3]int
			var calls string
			// A busy machine is quiet between calls of one wave, too. The longer the wait, the fewer waves are counted twice.
			for _, quiet := range []time.Duration{50 * time.Millisecond, 250 * time.Millisecond, time.Second} {
				if counts, calls = depths(t, use, quiet); counts == want {
					break
				}
			}
			assert.Equal(t, want, counts, "%s", calls)
		})
	}
}
