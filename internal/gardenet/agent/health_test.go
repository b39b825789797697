package agent

import (
	"math"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
)

func TestHealth_Liveness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1))
		e.start()
		e.wait(time.Hour)
		code, _ := e.get("/healthz")
		assert.Equal(t, http.StatusOK, code, "an idle loop turns")
		e.kernel.hangs = make(chan struct{})
		e.create(node("other", 2))
		time.Sleep(livenessTimeout - time.Second)
		code, _ = e.get("/healthz")
		assert.Equal(t, http.StatusOK, code)
		time.Sleep(livenessTimeout)
		code, body := e.get("/healthz")
		assert.Equal(t, http.StatusServiceUnavailable, code)
		assert.Contains(t, body, "the loop has not turned for")
		close(e.kernel.hangs)
		e.wait(time.Second)
		code, _ = e.get("/healthz")
		assert.Equal(t, http.StatusOK, code)
	})
}

func TestRun_HangingApplication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1))
		e.kernel.duration = time.Hour
		e.start()
		e.wait(applyTimeout + 100*time.Millisecond)
		e.assertNotReady("deadline exceeded")
		code, _ := e.get("/healthz")
		assert.Equal(t, http.StatusOK, code, "an application that observes its time limit is only tried again")
		e.kernel.mutex.Lock()
		e.kernel.duration = 0
		e.kernel.mutex.Unlock()
		e.wait(time.Minute)
		e.assertReady()
	})
}

func TestUsable(t *testing.T) {
	for text, want := range map[string]float64{"10.0.0.0/24": 253, "10.0.0.0/31": 0, "fd00::/120": 254, "fd00::/64": math.Exp2(64) - 2} {
		assert.InDelta(t, want, usable(netip.MustParsePrefix(text)), 0, text)
	}
}

func TestReadiness_ConfigWithoutRoutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnvironment(t, node("own", 1), node("far", 2))
		e.config.Routes = config.RoutesCloud
		e.changeNode("far", func(n *corev1.Node) { n.Status.Addresses[1].Address = "10.251.0.2" })
		e.start()
		e.wait(time.Second)
		e.assertReady()
		assert.Empty(t, e.events(), "routes of the cloud are the cloud's")
		assert.Equal(t, 1, e.metric("gardenet_unreachable_nodes"))
	})
}
