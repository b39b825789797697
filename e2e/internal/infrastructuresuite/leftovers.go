package infrastructuresuite

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// testLeftovers deletes a shoot whose cloud-controller-manager could not clean up, as when the shoot was hibernated or broken. Its resources
// for Services are deleted with the shoot; those of another cluster stay.
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

// makeFloatingIP creates one for a Service of a cluster, with or without a port.
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
