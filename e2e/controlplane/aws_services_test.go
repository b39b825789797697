package controlplane

import (
	"bytes"
	"context"
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

const (
	balancerAnnotation = "service.beta.kubernetes.io/aws-load-balancer-"
	ignoreBalancer     = "extensions.gardener.cloud/ignore-load-balancer"
	oldBalancer        = "gardener.cloud/old-load-balancer-name"
)

// dualStackAnnotations are those by which the load balancer controller makes a load balancer with addresses of both families.
func dualStackAnnotations() map[string]string {
	return map[string]string{
		balancerAnnotation + "type": "external", balancerAnnotation + "scheme": "internet-facing",
		balancerAnnotation + "nlb-target-type": "instance", balancerAnnotation + "ip-address-type": "dualstack",
	}
}

// TestControlPlane_ServicesAWS lets the API server of a shoot with both IP families call the controller for Services.
func TestControlPlane_ServicesAWS(t *testing.T) {
	env := newAWSEnvironment(t)
	clusterstest.AssertNoErrors(t, env.Clusters)
	env.Shoot.ControlPlaneConfig = env.upstream.config()
	env.Shoot.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
	env.Shoot.NetworkConfig = map[string]any{"overlay": map[string]any{"enabled": false}}
	env.Shoot.Networking = gardencorev1beta1.NetworkingStatus{Pods: []string{"100.96.0.0/11", "2001:db8::/56"}, Nodes: []string{"10.250.0.0/16", "2001:db8::/56"}}
	existing := env.createService(t, "existing", nil)
	existing.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: "existing.example.org"}}
	require.NoError(t, env.Cluster.Client.Status().Update(t.Context(), existing))
	address := env.startForShoots(t)
	env.reconcile(t)
	clusterstest.Eventually(t, "the shoot's API server calls the webhook", func() bool {
		return assert.ObjectsAreEqual(dualStackAnnotations(), env.tryService(t, nil).Annotations)
	})

	for _, part := range []struct {
		name string
		run  func(*testing.T, *environment)
	}{
		{"New", testNewServices},
		{"SameAsGardener", func(t *testing.T, env *environment) { testSameShootWebhook(t, env, address) }},
		{"Existing", func(t *testing.T, env *environment) { testExistingService(t, env, existing) }},
		{"OtherPaths", func(t *testing.T, _ *environment) { testShootPathsOnly(t, address) }},
		{"Renewal", testServiceWebhookRenewal},
		{"Down", testServiceWebhookDown},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, env) })
	}
	env.destroy(t)
	assert.Empty(t, env.serviceWebhook(t).Webhooks, "it goes with the control plane")
	t.Run("Rights", func(t *testing.T) { testRights(t, env, false) })
}

// startForShoots starts the controller with all webhooks, and returns the address for API servers of shoots.
func (env *environment) startForShoots(t *testing.T) string {
	t.Helper()
	args, err := env.what.WebhookArgs()
	require.NoError(t, err)
	env.controller, err = env.seed.StartController(t.Context(), env.what, controller.Options{Path: env.binary, Args: args})
	require.NoError(t, err)
	require.NoError(t, env.what.AwaitWebhooks(t.Context(), env.seed.Client))
	const flag = "--webhook-config-shoot-server-port="
	for _, arg := range args {
		if port, is := strings.CutPrefix(arg, flag); is {
			return "127.0.0.1:" + port
		}
	}
	require.Fail(t, "there is no port for shoots")
	return ""
}

func newService(annotations map[string]string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "try-", Namespace: metav1.NamespaceDefault, Annotations: annotations},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}},
	}
}

// createService creates a Service in the shoot.
func (env *environment) createService(t *testing.T, name string, annotations map[string]string) *corev1.Service {
	t.Helper()
	service := newService(annotations)
	service.Name = name
	require.NoError(t, env.Cluster.Client.Create(t.Context(), service))
	return service
}

// tryService returns what the API server would make of a Service.
func (env *environment) tryService(t *testing.T, annotations map[string]string, changes ...func(*corev1.Service)) *corev1.Service {
	t.Helper()
	service := newService(annotations)
	for _, change := range changes {
		change(service)
	}
	require.NoError(t, env.Cluster.Client.Create(t.Context(), service, client.DryRunAll))
	return service
}

func testNewServices(t *testing.T, env *environment) {
	assert.Equal(t, dualStackAnnotations(), env.createService(t, "new", nil).Annotations)

	chosen := dualStackAnnotations()
	chosen[balancerAnnotation+"ip-address-type"] = "ipv4"
	assert.Equal(t, chosen, env.tryService(t, map[string]string{balancerAnnotation + "ip-address-type": "ipv4"}).Annotations, "the user's choice stays")
	internal := map[string]string{balancerAnnotation + "scheme": "internal"}
	assert.Equal(t, internal, env.tryService(t, internal).Annotations)
	others := map[string]string{balancerAnnotation + "type": "nlb"}
	assert.Equal(t, others, env.tryService(t, others).Annotations, "that is the cloud-controller-manager's")
	assert.Empty(t, env.tryService(t, nil, func(service *corev1.Service) { service.Spec.Type = corev1.ServiceTypeClusterIP }).Annotations)
	assert.Empty(t, env.tryService(t, nil, func(service *corev1.Service) { service.Spec.LoadBalancerClass = new("example.org/other") }).Annotations)
}

