package aws

import (
	"encoding/json"
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/controlplane"
)

const prefix = "service.beta.kubernetes.io/aws-load-balancer-"

// loadBalancer returns a Service of the type LoadBalancer.
func loadBalancer(changes ...func(*corev1.Service)) *corev1.Service {
	service := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
	}
	for _, change := range changes {
		change(service)
	}
	return service
}

func annotated(pairs ...string) func(*corev1.Service) {
	return func(service *corev1.Service) {
		for pair := range slices.Chunk(pairs, 2) {
			metav1.SetMetaDataAnnotation(&service.ObjectMeta, pair[0], pair[1])
		}
	}
}

func withClass(name string) func(*corev1.Service) {
	return func(service *corev1.Service) { service.Spec.LoadBalancerClass = &name }
}

func ofType(serviceType corev1.ServiceType) func(*corev1.Service) {
	return func(service *corev1.Service) { service.Spec.Type = serviceType }
}

func withHostname(name string) func(*corev1.Service) {
	return func(service *corev1.Service) {
		service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}, {Hostname: name}}
	}
}

func withFinalizer(service *corev1.Service) {
	service.Finalizers = []string{"service.kubernetes.io/load-balancer-cleanup"}
}

// serviceHandler is the handler that the process serves.
func serviceHandler(t *testing.T) admission.Handler {
	t.Helper()
	webhooks := controlplane.ServiceWebhooks(map[string]controlplane.Driver{Type: New()}, []string{Type})
	require.Len(t, webhooks, 1)
	assert.Equal(t, "shoot-services.aws", webhooks[0].Name)
	assert.Equal(t, "/shoot-services/aws", webhooks[0].Path)
	return webhooks[0].Handler
}

func serviceRequest(t *testing.T, service, old *corev1.Service) admission.Request {
	t.Helper()
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Kind: metav1.GroupVersionKind{Version: "v1", Kind: "Service"},
	}}
	encoded, err := json.Marshal(service)
	require.NoError(t, err)
	request.Object = runtime.RawExtension{Raw: encoded}
	if old != nil {
		request.Operation = admissionv1.Update
		encoded, err = json.Marshal(old)
		require.NoError(t, err)
		request.OldObject = runtime.RawExtension{Raw: encoded}
	}
	return request
}

// annotationsAfter returns the annotations that a Service has after it is created or updated, and asserts that nothing else has changed.
func annotationsAfter(t *testing.T, handler admission.Handler, service, old *corev1.Service) map[string]string {
	t.Helper()
	response := handler.Handle(t.Context(), serviceRequest(t, service, old))
	require.True(t, response.Allowed, "%v", response.Result)
	changed := service.DeepCopy()
	New().TuneService(changed, old)
	annotations := changed.Annotations
	changed.Annotations = service.Annotations
	assert.Equal(t, service, changed)
	assert.Equal(t, len(annotations) > len(service.Annotations), len(response.Patch) > 0)
	for name, value := range service.Annotations {
		assert.Equal(t, value, annotations[name], "what the user has chosen stays")
	}
	for name, value := range annotations {
		if _, chosen := service.Annotations[name]; !chosen {
			assert.Contains(t, string(response.Patch), `"`+value+`"`, name)
		}
	}
	return annotations
}

