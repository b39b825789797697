package queue

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUntilTurn_SpreadOverInterval(t *testing.T) {
	const interval, shoots = 30 * time.Second, 500
	start := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	atMoment := map[time.Duration]int{}
	for n := range shoots {
		identity := fmt.Sprintf("5f0c3f5a-0000-4000-8000-%012d", n)
		first := UntilTurn(identity, start, interval)
		require.GreaterOrEqual(t, first, time.Duration(0))
		require.Less(t, first, interval)
		atMoment[first]++

		took := 20 * time.Millisecond
		turn := start.Add(first)
		require.Equal(t, interval-took, AfterTurn(identity, turn.Add(took), interval), "one turn in each interval")
		early := AfterTurn(identity, turn.Add(-time.Second), interval)
		require.Equal(t, interval+time.Second, early, "an early turn is not followed by another one at once")
	}
	assert.Len(t, atMoment, moments)
	for moment, turns := range atMoment {
		assert.InDelta(t, shoots/moments, turns, 20, "turns %s after the start", moment)
	}
}
