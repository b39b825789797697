//go:build loadbalancers

package cloudcontrollers

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

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

const loadBalancerController = "aws-load-balancer-controller"

// TestLoadBalancerController runs the aws-load-balancer-controller, whose webhooks the shoot's API server calls. The parts follow one another.
func TestLoadBalancerController(t *testing.T) {
	webhooks, err := process.FreeAddress()
	require.NoError(t, err)
	t.Setenv("HTTPS_PROXY", proxyTo(t, webhooks)) // of the API server, which finds no Service of the seed by its name here
	env := newEnvironment(t, &awsv1alpha1.LoadBalancerControllerConfig{Enabled: true}, assets.LoadBalancers()...)
	defer env.assertNothingForbidden(t, loadBalancerController)
	env.awaitShootObjects(t)
	for _, zone := range aws.ZoneNames(zones) {
		env.joinNode(t, env.addNode(t, zone))
	}
	before := env.groups(t)
	env.Cloud.ResetLog()
	env.runLoadBalancerController(t, webhooks)
	if !inOrder(t,
		part{"Service", func(t *testing.T) { testServiceOfClass(t, env) }},
		part{"Refused", func(t *testing.T) { testRefused(t, env) }},
	) {
		return
	}
	clusterstest.Eventually(t, "no security group is left", func() bool { return len(env.groups(t)) == len(before) })
}

// proxyTo starts an HTTP proxy that connects everything to one address, and returns its URL.
func proxyTo(t *testing.T, address string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", address)
		if r.Method != http.MethodConnect || err != nil {
			http.Error(w, "only connections to webhooks that are served", http.StatusBadGateway)
			return
		}
		defer func() { _ = target.Close() }()
		w.WriteHeader(http.StatusOK)
		connection, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = connection.Close() }()
		go func() { _, _ = io.Copy(target, buffered); _ = target.Close() }()
		_, _ = io.Copy(connection, target)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// awaitShootObjects waits until gardener-resource-manager has applied what the controller needs in the shoot.
func (env *environment) awaitShootObjects(t *testing.T) {
	t.Helper()
	clusterstest.Eventually(t, "the class of Ingresses and the kinds are there", func() bool {
		class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "alb"}}
		return clusterstest.Get(t, env.Cluster.Client, class) && env.bindings(t) != nil
	})
}

// bindings lists the TargetGroupBindings, nil if the kind is not there.
func (env *environment) bindings(t *testing.T) []unstructured.Unstructured {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "elbv2.k8s.aws", Version: "v1beta1", Kind: "TargetGroupBindingList"})
	if err := env.Cluster.Client.List(t.Context(), list); err != nil {
		return nil
	}
	return append([]unstructured.Unstructured{}, list.Items...)
}

// joinNode makes a Node ready, as the cloud-controller-manager and kubelet do.
func (env *environment) joinNode(t *testing.T, i instance) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: i.name}}
	require.True(t, clusterstest.Get(t, env.Cluster.Client, node))
	node.Spec.ProviderID, node.Spec.Taints = "aws:///"+i.zone+"/"+i.id, nil
	node.Labels = map[string]string{corev1.LabelTopologyZone: i.zone, corev1.LabelTopologyRegion: fake.DefaultRegion}
	require.NoError(t, env.Cluster.Client.Update(t.Context(), node))
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: i.address}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}
	require.NoError(t, env.Cluster.Client.Status().Update(t.Context(), node))
}

