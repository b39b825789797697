package agent

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
)

func TestDroppedPackets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1))
		e.start()
		e.wait(time.Second)
		dropped := func(reason string) int { return e.metric(`gardenet_dropped_packets_total{reason="` + reason + `"}`) }
		assert.Zero(t, dropped("ingress"))

		e.kernel.dropped = map[string]uint64{"dropped-ingress": 7, "dropped-egress": 2}
		assert.Equal(t, []int{7, 2, 0}, []int{dropped("ingress"), dropped("egress"), dropped("unknown")})
		e.kernel.dropped["dropped-ingress"] = 9
		assert.Equal(t, 9, dropped("ingress"))

		e.kernel.dropped = map[string]uint64{"dropped-ingress": 4, "dropped-unknown": 1} // of a new table
		assert.Equal(t, []int{13, 2, 1}, []int{dropped("ingress"), dropped("egress"), dropped("unknown")})

		e.kernel.dropped["dropped-ingress"] = 5
		e.kernel.droppedFails = []error{errAway}
		assert.Equal(t, 13, dropped("ingress"), "the former value while the kernel does not answer")
		assert.Equal(t, 14, dropped("ingress"))
	})
}

func TestDroppedPackets_WithoutPolicies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1))
		e.config.NetworkPolicy = nil
		e.kernel.dropped = map[string]uint64{"dropped-ingress": 7}
		e.start()
		e.wait(time.Second)
		assert.Zero(t, e.metric(`gardenet_dropped_packets_total{reason="ingress"}`))
		e.stop()
		e.config.NetworkPolicy = &config.NetworkPolicy{}
		e.start()
		e.wait(time.Second)
		assert.Equal(t, 7, e.metric(`gardenet_dropped_packets_total{reason="ingress"}`))
	})
}
