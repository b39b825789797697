package gardenet

import (
	"encoding/json"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/admission"
)

const (
	defaultsWebhook   = "shootdefaults.gardenet"
	validatingWebhook = "shoot.gardenet"

	kind = `"apiVersion":"gardenet.networking.extensions.gardener.cloud/v1alpha1","kind":"NetworkConfig"`

	configPath  = "/spec/networking/providerConfig"
	overlayPath = configPath + "/overlay"
)

type change func(*gardencorev1beta1.Shoot)

// shootWith is an ordinary shoot on OpenStack with that document as configuration, none if it is empty, and changes.
func shootWith(config string, changes ...change) *gardencorev1beta1.Shoot {
	shoot := &gardencorev1beta1.Shoot{
		TypeMeta:   metav1.TypeMeta{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "one"},
		Spec: gardencorev1beta1.ShootSpec{
			Networking: &gardencorev1beta1.Networking{Type: new(Type), Nodes: new("10.250.0.0/16")},
			Provider:   gardencorev1beta1.Provider{Type: "openstack", Workers: []gardencorev1beta1.Worker{{Name: "a"}}},
		},
	}
	if config != "" {
		shoot.Spec.Networking.ProviderConfig = &runtime.RawExtension{Raw: []byte(config)}
	}
	for _, change := range changes {
		change(shoot)
	}
	return shoot
}

func withInfrastructure(infrastructure string) change {
	return func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Provider.Type = infrastructure }
}

func withNetworkType(networkType *string) change {
	return func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Networking.Type = networkType }
}

func withFamilies(families ...gardencorev1beta1.IPFamily) change {
	return func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Networking.IPFamilies = families }
}

func withLastOperation(operation gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: operation, State: state}
	}
}

func withSeeds(spec, status string) change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.SeedName, shoot.Status.SeedName = &spec, &status
	}
}

func withoutWorkers(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Provider.Workers = nil }

func withoutNetworking(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Networking = nil }

func withoutKubeProxy(shoot *gardencorev1beta1.Shoot) {
	shoot.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(false)}
}

func beingDeleted(shoot *gardencorev1beta1.Shoot) { shoot.DeletionTimestamp = new(metav1.Now()) }

func withPurpose(shoot *gardencorev1beta1.Shoot) {
	shoot.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting)
}

// requestFor is how an API server asks: about a creation when there is no old shoot.
func requestFor(t testing.TB, shoot, old *gardencorev1beta1.Shoot) ctrladmission.Request {
	t.Helper()
	request := ctrladmission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Kind: metav1.GroupVersionKind(admission.ShootKind()), Namespace: shoot.Namespace, Name: shoot.Name,
	}}
	var err error
	request.Object.Raw, err = json.Marshal(shoot)
	require.NoError(t, err)
	if old != nil {
		request.Operation = admissionv1.Update
		request.OldObject.Raw, err = json.Marshal(old)
		require.NoError(t, err)
	}
	return request
}

func callWebhook(t testing.TB, name string, shoot, old *gardencorev1beta1.Shoot) ctrladmission.Response {
	t.Helper()
	for _, webhook := range Webhooks() {
		if webhook.Name == name {
			return webhook.Handler.Handle(t.Context(), requestFor(t, shoot, old))
		}
	}
	require.Fail(t, "there is no webhook "+name)
	return ctrladmission.Response{}
}

func TestWebhooks(t *testing.T) {
	webhooks := Webhooks()
	require.Len(t, webhooks, 2)
	require.Equal(t, defaultsWebhook, webhooks[0].Name)
	require.True(t, webhooks[0].Mutates)
	require.Equal(t, validatingWebhook, webhooks[1].Name)
	require.False(t, webhooks[1].Mutates)
	for _, webhook := range webhooks {
		require.False(t, webhook.Runtime)
		require.Equal(t, map[string]string{"networking.extensions.gardener.cloud/gardenet": "true"}, webhook.ObjectSelector.MatchLabels)
		require.Len(t, webhook.Rules, 1)
		require.Equal(t, []string{"core.gardener.cloud"}, webhook.Rules[0].APIGroups)
		require.Equal(t, []string{"v1beta1"}, webhook.Rules[0].APIVersions)
		require.Equal(t, []string{"shoots"}, webhook.Rules[0].Resources)
	}
}