// testSameShootWebhook compares what is registered in the shoot with what Gardener's library registers there for the same webhook.
func testSameShootWebhook(t *testing.T, env *environment, address string) {
	ours := env.serviceWebhook(t)
	require.Len(t, ours.Webhooks, 1)
	_, configs, err := extensionswebhook.BuildWebhookConfigs([]*extensionswebhook.Webhook{{
		Target: extensionswebhook.TargetShoot, Name: "services", Path: "shoot-services/aws", Types: []extensionswebhook.Type{{Obj: &corev1.Service{}}},
	}}, env.Cluster.Client, controllerName, "provider-aws", false, 443, extensionswebhook.ModeURL, address, ours.Webhooks[0].ClientConfig.CABundle, false)
	require.NoError(t, err)
	theirs := configs.MutatingWebhookConfig
	theirs.Name = "theirs"
	require.NoError(t, env.Cluster.Client.Create(t.Context(), theirs, client.DryRunAll)) // for the defaults
	want := theirs.Webhooks[0]
	// Intended: only Services of one type are sent, in any version of their group, and reviews have the version that is not deprecated; a user who creates one
	// waits less long.
	want.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "load-balancer", Expression: `object.spec.type == "LoadBalancer"`}}
	want.MatchPolicy = new(admissionregistrationv1.Equivalent)
	want.AdmissionReviewVersions = []string{"v1"}
	want.Rules[0].Scope = new(admissionregistrationv1.NamespacedScope)
	want.TimeoutSeconds = new(int32(5))
	assert.Equal(t, want, ours.Webhooks[0])
}

// testExistingService updates a Service whose load balancer is older than the webhook.
func testExistingService(t *testing.T, env *environment, service *corev1.Service) {
	patch := func(annotations string) {
		t.Helper()
		body := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":`+annotations+`}}`))
		require.NoError(t, env.Cluster.Client.Patch(t.Context(), service, body))
	}
	patch(`{"touched":"once"}`)
	assert.Equal(t, map[string]string{"touched": "once", ignoreBalancer: "true"}, service.Annotations, "its load balancer stays")
	patch(`{"touched":"twice"}`)
	assert.Equal(t, map[string]string{"touched": "twice", ignoreBalancer: "true"}, service.Annotations)
	patch(`{"touched":null,"` + ignoreBalancer + `":null}`)
	want := dualStackAnnotations()
	want[oldBalancer] = "existing.example.org"
	assert.Equal(t, want, service.Annotations, "the user has asked for another one")
}

// testShootPathsOnly asks, as a user of the shoot can by an own webhook, for webhooks of the seed.
func testShootPathsOnly(t *testing.T, address string) {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // the certificate does not matter here
	defer transport.CloseIdleConnections()
	status := func(path string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+address+path, bytes.NewReader([]byte(`{}`)))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		response, err := (&http.Client{Transport: transport}).Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	assert.Equal(t, http.StatusOK, status("/shoot-services/aws"))
	for _, what := range []string{"controlplane", "operatingsystemconfig", "cloudprovider", "etcd"} {
		assert.Equal(t, http.StatusNotFound, status("/"+what+"/aws"), what)
	}
}

// serviceWebhook returns its configuration in the shoot, an empty one if there is none.
func (env *environment) serviceWebhook(t *testing.T) *admissionregistrationv1.MutatingWebhookConfiguration {
	t.Helper()
	config := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "gardener-extension-provider-aws-services"}}
	clusterstest.Get(t, env.Cluster.Client, config)
	return config
}

// testServiceWebhookRenewal renews the authority of the controller: the shoot trusts the new one without a reconciliation.
func testServiceWebhookRenewal(t *testing.T, env *environment) {
	before := env.serviceWebhook(t)
	require.Len(t, before.Webhooks, 1)
	authorities := &corev1.SecretList{}
	require.NoError(t, env.seed.Client.List(t.Context(), authorities, client.InNamespace(controllerName), client.MatchingLabels{"name": "ca-" + controllerName + "-webhook"}))
	require.Len(t, authorities.Items, 1)
	operation := env.object(t).Status.LastOperation
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"issued-at-time":"0"}}}`))
	require.NoError(t, env.seed.Client.Patch(t.Context(), &authorities.Items[0], patch))
	clusterstest.Eventually(t, "the shoot trusts the new authority, too", func() bool {
		bundle := env.serviceWebhook(t).Webhooks[0].ClientConfig.CABundle
		return bytes.Count(bundle, []byte("BEGIN CERTIFICATE")) == 2 && bytes.Contains(bundle, before.Webhooks[0].ClientConfig.CABundle)
	})
	assert.Equal(t, operation, env.object(t).Status.LastOperation)
	for range 20 {
		assert.Equal(t, dualStackAnnotations(), env.tryService(t, nil).Annotations)
	}
}

// testServiceWebhookDown stops the controller: users create and delete Services as before.
func testServiceWebhookDown(t *testing.T, env *environment) {
	env.stopController(t)
	service := env.createService(t, "unattended", nil)
	assert.Empty(t, service.Annotations)
	require.NoError(t, env.Cluster.Client.Delete(context.WithoutCancel(t.Context()), service))
	env.startForShoots(t)
}
