package openstack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWaitTimes_Pauses(t *testing.T) {
	const interval = 3 * time.Second
	tests := map[string]struct {
		waits []time.Duration
		want  []time.Duration
	}{
		"begins soon while it knows nothing": {
			want: []time.Duration{300 * time.Millisecond, 600 * time.Millisecond, 1200 * time.Millisecond, 2400 * time.Millisecond, interval, interval},
		},
		"begins soon where servers are ready at once": {
			waits: []time.Duration{10 * time.Millisecond},
			want:  []time.Duration{300 * time.Millisecond, 600 * time.Millisecond},
		},
		"begins after half of the usual time": {
			waits: []time.Duration{4 * time.Second, 4 * time.Second}, want: []time.Duration{2 * time.Second, interval},
		},
		"begins with the interval where servers take longer": {
			waits: []time.Duration{time.Minute}, want: []time.Duration{interval, interval},
		},
		"follows a cloud that becomes slower": {
			waits: []time.Duration{time.Second, 6 * time.Second, 6 * time.Second}, want: []time.Duration{1400 * time.Millisecond, 2800 * time.Millisecond, interval},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var times waitTimes
			for _, wait := range test.waits {
				times.add(wait)
			}
			next := times.pauses(interval)
			for _, want := range test.want {
				assert.Equal(t, want, next())
			}
		})
	}
}
