package cloudcontrollers

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/aws"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const (
	ccm = "cloud-controller-manager"
	// uninitialized is the taint of a Node that no cloud-controller-manager has initialized (k8s.io/cloud-provider/api).
	uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"
)

// TestCloudControllerManager runs AWS' cloud-controller-manager. The parts follow one another.
func TestCloudControllerManager(t *testing.T) {
	env := newEnvironment(t, nil, assets.AWS()...)
	defer env.assertNothingForbidden(t, ccm) // which would explain whatever else goes wrong
	env.Cloud.ResetLog()
	env.runCloudControllerManager(t)
	var nodes []instance
	inOrder(t,
		part{"Nodes", func(t *testing.T) { nodes = testNodes(t, env) }},
		part{"Service", func(t *testing.T) { testService(t, env, nodes) }},
		part{"NetworkService", func(t *testing.T) { testNetworkService(t, env, nodes) }},
		part{"InternalService", func(t *testing.T) { testInternalService(t, env) }},
		part{"NodeGone", func(t *testing.T) { testNodeGone(t, env, nodes[0]) }},
		part{"Routes", func(t *testing.T) { testRoutes(t, env) }},
	)
}

func (env *environment) runCloudControllerManager(t *testing.T) {
	t.Helper()
	address, err := process.FreeAddress()
	require.NoError(t, err)
	host, port, _ := strings.Cut(address, ":")
	container := env.run(t, workload.Run{
		Deployment: ccm, Container: "aws-cloud-controller-manager", Program: "aws-cloud-controller-manager",
		Flags: map[string]string{
			"bind-address": host, "secure-port": port, "node-monitor-period": "1s",
			"leader-elect-lease-duration": "3s", "leader-elect-renew-deadline": "2s", "leader-elect-retry-period": "500ms",
		},
	})
	require.NoError(t, container.WaitForTLS(t.Context(), "https://"+address+"/healthz"))
}

// testNodes registers a node in each zone.
func testNodes(t *testing.T, env *environment) (nodes []instance) {
	for _, zone := range aws.ZoneNames(zones) {
		nodes = append(nodes, env.addNode(t, zone))
	}
	for _, i := range nodes {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: i.name}}
		clusterstest.Eventually(t, "the node is initialized", func() bool {
			require.True(t, clusterstest.Get(t, env.Cluster.Client, node))
			tainted := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == uninitialized })
			return !tainted && len(node.Status.Addresses) > 0
		})
		assert.Equal(t, "aws:///"+i.zone+"/"+i.id, node.Spec.ProviderID)
		assert.Equal(t, []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: i.address},
			{Type: corev1.NodeInternalDNS, Address: i.name},
			{Type: corev1.NodeHostName, Address: i.name},
		}, node.Status.Addresses)
		assert.Equal(t, i.zone, node.Labels[corev1.LabelTopologyZone])
		assert.Equal(t, fake.DefaultRegion, node.Labels[corev1.LabelTopologyRegion])
		assert.Equal(t, machineType, node.Labels[corev1.LabelInstanceTypeStable])
		assert.NotEmpty(t, node.Labels["topology.k8s.aws/zone-id"])
	}
	return nodes
}

