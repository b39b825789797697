package machine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWaitTimes_Pauses(t *testing.T) {
	const interval = 3 * time.Second
	tests := map[string]struct {
		completed []time.Duration
		canceled  time.Duration
		running   time.Duration
		want      []time.Duration
	}{
		"begins soon while it knows nothing": {
			want: []time.Duration{300 * time.Millisecond, 600 * time.Millisecond, 1200 * time.Millisecond, 2400 * time.Millisecond, interval, interval},
		},
		"begins soon where servers are ready at once": {
			completed: []time.Duration{10 * time.Millisecond}, want: []time.Duration{300 * time.Millisecond, 600 * time.Millisecond},
		},
		"begins after half of the usual time": {
			completed: []time.Duration{4 * time.Second, 4 * time.Second}, want: []time.Duration{2 * time.Second, interval},
		},
		"begins with the interval where servers take longer": {
			completed: []time.Duration{time.Minute}, want: []time.Duration{interval, interval},
		},
		"follows a cloud that becomes slower": {
			completed: []time.Duration{time.Second, 6 * time.Second}, want: []time.Duration{time.Second, 2 * time.Second, interval},
		},
		"learns from a wait that has not ended":        {running: 5 * time.Second, want: []time.Duration{2500 * time.Millisecond, interval}},
		"learns nothing from a wait that was canceled": {canceled: time.Minute, want: []time.Duration{300 * time.Millisecond}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var times WaitTimes
				for _, took := range test.completed {
					one := times.begin(interval)
					time.Sleep(took)
					one.end(true)
				}
				canceled := times.begin(interval)
				time.Sleep(test.canceled)
				canceled.end(false)
				running := times.begin(interval)
				time.Sleep(test.running)

				next := times.begin(interval)
				for _, want := range test.want {
					assert.Equal(t, want, next.pause())
				}
				next.end(true)
				running.end(true)
				assert.Empty(t, times.running)
			})
		})
	}
}
