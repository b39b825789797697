package controlplane

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

const (
	nodeName = "node-1"
	flavor   = "m1.small"
	// podsOfNode is the range of the node's pods.
	podsOfNode = "100.96.0.0/24"
	// uninitialized is the taint of a Node that no cloud-controller-manager has initialized (k8s.io/cloud-provider/api).
	uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"
)

// site has the IDs of the shoot's resources in the cloud, and the server of its only node.
type site struct {
	router, server, address, zone string
}

// makeSite lets infrastructure-controller create the infrastructure, copies its status as gardenlet does, and adds a node to the shoot.
func (env *environment) makeSite(t *testing.T) {
	t.Helper()
	infrastructure := openstack.InfrastructureConfig(env.openstack.Cloud)
	infrastructure.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
	env.Shoot.InfrastructureConfig = infrastructure
	require.NoError(t, env.seed.Gardenlet.Prepare(t.Context(), env.Shoot))

	what := controller.Infrastructure()
	path, err := what.Build(t.Context())
	require.NoError(t, err)
	running, err := env.seed.StartController(t.Context(), what, controller.Options{Path: path})
	require.NoError(t, err)
	component := env.seed.Gardenlet.Infrastructure(env.Shoot)
	require.NoError(t, component.Deploy(t.Context()))
	require.NoError(t, component.Wait(t.Context()))
	require.NoError(t, running.Terminate(t.Context()))

	env.Shoot.InfrastructureStatus = json.RawMessage(component.ProviderStatus().Raw)
	var status openstackv1alpha1.InfrastructureStatus
	require.NoError(t, json.Unmarshal(component.ProviderStatus().Raw, &status))
	env.site = site{router: status.Networks.Router.ID}
	env.makeNode(t, status)
}

// makeNode creates a server, and the Node that its kubelet would register.
func (env *environment) makeNode(t *testing.T, status openstackv1alpha1.InfrastructureStatus) {
	t.Helper()
	env.site.server = env.asMember(t, http.MethodPost, conformance.Compute, "/v2.1/servers", conformance.Body{"server": conformance.Body{
		"name": nodeName, "networks": []conformance.Body{{"uuid": status.Networks.ID}},
		"flavorRef": env.pick(t, conformance.Compute, "/v2.1/flavors", "flavors", flavor),
		"imageRef":  env.pick(t, conformance.Image, "/v2/images", "images", "tiny"),
	}}).Text("server.id")
	server := env.asMember(t, http.MethodGet, conformance.Compute, "/v2.1/servers/"+env.site.server, nil)
	env.site.zone = server.Text("server.OS-EXT-AZ:availability_zone")
	env.site.address = server.Objects("server.addresses." + status.Networks.Name)[0].Text("addr")
	require.NotEmpty(t, env.site.zone)

	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
	node.Spec = corev1.NodeSpec{
		Taints:  []corev1.Taint{{Key: uninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule}},
		PodCIDR: podsOfNode, PodCIDRs: []string{podsOfNode},
	}
	require.NoError(t, env.Cluster.Client.Create(t.Context(), node))
}

// asMember makes a request as the shoot's account.
func (env *environment) asMember(t *testing.T, method string, service conformance.Service, path string, body any) conformance.Object {
	t.Helper()
	answer, err := env.openstack.Account.DoAsMember(t.Context(), method, service, path, body)
	require.NoError(t, err)
	return answer
}

// pick returns the ID of the resource with a name.
func (env *environment) pick(t *testing.T, service conformance.Service, path, kind, name string) string {
	t.Helper()
	for _, object := range env.asMember(t, http.MethodGet, service, path, nil).Objects(kind) {
		if object.Text("name") == name {
			return object.ID()
		}
	}
	require.FailNow(t, "there is none called "+name)
	return ""
}

// asOperator reads resources of all projects as the cloud's operator, also when the account's password has changed.
func (env *environment) asOperator(t *testing.T, service conformance.Service, path string) conformance.Object {
	t.Helper()
	answer, err := env.openstack.Account.DoAsOperator(t.Context(), http.MethodGet, service, path, nil)
	require.NoError(t, err)
	return answer
}

// routes lists the routes of the shoot's router, as "range via address".
func (env *environment) routes(t *testing.T) (routes []string) {
	t.Helper()
	for _, route := range env.asOperator(t, conformance.Network, "/v2.0/routers/"+env.site.router).Objects("router.routes") {
		routes = append(routes, route.Text("destination")+" via "+route.Text("nexthop"))
	}
	return routes
}

// loadBalancers lists their names.
func (env *environment) loadBalancers(t *testing.T) (names []string) {
	t.Helper()
	for _, balancer := range env.asOperator(t, conformance.LoadBalancer, "/v2.0/lbaas/loadbalancers").Objects("loadbalancers") {
		names = append(names, balancer.Text("name"))
	}
	return names
}
