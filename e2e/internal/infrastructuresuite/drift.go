package infrastructuresuite

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/rig"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// drift is something that somebody changes about a shoot's infrastructure.
type drift struct {
	sentence string
	cause    func(*rig.World, *gardenlet.Shoot)
	// there reports whether the infrastructure has drifted.
	there func(*rig.World) bool
	// stays says that it is nobody's harm, and is left alone.
	stays bool
}

func drifts() []drift {
	return []drift{
		{
			sentence: "a network that was switched off",
			cause: func(w *rig.World, _ *gardenlet.Shoot) {
				change(w, networks, w.Find("network").ID, "network", rig.Body{"admin_state_up": false})
			},
			there: func(w *rig.World) bool { return w.Find("network").Object["admin_state_up"] == false },
		},
		{
			sentence: "a router that lost its gateway",
			cause: func(w *rig.World, _ *gardenlet.Shoot) {
				change(w, routers, w.Find("router").ID, "router", rig.Body{"external_gateway_info": nil})
			},
			there: func(w *rig.World) bool { return w.Find("router").Object["external_gateway_info"] == nil },
		},
		{
			sentence: "DNS servers that were replaced",
			cause: func(w *rig.World, _ *gardenlet.Shoot) {
				change(w, subnets, w.Find("subnet").ID, "subnet", rig.Body{"dns_nameservers": []string{"192.0.2.53"}})
			},
			there: func(w *rig.World) bool {
				return !assert.ObjectsAreEqual([]string{"1.1.1.1", "9.9.9.9"}, w.Find("subnet").Object.Texts("dns_nameservers"))
			},
		},
		{
			sentence: "an interface that was removed",
			cause: func(w *rig.World, _ *gardenlet.Shoot) {
				disconnect(w, w.Find("router").ID, w.Find("subnet").ID)
			},
			there: func(w *rig.World) bool { return w.Kinds()["port"] == 0 },
		},
		{
			sentence: "a rule that was removed",
			cause: func(w *rig.World, _ *gardenlet.Shoot) {
				for _, resource := range w.There() {
					if resource.Kind == "security group rule" && resource.Object.Text("protocol") == "tcp" {
						remove(w, rules+"/"+resource.ID)
					}
				}
			},
			there: func(w *rig.World) bool { return w.Kinds()["security group rule"] < 5 },
		},
		{
			sentence: "a key pair that was removed",
			cause: func(w *rig.World, _ *gardenlet.Shoot) {
				w.Do(http.MethodDelete, conformance.Compute, keyPairs+"/"+w.Find("key pair").ID, nil)
			},
			there: func(w *rig.World) bool { return w.Kinds()["key pair"] == 0 },
		},
		{
			sentence: "a description that was rewritten",
			cause: func(w *rig.World, _ *gardenlet.Shoot) {
				change(w, networks, w.Find("network").ID, "network", rig.Body{"description": "mine, I think"})
			},
			there: func(w *rig.World) bool { return w.Find("network").Object.Text("description") == "mine, I think" },
			stays: true,
		},
	}
}

func change(w *rig.World, collection, id, kind string, attributes rig.Body) {
	w.T.Helper()
	w.Do(http.MethodPut, conformance.Network, collection+"/"+id, rig.Body{kind: attributes})
}

// testDrift changes one thing after another about a shoot's infrastructure. The next reconcile repairs it, and makes nothing
// anew that is there.
func testDrift(t *testing.T, r *rig.Rig) {
	w := r.NewWorld(t)
	w.StartController()
	shoot := w.Fulfilled("drift")
	network, subnet, router := w.Find("network").ID, w.Find("subnet").ID, w.Find("router").ID
	for _, drift := range drifts() {
		t.Run(drift.sentence, func(t *testing.T) {
			w := w.In(t)
			drift.cause(w, shoot)
			require.True(t, drift.there(w), "the test itself causes no drift")
			w.FulfilAgain(shoot)
			assert.Equal(t, drift.stays, drift.there(w))
			assertOneOfEach(w)
			assert.Equal(t, []string{network, subnet, router}, []string{w.Find("network").ID, w.Find("subnet").ID, w.Find("router").ID})
			w.Cloud.ResetLog()
			w.FulfilAgain(shoot)
			assertNothingWritten(w)
		})
	}
	w.Destroy(shoot)
	assertEmpty(w)
}