// testService creates a Service with a load balancer, changes it, and deletes it.
func testService(t *testing.T, env *environment, nodes []instance) {
	before := slices.Sorted(maps.Keys(env.groups(t)))
	service := env.makeService(t, map[string]string{
		// as nginx, an addon of Gardener, has it
		"service.beta.kubernetes.io/aws-load-balancer-proxy-protocol": "*",
	})
	balancer := env.balancer(t)
	name := balancer.String("LoadBalancerName")
	assert.Equal(t, balancer.String("DNSName"), service.Status.LoadBalancer.Ingress[0].Hostname)
	assert.Equal(t, "internet-facing", balancer.String("Scheme"))
	assert.ElementsMatch(t, []string{
		env.subnet(t, awsv1alpha1.PurposePublic, nodes[0].zone), env.subnet(t, awsv1alpha1.PurposePublic, nodes[1].zone),
	}, balancer.Strings("Subnets"), "one in each zone, by the tags of the Infrastructure")
	assert.Equal(t, map[int64]int64{80: int64(service.Spec.Ports[0].NodePort)}, listeners(balancer))
	clusterstest.Eventually(t, "all nodes are behind it", func() bool { return len(env.balancer(t).Structs("Instances")) == len(nodes) })
	assert.Len(t, balancer.Structs("BackendServerDescriptions"), 1, "it sends the proxy protocol")
	tags := env.do(t, fake.ELB, "DescribeTags", "LoadBalancerNames.member.1", name).Structs("TagDescriptions")[0].Structs("Tags")
	assert.Contains(t, tags, protocol.Struct{"Key": "kubernetes.io/cluster/" + env.Shoot.Namespace(), "Value": "owned"}, "by which the Infrastructure finds it")

	groups := env.groups(t)
	require.Equal(t, []any{groups["k8s-elb-"+name].String("GroupId")}, balancer["SecurityGroups"])
	assert.Equal(t, []string{"icmp 3 from 0.0.0.0/0", "tcp 80 from 0.0.0.0/0"}, ingress(groups["k8s-elb-"+name]))

	env.update(t, service, func() {
		service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{Name: "https", Port: 443, TargetPort: intstr.FromInt32(8443)})
		service.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/8"}
	})
	clusterstest.Eventually(t, "the load balancer follows the Service", func() bool { return len(listeners(env.balancer(t))) == 2 })
	clusterstest.Eventually(t, "its rules follow", func() bool {
		return slices.Equal(ingress(env.groups(t)["k8s-elb-"+name]), []string{"icmp 3 from 10.0.0.0/8", "tcp 443 from 10.0.0.0/8", "tcp 80 from 10.0.0.0/8"})
	})

	env.removeService(t, service)
	assert.Equal(t, before, slices.Sorted(maps.Keys(env.groups(t))), "its security group has gone with it")
}

// testNetworkService creates a Service with a network load balancer, changes it, and deletes it.
func testNetworkService(t *testing.T, env *environment, nodes []instance) {
	service := env.makeService(t, map[string]string{
		"service.beta.kubernetes.io/aws-load-balancer-type":                              "nlb",
		"service.beta.kubernetes.io/aws-load-balancer-cross-zone-load-balancing-enabled": "true",
	})
	balancer := env.networkBalancers(t)[0]
	arn := balancer.String("LoadBalancerArn")
	assert.Equal(t, balancer.String("DNSName"), service.Status.LoadBalancer.Ingress[0].Hostname)
	assert.Len(t, balancer.Structs("AvailabilityZones"), zones)
	attributes := env.do(t, fake.ELBv2, "DescribeLoadBalancerAttributes", "LoadBalancerArn", arn).Structs("Attributes")
	assert.Contains(t, attributes, protocol.Struct{"Key": "load_balancing.cross_zone.enabled", "Value": "true"})
	groups := env.targetGroups(t)
	require.Len(t, groups, 1)
	assert.EqualValues(t, service.Spec.Ports[0].NodePort, groups[0].Int("Port"))
	health := env.do(t, fake.ELBv2, "DescribeTargetHealth", "TargetGroupArn", groups[0].String("TargetGroupArn")).Structs("TargetHealthDescriptions")
	assert.Len(t, health, len(nodes))

	env.update(t, service, func() {
		service.Spec.Ports = []corev1.ServicePort{{Name: "https", Port: 443, TargetPort: intstr.FromInt32(8443)}}
	})
	clusterstest.Eventually(t, "the load balancer follows the Service", func() bool {
		listeners := env.do(t, fake.ELBv2, "DescribeListeners", "LoadBalancerArn", arn).Structs("Listeners")
		return len(listeners) == 1 && listeners[0].Int("Port") == 443 && len(env.targetGroups(t)) == 1
	})
	env.removeService(t, service)
	assert.Empty(t, env.targetGroups(t))
}

func (env *environment) networkBalancers(t *testing.T) []protocol.Struct {
	t.Helper()
	return env.do(t, fake.ELBv2, "DescribeLoadBalancers").Structs("LoadBalancers")
}

func (env *environment) targetGroups(t *testing.T) []protocol.Struct {
	t.Helper()
	return env.do(t, fake.ELBv2, "DescribeTargetGroups").Structs("TargetGroups")
}

// testInternalService creates a Service whose load balancer is internal.
func testInternalService(t *testing.T, env *environment) {
	service := env.makeService(t, map[string]string{"service.beta.kubernetes.io/aws-load-balancer-internal": "true"})
	balancer := env.balancer(t)
	assert.Equal(t, "internal", balancer.String("Scheme"))
	var internal []string
	for _, zone := range aws.ZoneNames(zones) {
		internal = append(internal, env.subnet(t, awsv1alpha1.PurposeInternal, zone))
	}
	assert.ElementsMatch(t, internal, balancer.Strings("Subnets"))
	env.removeService(t, service)
}