func TestServiceWebhook(t *testing.T) {
	dualstack := []string{prefix + "type", "external", prefix + "scheme", "internet-facing", prefix + "nlb-target-type", "instance", prefix + "ip-address-type", "dualstack"}
	with := func(pairs ...string) map[string]string {
		return loadBalancer(annotated(dualstack...), annotated(pairs...)).Annotations
	}
	const ignore, oldName = "extensions.gardener.cloud/ignore-load-balancer", "gardener.cloud/old-load-balancer-name"
	for sentence, test := range map[string]struct {
		service, old *corev1.Service
		want         map[string]string
	}{
		"a new one gets addresses of both families": {loadBalancer(), nil, with()},
		"one for the class of the load balancer controller, too": {
			loadBalancer(withClass("service.k8s.aws/nlb")), nil, with(),
		},
		"an annotation of the user stays": {
			loadBalancer(annotated(prefix+"nlb-target-type", "ip", prefix+"ip-address-type", "ipv4")), nil,
			with(prefix+"nlb-target-type", "ip", prefix+"ip-address-type", "ipv4"),
		},
		"an empty annotation of the user stays": {
			loadBalancer(annotated(prefix+"ip-address-type", "")), nil, with(prefix+"ip-address-type", ""),
		},
		"one that the user gives to the load balancer controller gets the rest": {
			loadBalancer(annotated(prefix+"type", "external")), nil, with(),
		},
		"one of another type":  {loadBalancer(ofType(corev1.ServiceTypeNodePort)), nil, nil},
		"one of another class": {loadBalancer(withClass("example.org/other")), nil, nil},
		"one that the user gives to the cloud-controller-manager": {
			loadBalancer(annotated(prefix+"type", "nlb")), nil, map[string]string{prefix + "type": "nlb"},
		},
		"an internal one": {
			loadBalancer(annotated(prefix+"scheme", "internal")), nil, map[string]string{prefix + "scheme": "internal"},
		},
		"an internal one by the annotation of the cloud-controller-manager": {
			loadBalancer(annotated(prefix+"internal", "true")), nil, map[string]string{prefix + "internal": "true"},
		},
		"an internal one by its old value": {
			loadBalancer(annotated(prefix+"internal", "0.0.0.0/0")), nil, map[string]string{prefix + "internal": "0.0.0.0/0"},
		},
		"one that is explicitly not internal": {
			loadBalancer(annotated(prefix+"internal", "false")), nil, with(prefix+"internal", "false"),
		},
		"one that becomes a load balancer": {loadBalancer(), loadBalancer(ofType(corev1.ServiceTypeClusterIP)), with()},
		"one without a load balancer yet":  {loadBalancer(), loadBalancer(), with()},
		"one whose load balancer exists keeps it": {
			loadBalancer(withHostname("a.example.org")), loadBalancer(withHostname("a.example.org")), map[string]string{ignore: "true"},
		},
		"one whose load balancer is being created keeps it": {
			loadBalancer(withFinalizer), loadBalancer(withFinalizer), map[string]string{ignore: "true"},
		},
		"one that is marked stays as it is": {
			loadBalancer(annotated(ignore, "true")), loadBalancer(annotated(ignore, "true"), withHostname("a.example.org")), map[string]string{ignore: "true"},
		},
		"a new one that the user marks stays as it is": {loadBalancer(annotated(ignore, "true")), nil, map[string]string{ignore: "true"}},
		"without the mark, it gets a new load balancer, and the old name is kept": {
			loadBalancer(withHostname("a.example.org")), loadBalancer(annotated(ignore, "true"), withHostname("a.example.org")), with(oldName, "a.example.org"),
		},
		"without the mark and without a name": {loadBalancer(), loadBalancer(annotated(ignore, "true")), with()},
		"one of the load balancer controller stays as it is, whatever the user removes": {
			loadBalancer(annotated(prefix+"type", "external")), loadBalancer(annotated(dualstack...), withHostname("b.example.org")),
			map[string]string{prefix + "type": "external"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, annotationsAfter(t, serviceHandler(t), test.service, test.old))
		})
	}
}

func TestServiceWebhook_Idempotent(t *testing.T) {
	service := loadBalancer()
	New().TuneService(service, nil)
	again := service.DeepCopy()
	New().TuneService(again, service)
	assert.Equal(t, service, again)
}

