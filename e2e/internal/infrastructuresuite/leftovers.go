package infrastructuresuite

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/rig"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// testLeftovers deletes a shoot whose cloud-controller-manager could not clean up any more, as when the shoot was hibernated
// or broken. What it made for Services goes with the shoot; what it made for another cluster stays.
func testLeftovers(t *testing.T, r *rig.Rig) {
	w := r.NewWorld(t)
	w.StartController()
	shoot := w.Fulfilled("leftovers")
	cluster, other := shoot.Namespace(), shoot.Namespace()+"-2"
	for _, name := range []string{cluster, other} {
		makeGroup(w, "lb-sg-"+name+"-default-web", "Security Group for default/web Service LoadBalancer in cluster "+name)
	}
	stays := makeFloatingIP(w, other, "")
	balancer := w.Make(conformance.LoadBalancer, loadBalancers, rig.Body{"loadbalancer": rig.Body{
		"name":          "kube_service_" + cluster + "_default_web",
		"description":   "Kubernetes external service default/web from cluster " + cluster,
		"vip_subnet_id": w.Find("subnet").ID,
	}})
	var made conformance.Object
	w.Eventually("the load balancer works", func() bool {
		made = w.Do(http.MethodGet, conformance.LoadBalancer, loadBalancers+"/"+balancer, nil)
		return made.Text("loadbalancer.provisioning_status") == "ACTIVE"
	})
	makeFloatingIP(w, cluster, made.Text("loadbalancer.vip_port_id"))

	w.Destroy(shoot)
	group := w.Find("security group")
	assert.Equal(t, "lb-sg-"+other+"-default-web", group.Name)
	assert.Equal(t, stays, w.Find("floating IP").ID)
	remove(w, securityGroups+"/"+group.ID, floatingIPs+"/"+stays)
	assertEmpty(w)
}

// makeFloatingIP makes one for a Service of a cluster, at a port or at none.
func makeFloatingIP(w *rig.World, cluster, port string) string {
	w.T.Helper()
	body := rig.Body{
		"floating_network_id": w.ExternalNetwork(), "description": "Floating IP for Kubernetes external service default/web from cluster " + cluster,
	}
	if port != "" {
		body["port_id"] = port
	}
	return w.Make(conformance.Network, floatingIPs, rig.Body{"floatingip": body})
}