// testNodeGone terminates an instance.
func testNodeGone(t *testing.T, env *environment, i instance) {
	env.do(t, fake.EC2, "TerminateInstances", "InstanceId.1", i.id)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: i.name}}
	require.True(t, clusterstest.Get(t, env.Cluster.Client, node))
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"}}
	require.NoError(t, env.Cluster.Client.Status().Update(t.Context(), node))
	clusterstest.Eventually(t, "the Node has gone with its instance", func() bool { return !clusterstest.Get(t, env.Cluster.Client, node) })
}

// testRoutes asserts that it has left routes, and the checks of sources that they need, to the custom route controller, and the rules of the nodes to
// the Infrastructure.
func testRoutes(t *testing.T, env *environment) {
	foreign := env.Cloud.Log().Where(func(call wire.Call) bool {
		return strings.HasSuffix(call.Path, "Route") || call.Path == "ModifyInstanceAttribute" || call.IsWrite() && strings.Contains(call.Query, env.nodesGroup(t))
	})
	assert.Empty(t, foreign)
	failed := env.Cloud.Log().Where(func(call wire.Call) bool { return call.Status >= 400 && call.Path != "DescribeLoadBalancers" })
	assert.Empty(t, failed, "all that it calls is in the fake")
}

// makeService creates a Service with a load balancer, and waits for its address.
func (env *environment) makeService(t *testing.T, annotations map[string]string) *corev1.Service {
	t.Helper()
	return env.makeServiceOfClass(t, nil, annotations)
}

// makeServiceOfClass is makeService for another controller than the cloud-controller-manager.
func (env *environment) makeServiceOfClass(t *testing.T, class *string, annotations map[string]string) *corev1.Service {
	t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: metav1.NamespaceDefault, Annotations: annotations}}
	service.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, LoadBalancerClass: class, Ports: []corev1.ServicePort{{Name: "http", Port: 80}}}
	require.NoError(t, env.Cluster.Client.Create(t.Context(), service))
	clusterstest.Eventually(t, "the Service has an address", func() bool {
		require.True(t, clusterstest.Get(t, env.Cluster.Client, service))
		return len(service.Status.LoadBalancer.Ingress) == 1
	})
	return service
}

func (env *environment) update(t *testing.T, service *corev1.Service, change func()) {
	t.Helper()
	require.True(t, clusterstest.Get(t, env.Cluster.Client, service))
	change()
	require.NoError(t, env.Cluster.Client.Update(t.Context(), service))
}

// removeService deletes a Service, and waits until it is gone with its load balancer.
func (env *environment) removeService(t *testing.T, service *corev1.Service) {
	t.Helper()
	require.NoError(t, env.Cluster.Client.Delete(t.Context(), service))
	clusterstest.Eventually(t, "the Service is gone", func() bool { return !clusterstest.Get(t, env.Cluster.Client, service) })
	assert.Empty(t, env.do(t, fake.ELB, "DescribeLoadBalancers").Structs("LoadBalancerDescriptions"))
	assert.Empty(t, env.networkBalancers(t))
}

// balancer returns the only load balancer.
func (env *environment) balancer(t *testing.T) protocol.Struct {
	t.Helper()
	all := env.do(t, fake.ELB, "DescribeLoadBalancers").Structs("LoadBalancerDescriptions")
	require.Len(t, all, 1)
	return all[0]
}

// listeners returns the ports of the instances by those of a load balancer.
func listeners(balancer protocol.Struct) map[int64]int64 {
	ports := map[int64]int64{}
	for _, description := range balancer.Structs("ListenerDescriptions") {
		listener := description.Struct("Listener")
		ports[listener.Int("LoadBalancerPort")] = listener.Int("InstancePort")
	}
	return ports
}

// ingress describes the rules of a security group, sorted.
func ingress(group protocol.Struct) (rules []string) {
	for _, permission := range group.Structs("IpPermissions") {
		for _, peer := range permission.Structs("IpRanges") {
			rules = append(rules, strings.Join([]string{
				permission.String("IpProtocol"), strconv.FormatInt(permission.Int("FromPort"), 10), "from", peer.String("CidrIp"),
			}, " "))
		}
	}
	slices.Sort(rules)
	return rules
}
