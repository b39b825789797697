package rollout

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDecide_Progress(t *testing.T) {
	for _, test := range []struct {
		Input

		want Progress
	}{
		{candidateOver(), Progress{State: Idle, Message: "revision new waits for a first installation"}},
		{candidateOver(newInstallation("eu-1")).withoutNewest(), Progress{State: Stopped, Total: 1, Message: "there is no revision to roll out"}},
		{
			candidateOver(healthy("canary-1", "new", 2*minute), healthy("canary-2", "old", hour), healthy("canary-3", "old", hour), healthy("eu-1", "old", hour)),
			progressWith(Advancing, "canary", 1, 3, "wave canary: 1 of 3 installations has revision new, waiting for seed canary-2"),
		},
		{
			candidateOver(unreachable(healthy("canary-1", "new", hour)), started("canary-2", "old", minute), healthy("canary-3", "old", hour)),
			progressWith(Advancing, "canary", 0, 3, "wave canary: 0 of 3 installations have revision new, waiting for seed canary-2, seed canary-1 cannot be reached"),
		},
		{
			candidateOver(healthyInstallations("old", "eu-1", "eu-2", "eu-3", "eu-4")...).within("100%"),
			progressWith(Advancing, "rest", 0, 4, "wave rest: 0 of 4 installations have revision new, waiting for seeds eu-1, eu-2, eu-3 and eu-4"),
		},
		{
			candidateOver(healthyInstallations("old", "eu-1", "eu-2", "eu-3", "eu-4", "eu-5")...).within("100%"),
			progressWith(Advancing, "rest", 0, 5, "wave rest: 0 of 5 installations have revision new, waiting for seeds eu-1, eu-2, eu-3 and 2 others"),
		},
		{
			candidateOver(healthy("canary-1", "new", 0), healthy("canary-2", "new", hour), unreachable(healthy("canary-3", "old", hour))),
			progressWith(Soaking, "canary", 2, 3, "wave canary: 2 of 3 installations have revision new, soaking until 12:05:00 UTC, seed canary-3 cannot be reached"),
		},
		{
			candidateOver(checkedAt(healthy("canary-1", "new", hour), 0, 2*minute), healthy("canary-2", "new", hour)),
			progressWith(Soaking, "canary", 2, 2, "wave canary: 2 of 2 installations have revision new, soaked, waiting for a look at seed canary-1"),
		},
		{
			candidateOver(healthy("eu-1", "new", 0)).soaking(12 * hour),
			progressWith(Soaking, "rest", 1, 1, "wave rest: 1 of 1 installation has revision new, soaking until 2031-05-05 00:00:00 UTC"),
		},
		{
			candidateOver(unreachable(healthy("canary-1", "new", hour)), unreachable(healthy("canary-2", "old", hour)), healthy("eu-1", "old", hour)),
			progressWith(Waiting, "canary", 0, 2, "wave canary: 0 of 2 installations have revision new, no seed of it can be reached"),
		},
		{
			candidateOver(healthy("canary-1", "new", hour), unreachable(healthy("canary-2", "old", hour)), healthy("canary-3", "new", hour)).unchecked("canary-3"),
			progressWith(Advancing, "canary", 1, 3, "wave canary: 1 of 3 installations has revision new, seed canary-2 cannot be reached, seed canary-3 not looked at yet"),
		},
		{
			candidateOver(unreachable(healthy("canary-1", "new", hour)), healthy("canary-2", "old", hour), healthy("eu-1", "old", hour)).unchecked("canary-2"),
			progressWith(Waiting, "canary", 0, 2, "wave canary: 0 of 2 installations have revision new, seed canary-1 cannot be reached, seed canary-2 not looked at yet"),
		},
		{
			candidateOver(healthy("canary-1", "new", minute), healthy("canary-2", "old", hour)).paused(),
			progressWith(Paused, "canary", 1, 2, "wave canary: 1 of 2 installations has revision new, paused"),
		},
		{
			candidateOver(healthy("canary-1", "new", hour), healthy("eu-1", "old", hour)).withGoodNewest(),
			progressWith(Advancing, "rest", 0, 1, "wave rest: 0 of 1 installation has revision new, waiting for seed eu-1"),
		},
		{
			candidateOver(healthy("canary-1", "new", hour), healthy("eu-1", "old", hour)).withGoodNewest().paused(),
			progressWith(Paused, "rest", 0, 1, "wave rest: 0 of 1 installation has revision new, paused"),
		},
		{
			candidateOver(unreachable(healthy("canary-1", "old", hour)), assigned("eu-1", "new", minute, "old")).withGoodNewest().paused(),
			progressWith(Advancing, "rest", 0, 1, "wave rest: 0 of 1 installation has revision new, waiting for seed eu-1"),
		},
		{
			candidateOver(healthy("eu-1", "new", hour), unreachable(healthy("eu-2", "old", hour))).withGoodNewest(),
			progressWith(Waiting, "rest", 1, 2, "wave rest: 1 of 2 installations has revision new, seed eu-2 cannot be reached"),
		},
		{
			candidateOver(healthy("canary-1", "new", hour), healthy("eu-1", "new", 5*minute)),
			progressWith(Idle, "", 2, 2, "2 of 2 installations have revision new"),
		},
		{
			candidateOver(healthy("eu-1", "new", hour), started("eu-2", "new", hour), unhealthy("eu-3", "new", minute), failing("eu-4", "new", "no")).withGoodNewest(),
			progressWith(Idle, "", 1, 4, "1 of 4 installations has revision new, seed eu-4 cannot have it, seeds eu-2 and eu-3 are not healthy"),
		},
		{
			candidateOver(unhealthy("canary-1", "new", minute), unreachable(healthy("eu-1", "new", hour)), healthy("eu-2", "old", hour)),
			progressWith(RollingBack, "", 0, 3,
				"wave canary: seed canary-1 is no longer healthy with revision new, for 1m0s now; revision old is brought back to seed canary-1; seed eu-1 cannot be reached"),
		},
		{
			candidateOver(assigned("canary-1", "old", time.Second, "new"), healthy("eu-2", "old", hour)).withBadNewest(),
			progressWith(RollingBack, "", 0, 2, "wave canary: it broke; revision old is brought back to seed canary-1"),
		},
		{
			candidateOver(assigned("canary-1", "old", time.Second, "new"), healthy("eu-2", "old", hour)).withBad("new").withoutNewest(),
			progressWith(RollingBack, "", 0, 2, "there is no revision to roll out; revision old is brought back to seed canary-1"),
		},
		{
			candidateOver(healthy("canary-1", "old", time.Second), newInstallation("eu-2")).withBad("new"),
			progressWith(Stopped, "", 0, 2, "revision new has failed; 1 of 2 installations has revision old"),
		},
		{candidateOver().withBadNewest(), Progress{State: Stopped, Message: "wave canary: it broke"}},
		{
			candidateOver(healthy("canary-1", "new", hour), unhealthy("eu-1", "new", hour)).withBadNewest().withoutRollback(),
			progressWith(Stopped, "", 1, 2, "wave canary: it broke; seeds canary-1 and eu-1 are not rolled back, since rollback is Never"),
		},
		{
			candidateOver(unhealthy("eu-1", "new", hour)).withBadNewest().withoutLastGood(),
			progressWith(Stopped, "", 0, 1, "wave canary: it broke; seed eu-1 is not rolled back, since no revision was ever good"),
		},
	} {
		t.Run(test.want.Message, func(t *testing.T) {
			progress := Decide(test.Input).Progress
			progress.Empty, progress.DueAt = nil, time.Time{}
			assert.Equal(t, test.want, progress)
		})
	}
}

func progressWith(state State, wave string, updated, total int, message string) Progress {
	return Progress{State: state, Wave: wave, Updated: updated, Total: total, Message: message}
}

func (s Input) soaking(d time.Duration) Input {
	for k := range s.Rollout.Waves {
		s.Rollout.Waves[k].SoakTime.Duration = d
	}
	return s
}