func (env *environment) runLoadBalancerController(t *testing.T, webhooks string) {
	t.Helper()
	// The program of the image has another name than that of the module.
	named := filepath.Join(t.TempDir(), "controller")
	require.NoError(t, os.Symlink(filepath.Join(env.Programs, loadBalancerController), named))
	health, err := process.FreeAddress()
	require.NoError(t, err)
	metrics, err := process.FreeAddress()
	require.NoError(t, err)
	_, port, _ := strings.Cut(webhooks, ":")
	dir := filepath.Join(t.TempDir(), "container")
	container := env.run(t, workload.Run{
		Deployment: loadBalancerController, Container: loadBalancerController, Program: named, Dir: dir,
		Flags: map[string]string{
			"health-probe-bind-addr": health, "metrics-bind-addr": metrics, "webhook-bind-port": port,
			// In a pod the certificate is mounted where the program looks for it.
			"webhook-cert-dir": filepath.Join(dir, "root", "tmp", "k8s-webhook-server", "serving-certs"),
		},
	})
	require.NoError(t, container.WaitForOK(t.Context(), "http://"+health+"/readyz"))
}

// testServiceOfClass creates a Service of the controller's class, and deletes it.
func testServiceOfClass(t *testing.T, env *environment) {
	service := env.makeServiceOfClass(t, new("service.k8s.aws/nlb"), map[string]string{"service.beta.kubernetes.io/aws-load-balancer-scheme": "internet-facing"})
	balancer := env.networkBalancers(t)[0]
	assert.Equal(t, balancer.String("DNSName"), service.Status.LoadBalancer.Ingress[0].Hostname)
	assert.Equal(t, "network", balancer.String("Type"))
	env.assertBehind(t, int64(service.Spec.Ports[0].NodePort))
	env.assertOwned(t, balancer)
	env.removeService(t, service)
	env.assertNoBindings(t)

	// The fake has no Shield. The program asks whether the account has a subscription, and goes on without.
	failed := env.Cloud.Log().Where(func(call wire.Call) bool { return call.Status >= 400 && call.Service != "unknown" })
	assert.Empty(t, failed, "all else that it calls is in the fake")
}

// testRefused makes an object of the controller's kinds that only its webhook refuses.
func testRefused(t *testing.T, env *environment) {
	binding := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "elbv2.k8s.aws/v1beta1", "kind": "TargetGroupBinding",
		"metadata": map[string]any{"name": "foreign", "namespace": metav1.NamespaceDefault},
		"spec": map[string]any{
			"targetGroupARN": "arn:aws:elasticloadbalancing:" + fake.DefaultRegion + ":000000000000:targetgroup/none/0123456789abcdef",
			"serviceRef":     map[string]any{"name": "site", "port": int64(80)}, "targetType": "ip", "nodeSelector": map[string]any{},
		},
	}}
	err := env.Cluster.Client.Create(t.Context(), binding)
	assert.ErrorContains(t, err, ".elbv2.k8s.aws\" denied the request", "the API server calls it")
}

// assertBehind asserts that all nodes are behind the only target group, at a port.
func (env *environment) assertBehind(t *testing.T, port int64) {
	t.Helper()
	groups := env.targetGroups(t)
	require.Len(t, groups, 1)
	clusterstest.Eventually(t, "all nodes are behind the load balancer", func() bool {
		targets := env.do(t, fake.ELBv2, "DescribeTargetHealth", "TargetGroupArn", groups[0].String("TargetGroupArn")).Structs("TargetHealthDescriptions")
		for _, target := range targets {
			assert.Equal(t, port, target.Struct("Target").Int("Port"))
		}
		return len(targets) == zones
	})
	assert.Len(t, env.bindings(t), 1)
}

// assertOwned asserts that the Infrastructure finds a load balancer by its tag if it is left behind.
func (env *environment) assertOwned(t *testing.T, balancer protocol.Struct) {
	t.Helper()
	tags := env.do(t, fake.ELBv2, "DescribeTags", "ResourceArns.member.1", balancer.String("LoadBalancerArn")).Structs("TagDescriptions")[0].Structs("Tags")
	assert.Contains(t, tags, protocol.Struct{"Key": "kubernetes.io/cluster/" + env.Shoot.Namespace(), "Value": "owned"})
}

func (env *environment) assertNoBindings(t *testing.T) {
	t.Helper()
	clusterstest.Eventually(t, "no TargetGroupBinding is left", func() bool { return len(env.bindings(t)) == 0 })
}
