package aws

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
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/admission"
)

// garden has a few objects, and records which are read.
type garden struct {
	objects []client.Object
	// unavailable is the kind of which no object can be read.
	unavailable string
	requests    []string
}

// Get implements client.Reader.
func (g *garden) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	kind := reflect.TypeOf(into).Elem().Name()
	g.requests = append(g.requests, strings.TrimSuffix(fmt.Sprintf("%s %s", kind, key), "/"))
	if kind == g.unavailable {
		return errors.New("connection refused")
	}
	for _, object := range g.objects {
		if reflect.TypeOf(object) == reflect.TypeOf(into) && client.ObjectKeyFromObject(object) == key {
			reflect.ValueOf(into).Elem().Set(reflect.ValueOf(object.DeepCopyObject()).Elem())
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: kind}, key.Name)
}

// List implements client.Reader. Nothing is listed: credentials may change whoever uses them.
func (g *garden) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	return fmt.Errorf("listing %T is not allowed", into)
}

// kinds are those that the webhooks are for.
func kinds() map[string]schema.GroupVersionKind {
	return map[string]schema.GroupVersionKind{
		"shoot.aws":                          gardencorev1beta1.SchemeGroupVersion.WithKind("Shoot"),
		"shootdefaults.aws":                  gardencorev1beta1.SchemeGroupVersion.WithKind("Shoot"),
		"cloudprofiledefaults.aws":           gardencorev1beta1.SchemeGroupVersion.WithKind("CloudProfile"),
		"cloudprofile.aws":                   gardencorev1beta1.SchemeGroupVersion.WithKind("CloudProfile"),
		"namespacedcloudprofiledefaults.aws": gardencorev1beta1.SchemeGroupVersion.WithKind("NamespacedCloudProfile"),
		"namespacedcloudprofile.aws":         gardencorev1beta1.SchemeGroupVersion.WithKind("NamespacedCloudProfile"),
		"namespacedcloudprofilestatus.aws":   gardencorev1beta1.SchemeGroupVersion.WithKind("NamespacedCloudProfile"),
		"secret.aws":                         corev1.SchemeGroupVersion.WithKind("Secret"),
		"internalsecret.aws":                 gardencorev1beta1.SchemeGroupVersion.WithKind("InternalSecret"),
		"secretbinding.aws":                  gardencorev1beta1.SchemeGroupVersion.WithKind("SecretBinding"),
		"credentialsbinding.aws":             securityv1alpha1.SchemeGroupVersion.WithKind("CredentialsBinding"),
		"workloadidentity.aws":               securityv1alpha1.SchemeGroupVersion.WithKind("WorkloadIdentity"),
	}
}

// options are those of most tests.
func options() Options { return Options{NodeLocalDNSWithoutTCP: true} }

// call sends a write through a webhook. old is nil for a creation.
func call(t testing.TB, reader client.Reader, name string, object, old any) ctrladmission.Response {
	t.Helper()
	request := ctrladmission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Kind: metav1.GroupVersionKind(kinds()[name]), Name: "one", Object: runtime.RawExtension{Raw: encoded(t, object)},
	}}
	if old != nil && !reflect.ValueOf(old).IsZero() {
		request.Operation, request.OldObject.Raw = admissionv1.Update, encoded(t, old)
	}
	if name == "namespacedcloudprofilestatus.aws" {
		request.SubResource = "status"
	}
	for _, webhook := range Webhooks(admission.Garden{Reader: reader}, options()) {
		if webhook.Name == name {
			return webhook.Handler.Handle(t.Context(), request)
		}
	}
	require.FailNow(t, "there is no such webhook", name)
	return ctrladmission.Response{}
}

// encoded takes bytes for a document that is encoded already.
func encoded(t testing.TB, object any) []byte {
	t.Helper()
	if raw, isRaw := object.([]byte); isRaw {
		return raw
	}
	raw, err := json.Marshal(object)
	require.NoError(t, err)
	return raw
}

// causes are the fields and messages of a rejection.
func causes(response ctrladmission.Response) []string {
	if response.Allowed {
		return nil
	}
	if response.Result.Details == nil {
		return []string{response.Result.Message}
	}
	var all []string
	for _, cause := range response.Result.Details.Causes {
		all = append(all, cause.Field+": "+cause.Message)
	}
	return all
}

// patched writes what becomes of an object by a response into another one.
func patched(t testing.TB, object any, response ctrladmission.Response, into any) {
	t.Helper()
	require.True(t, response.Allowed, "%v", response.Result)
	raw := encoded(t, object)
	if len(response.Patch) > 0 {
		stored := &unstructured.Unstructured{}
		require.NoError(t, json.Unmarshal(raw, &stored.Object))
		stored.SetAPIVersion("v1")
		stored.SetKind("Thing")
		stored.SetName("one")
		stored.SetNamespace("")
		store := fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(stored).Build()
		require.NoError(t, store.Patch(t.Context(), stored, client.RawPatch(types.JSONPatchType, response.Patch)), "%s", response.Patch)
		raw = encoded(t, stored.Object)
	}
	require.NoError(t, json.Unmarshal(raw, into))
}

// document is a configuration of AWS: YAML without apiVersion and kind.
func document(t testing.TB, kind, text string) *runtime.RawExtension {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte("apiVersion: aws.provider.extensions.gardener.cloud/v1alpha1\nkind: " + kind + "\n" + text))
	require.NoError(t, err)
	return &runtime.RawExtension{Raw: raw}
}

func TestWebhooks(t *testing.T) {
	reader, names := &garden{}, map[string]bool{}
	for _, webhook := range Webhooks(admission.Garden{Reader: reader}, Options{}) {
		kind, known := kinds()[webhook.Name]
		require.True(t, known, webhook.Name)
		names[webhook.Name] = true

		label := "provider.extensions.gardener.cloud/aws"
		if kind.Kind == "Secret" || kind.Kind == "InternalSecret" {
			label = "provider.shoot.gardener.cloud/aws"
		}
		assert.Equal(t, map[string]string{label: "true"}, webhook.ObjectSelector.MatchLabels, webhook.Name)
		require.Len(t, webhook.Rules, 1, webhook.Name)
		rule := webhook.Rules[0]
		assert.Equal(t, []string{kind.Group}, rule.APIGroups, webhook.Name)
		assert.Equal(t, []string{kind.Version}, rule.APIVersions, webhook.Name)
		resource, _, _ := strings.Cut(rule.Resources[0], "/")
		assert.Equal(t, strings.TrimSuffix(strings.ToLower(kind.Kind), "y"), strings.TrimSuffix(strings.TrimSuffix(resource, "s"), "ie"), webhook.Name)
		assert.Equal(t, strings.Contains(webhook.Name, "defaults") || strings.Contains(webhook.Name, "status"), webhook.Mutates, webhook.Name)
		assert.Equal(t, webhook.Name == "shootdefaults.aws", webhook.Reinvoked, "%s: only the defaults of Shoots depend on those of networks", webhook.Name)
	}
	assert.Len(t, names, len(kinds()))
}
