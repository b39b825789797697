package openstack

import (
	"context"
	"encoding/json"
	"errors"
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

// credentialsGarden is a garden of few objects that counts who asks. broken are the types that it fails to give.
type credentialsGarden struct {
	objects      []client.Object
	failingTypes []runtime.Object
	requests     []string
}

func (g *credentialsGarden) recordRequest(verb string, into runtime.Object) error {
	g.requests = append(g.requests, strings.TrimPrefix(reflect.TypeOf(into).String(), "*"))
	for _, failing := range g.failingTypes {
		if reflect.TypeOf(failing) == reflect.TypeOf(into) {
			return errors.New(verb + ": nobody answers")
		}
	}
	return nil
}

func (g *credentialsGarden) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if err := g.recordRequest("get", into); err != nil {
		return err
	}
	for _, object := range g.objects {
		if reflect.TypeOf(object) == reflect.TypeOf(into) && client.ObjectKeyFromObject(object) == key {
			reflect.ValueOf(into).Elem().Set(reflect.ValueOf(object.DeepCopyObject()).Elem())
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func (g *credentialsGarden) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	if err := g.recordRequest("list", into); err != nil {
		return err
	}
	listOptions := (&client.ListOptions{}).ApplyOptions(options)
	items := reflect.ValueOf(into).Elem().FieldByName("Items")
	for _, object := range g.objects {
		value := reflect.ValueOf(object.DeepCopyObject()).Elem()
		if value.Type() == items.Type().Elem() && (listOptions.Namespace == "" || listOptions.Namespace == object.GetNamespace()) {
			items.Set(reflect.Append(items, value))
		}
	}
	return nil
}

const credentialsLabel = "provider.shoot.gardener.cloud/openstack"

func findCredentialsWebhook(t testing.TB, garden client.Reader, name string) admission.Webhook {
	t.Helper()
	for _, webhook := range credentialsWebhooks(admission.Garden{Reader: garden}) {
		if webhook.Name == name {
			return webhook
		}
	}
	t.Fatalf("there is no webhook %s", name)
	return admission.Webhook{}
}

// credentialsWebhookKinds are what the webhooks are about.
func credentialsWebhookKinds() map[string]schema.GroupVersionKind {
	return map[string]schema.GroupVersionKind{
		"secret.openstack":             corev1.SchemeGroupVersion.WithKind("Secret"),
		"internalsecret.openstack":     gardencorev1beta1.SchemeGroupVersion.WithKind("InternalSecret"),
		"secretbinding.openstack":      gardencorev1beta1.SchemeGroupVersion.WithKind("SecretBinding"),
		"credentialsbinding.openstack": securityv1alpha1.SchemeGroupVersion.WithKind("CredentialsBinding"),
	}
}

// callCredentialsWebhook sends a write through a webhook. old is nil for a creation.
func callCredentialsWebhook(t testing.TB, garden client.Reader, name string, object, old []byte) ctrladmission.Response {
	t.Helper()
	request := ctrladmission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Kind: metav1.GroupVersionKind(credentialsWebhookKinds()[name]), Name: "one",
		Object: runtime.RawExtension{Raw: object},
	}}
	if old != nil {
		request.Operation, request.OldObject.Raw = admissionv1.Update, old
	}
	return findCredentialsWebhook(t, garden, name).Handler.Handle(t.Context(), request)
}

func encodedCredentials(t testing.TB, object any) []byte {
	t.Helper()
	raw, err := json.Marshal(object)
	require.NoError(t, err)
	return raw
}

// credentialsCauses are the fields and messages of a refusal.
func credentialsCauses(response ctrladmission.Response) []string {
	var all []string
	if response.Result == nil || response.Result.Details == nil {
		return nil
	}
	for _, cause := range response.Result.Details.Causes {
		all = append(all, cause.Field+": "+cause.Message)
	}
	return all
}

// loginData are those of a user. A change to "-" removes the key.
func loginData(changes ...string) map[string][]byte {
	data := map[string][]byte{"username": []byte("u"), "password": []byte("p"), "domainName": []byte("d"), "tenantName": []byte("t")}
	for i := 0; i < len(changes); i += 2 {
		if data[changes[i]] = []byte(changes[i+1]); changes[i+1] == "-" {
			delete(data, changes[i])
		}
	}
	return data
}

func loginSecret(changes ...string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "one", Labels: map[string]string{credentialsLabel: "true"}}, Data: loginData(changes...),
	}
}

func withoutLabels(secret *corev1.Secret) *corev1.Secret {
	secret.Labels = nil
	return secret
}

func loginInternalSecret(changes ...string) *gardencorev1beta1.InternalSecret {
	secret := loginSecret(changes...)
	return &gardencorev1beta1.InternalSecret{ObjectMeta: secret.ObjectMeta, Data: secret.Data}
}

func newSecretBinding(provider, namespace string) *gardencorev1beta1.SecretBinding {
	return &gardencorev1beta1.SecretBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bound"}, SecretRef: corev1.SecretReference{Namespace: "garden-dev", Name: "one"},
		Provider: &gardencorev1beta1.SecretBindingProvider{Type: provider},
	}
}

func newCredentialsBinding(apiVersion, kind string) *securityv1alpha1.CredentialsBinding {
	return &securityv1alpha1.CredentialsBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-other", Name: "bound"}, Provider: securityv1alpha1.CredentialsBindingProvider{Type: "openstack"},
		CredentialsRef: corev1.ObjectReference{APIVersion: apiVersion, Kind: kind, Namespace: "garden-dev", Name: "one"},
	}
}

func shootWithCredentials(namespace, provider string, spec gardencorev1beta1.ShootSpec) *gardencorev1beta1.Shoot {
	spec.Provider.Type = provider
	return &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shoot"}, Spec: spec}
}
