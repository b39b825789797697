package openstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/admission"
)

// shootGarden is a garden that remembers what it was asked for.
type shootGarden struct {
	objects     []client.Object
	failingKind string // the kind of which the API server gives no answer
	requests    []string
}

// Get implements client.Reader.
func (g *shootGarden) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	kind := reflect.TypeOf(into).Elem().Name()
	g.requests = append(g.requests, strings.TrimPrefix(fmt.Sprintf("%s %s/%s", kind, key.Namespace, key.Name), kind+" /"))
	if kind == g.failingKind {
		return errors.New("the API server is on holiday")
	}
	for _, object := range g.objects {
		if reflect.TypeOf(object) == reflect.TypeOf(into) && client.ObjectKeyFromObject(object) == key {
			reflect.ValueOf(into).Elem().Set(reflect.ValueOf(object.DeepCopyObject()).Elem())
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: kind}, key.Name)
}

// List implements client.Reader.
func (g *shootGarden) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("validating a shoot needs no list")
}

const (
	configHead      = `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"`
	plainPools      = `{"name":"public"}`
	poolsWithDomain = plainPools + `,{"name":"inner","domain":"weavers"}`
)

// newShootGarden has CloudProfiles, and credentials in domain weavers.
func newShootGarden() *shootGarden {
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	spec := func(config string) gardencorev1beta1.CloudProfileSpec {
		result := gardencorev1beta1.CloudProfileSpec{Type: Type, Regions: []gardencorev1beta1.Region{{Name: "europe"}}}
		if config != "" {
			result.ProviderConfig = &runtime.RawExtension{Raw: []byte(config)}
		}
		return result
	}
	profile := func(pools string) gardencorev1beta1.CloudProfileSpec {
		return spec(configHead + `CloudProfileConfig","constraints":{"floatingPools":[` + pools + `],"loadBalancerProviders":[{"name":"amphora"},{"name":"ovn"}]}}`)
	}
	return &shootGarden{objects: []client.Object{
		&gardencorev1beta1.CloudProfile{ObjectMeta: meta("", "plain"), Spec: profile(plainPools)},
		&gardencorev1beta1.CloudProfile{ObjectMeta: meta("", "domestic"), Spec: profile(poolsWithDomain)},
		&gardencorev1beta1.CloudProfile{ObjectMeta: meta("", "empty"), Spec: spec("")},
		&gardencorev1beta1.CloudProfile{ObjectMeta: meta("", "broken"), Spec: spec(`{"kind":"CloudProfileConfig"}`)},
		&gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: meta("garden-dev", "ours"), Status: gardencorev1beta1.NamespacedCloudProfileStatus{CloudProfileSpec: profile(plainPools)}},
		&gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: meta("garden-dev", "fresh")},
		&gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: meta("garden-dev", "broken"), Status: gardencorev1beta1.NamespacedCloudProfileStatus{CloudProfileSpec: spec("")}},
		&securityv1alpha1.CredentialsBinding{ObjectMeta: meta("garden-dev", "binding"), CredentialsRef: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Secret", Namespace: "garden-dev", Name: "account",
		}},
		&securityv1alpha1.CredentialsBinding{ObjectMeta: meta("garden-dev", "nameless"), CredentialsRef: corev1.ObjectReference{
			APIVersion: "core.gardener.cloud/v1beta1", Kind: "InternalSecret", Namespace: "garden-dev", Name: "nameless",
		}},
		&gardencorev1beta1.SecretBinding{ObjectMeta: meta("garden-dev", "older"), SecretRef: corev1.SecretReference{Namespace: "garden-dev", Name: "account"}},
		&corev1.Secret{ObjectMeta: meta("garden-dev", "account"), Data: map[string][]byte{"domainName": []byte("weavers\n"), "password": []byte("secret")}},
		&gardencorev1beta1.InternalSecret{ObjectMeta: meta("garden-dev", "nameless"), Data: map[string][]byte{"domainID": []byte("0815")}},
	}}
}

// rawDocument is a providerConfig of our group.
func rawDocument(kind, rest string) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: []byte(configHead + kind + `",` + rest + `}`)}
}

// validShoot is fine with profile plain.
func validShoot() *gardencorev1beta1.Shoot {
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "demo", Labels: map[string]string{"provider.extensions.gardener.cloud/openstack": "true"}}}
	spec := &shoot.Spec
	spec.Region, spec.CredentialsBindingName = "europe", new("binding")
	spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "plain"}
	spec.Networking = &gardencorev1beta1.Networking{Type: new("calico"), Nodes: new("10.250.0.0/16"), Pods: new("100.96.0.0/11"), Services: new("100.64.0.0/13")}
	spec.Provider = gardencorev1beta1.Provider{
		Type:                 Type,
		InfrastructureConfig: rawDocument("InfrastructureConfig", `"floatingPoolName":"public","networks":{"workers":"10.250.0.0/19"}`),
		ControlPlaneConfig:   rawDocument("ControlPlaneConfig", `"loadBalancerProvider":"amphora"`),
		Workers: []gardencorev1beta1.Worker{{
			Name: "cpu", Minimum: 1, Maximum: 3, Zones: []string{"north-1"}, Volume: &gardencorev1beta1.Volume{VolumeSize: "50Gi"},
			Machine: gardencorev1beta1.Machine{Type: "m1", Image: &gardencorev1beta1.ShootMachineImage{Name: "linux", Version: new("1.0")}},
		}},
	}
	return shoot
}

// findShootWebhook returns one of the room's webhooks for shoots.
func findShootWebhook(t testing.TB, garden client.Reader, options Options, name string) admission.Webhook {
	t.Helper()
	for _, webhook := range shootWebhooks(admission.Garden{Reader: garden}, options) {
		if webhook.Name == name {
			return webhook
		}
	}
	t.Fatalf("there is no webhook %s", name)
	return admission.Webhook{}
}

// shootRequest is a request to create, or to update when there is an old Shoot.
func shootRequest(object, old []byte) ctrladmission.Request {
	request := ctrladmission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Name: "demo", Namespace: "garden-dev", Kind: metav1.GroupVersionKind(admission.ShootKind()),
	}}
	request.Object.Raw = object
	if old != nil {
		request.Operation, request.OldObject.Raw = admissionv1.Update, old
	}
	return request
}

func encodedShoot(t testing.TB, shoot *gardencorev1beta1.Shoot) []byte {
	t.Helper()
	if shoot == nil {
		return nil
	}
	raw, err := json.Marshal(shoot)
	require.NoError(t, err)
	return raw
}
