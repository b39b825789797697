package rollouts

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/crash"
)

// maxKills is more than any rollout takes. An operator that wrote something in each of its lives would never get done.
const maxKills = 400

// killAtWrites has the operator run until a condition holds and it has nothing more to write, and kills it at each n-th write, in turns before it happens
// and after. It runs without election of a leader: each process would wait 15 s for the Lease of the one before.
func (env *environment) killAtWrites(t *testing.T, each int, what string, holds func() error) {
	t.Helper()
	start := time.Now()
	kills := map[string]int{}
	defer env.trap.Set(0, crash.Before)
	for n := range maxKills {
		write, moment := each, crash.Before
		if n%2 == 1 {
			write, moment = each+1, crash.After // the first one is that before which the process before was killed
		}
		life := env.trap.Set(write, moment)
		operator, _, err := controller.ControllerInstallation().LaunchControllerInstallation(env.options(false))
		require.NoError(t, err)
		killed := waitForKillOrDone(t, operator, life, holds)
		operator.Kill()
		if !killed {
			t.Logf("killed %d times in %.0f s until %s: %v", n, time.Since(start).Seconds(), what, kills)
			return
		}
		kills[string(moment)+" "+kindOf(life.Writes()[write-1])]++
	}
	require.FailNow(t, "there was no end of writes until "+what, "%v", kills)
}

// waitForKillOrDone waits until a process is to be killed, or has come to the end.
func waitForKillOrDone(t *testing.T, operator *controller.Controller, life *crash.Run, holds func() error) (killed bool) {
	t.Helper()
	tick := time.NewTicker(3 * interval)
	defer tick.Stop()
	var held time.Time
	for start := time.Now(); ; {
		select {
		case <-life.Reached():
			return true
		case <-operator.Exited():
			output, _ := operator.Output()
			require.FailNow(t, "the operator has ended by itself", output)
		case <-tick.C:
		}
		switch {
		case !held.IsZero() && time.Since(held) > 3*syncPeriod:
			return false // nothing more came of looking at everything several times
		case held.IsZero() && holds() == nil:
			held = time.Now()
		case time.Since(start) > timeout:
			require.FailNow(t, "the operator neither writes nor is done")
		}
	}
}

// kindOf tells what a write is about, but not of which object.
func kindOf(write crash.Write) string {
	elements := strings.Split(strings.Trim(write.Path, "/"), "/")
	elements = elements[min(len(elements), map[string]int{"api": 2, "apis": 3}[elements[0]]):]
	if len(elements) > 2 && elements[0] == "namespaces" {
		elements = elements[2:]
	}
	if len(elements) == 0 {
		return write.Method
	}
	kind := elements[0]
	if len(elements) > 2 {
		kind += "/" + elements[2]
	}
	return write.Method + " " + kind
}