// What is being deleted, is no Service, or concerns a subresource passes as it is; what cannot be read is an error that names its cause.
func TestServiceWebhook_Unchanged(t *testing.T) {
	deleting := loadBalancer()
	deleting.DeletionTimestamp = new(metav1.Now())
	status := serviceRequest(t, loadBalancer(), loadBalancer())
	status.SubResource = "status"
	other := serviceRequest(t, loadBalancer(), nil)
	other.Kind.Kind = "ConfigMap"
	deletion := serviceRequest(t, loadBalancer(), loadBalancer())
	deletion.Operation, deletion.Object.Raw = admissionv1.Delete, nil
	for sentence, request := range map[string]admission.Request{
		"a Service that is being deleted": serviceRequest(t, deleting, deleting), "a status": status, "another kind": other, "a deletion": deletion,
	} {
		response := serviceHandler(t).Handle(t.Context(), request)
		assert.True(t, response.Allowed, sentence)
		assert.Empty(t, response.Patch, sentence)
	}
	broken := serviceRequest(t, loadBalancer(), nil)
	broken.Object.Raw = []byte(`{"spec":7}`)
	response := serviceHandler(t).Handle(t.Context(), broken)
	require.False(t, response.Allowed, "the server allows it, and logs why")
	assert.Contains(t, response.Result.Message, "spec")
}

func TestDriver_Plan_ServiceWebhook(t *testing.T) {
	ipv4, ipv6 := gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6
	constraint := func(name gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) func(*controlplane.Shoot) {
		return func(shoot *controlplane.Shoot) {
			shoot.Cluster.Shoot.Status.Constraints = []gardencorev1beta1.Condition{{Type: name, Status: status}}
		}
	}
	for sentence, test := range map[string]struct {
		changes []func(*controlplane.Shoot)
		want    bool
	}{
		"both families":                           {[]func(*controlplane.Shoot){dualStack}, true},
		"IPv6 alone":                              {[]func(*controlplane.Shoot){dualStack, withFamilies(ipv6)}, true},
		"IPv4 alone":                              {[]func(*controlplane.Shoot){dualStack, withFamilies(ipv4)}, false},
		"without the load balancer controller":    {[]func(*controlplane.Shoot){dualStack, withConfig("")}, false},
		"nodes that are not migrated yet":         {[]func(*controlplane.Shoot){dualStack, constraint("DualStackNodesMigrationReady", "False")}, false},
		"nodes of which it is unknown":            {[]func(*controlplane.Shoot){dualStack, constraint("DualStackNodesMigrationReady", "Unknown")}, false},
		"a DNS that is not migrated yet":          {[]func(*controlplane.Shoot){dualStack, constraint("DNSServiceMigrationReady", "False")}, false},
		"nodes that are migrated":                 {[]func(*controlplane.Shoot){dualStack, constraint("DualStackNodesMigrationReady", "True")}, true},
		"a constraint that is about another task": {[]func(*controlplane.Shoot){dualStack, constraint("HibernationPossible", "False")}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			plan := planOf(t, awsShoot(test.changes...))
			assert.Equal(t, test.want, slices.ContainsFunc(plan.ShootWebhooks, func(w controlplane.ShootWebhooks) bool { return w.Component == "" }))
		})
	}
}

// The shoot works without the webhook: a controller that does not run prevents no write, and nothing is ever asked about a deletion, of a shoot's last Service
// above all.
func TestServiceWebhook_NeverBlocks(t *testing.T) {
	registered := serviceWebhook()
	assert.Empty(t, registered.Validating)
	require.Len(t, registered.Mutating, 1)
	webhook := registered.Mutating[0]
	assert.Equal(t, new(admissionregistrationv1.Ignore), webhook.FailurePolicy)
	assert.LessOrEqual(t, *webhook.TimeoutSeconds, int32(5))
	require.Len(t, webhook.Rules, 1)
	assert.ElementsMatch(t, []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}, webhook.Rules[0].Operations)
	assert.Equal(t, []string{"services"}, webhook.Rules[0].Resources, "no subresources: controllers write the status all the time")
	assert.Equal(t, controlplane.ServiceWebhookPath(Type), *webhook.ClientConfig.URL)
}
