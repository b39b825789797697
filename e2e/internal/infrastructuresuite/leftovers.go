package infrastructuresuite

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// testLeftovers deletes a shoot whose cloud-controller-manager could not clean up any more, as when the shoot was hibernated
// or broken. What it made for Services goes with the shoot; what it made for another cluster stays.
func testLeftovers(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	env.StartController()
	shoot := env.NewReconciledShoot("leftovers")
	cluster, other := shoot.Namespace(), shoot.Namespace()+"-2"
	for _, name := range []string{cluster, other} {
		makeGroup(env, "lb-sg-"+name+"-default-web", "Security Group for default/web Service LoadBalancer in cluster "+name)
	}
	stays := makeFloatingIP(env, other, "")
	balancer := env.Make(conformance.LoadBalancer, loadBalancers, testenv.Body{"loadbalancer": testenv.Body{
		"name":          "kube_service_" + cluster + "_default_web",
		"description":   "Kubernetes external service default/web from cluster " + cluster,
		"vip_subnet_id": env.Find("subnet").ID,
	}})
	var made conformance.Object
	env.Eventually("the load balancer works", func() bool {
		made = env.Do(http.MethodGet, conformance.LoadBalancer, loadBalancers+"/"+balancer, nil)
		return made.Text("loadbalancer.provisioning_status") == "ACTIVE"
	})
	makeFloatingIP(env, cluster, made.Text("loadbalancer.vip_port_id"))

	env.Destroy(shoot)
	group := env.Find("security group")
	assert.Equal(t, "lb-sg-"+other+"-default-web", group.Name)
	assert.Equal(t, stays, env.Find("floating IP").ID)
	remove(env, securityGroups+"/"+group.ID, floatingIPs+"/"+stays)
	assertEmpty(env)
}

// makeFloatingIP makes one for a Service of a cluster, at a port or at none.
func makeFloatingIP(env *testenv.Env, cluster, port string) string {
	env.T.Helper()
	body := testenv.Body{
		"floating_network_id": env.ExternalNetwork(), "description": "Floating IP for Kubernetes external service default/web from cluster " + cluster,
	}
	if port != "" {
		body["port_id"] = port
	}
	return env.Make(conformance.Network, floatingIPs, testenv.Body{"floatingip": body})
}
