package openstack

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// FuzzCredentials sends anything through the webhooks of credentials. None panics; each answers, the same each time; what does not change
// passes without a look; and no value of a Secret is ever said. key and value are added to what is a Secret.
func FuzzCredentials(f *testing.F) {
	for i, object := range []any{
		loginSecret(), loginSecret("tenantName", "other", "insecure", "x"), loginSecret("password", "-", "authURL", "https://%"), loginSecret("caCert", "-----BEGIN"),
		newSecretBinding("aws,openstack", "garden-dev"), newCredentialsBinding("v1", "Secret"), newCredentialsBinding("security.gardener.cloud/v1alpha1", "WorkloadIdentity"),
	} {
		key, value := credentialsLabel, []byte("\xff")
		if i%2 == 1 {
			key, value = "authURL", []byte("https://[::1]:5000/v2.0/")
		}
		f.Add(encodedCredentials(f, object), encodedCredentials(f, loginSecret("password", "q")), key, value, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, object, old []byte, key string, value []byte, update bool) {
		object, old = markedSecret(object, key, value), markedSecret(old, "", nil)
		for name := range credentialsWebhookKinds() {
			garden := &credentialsGarden{objects: []client.Object{
				newSecretBinding("openstack", "garden-dev"), loginSecret("password", "-"),
				shootWithCredentials("garden-dev", "openstack", gardencorev1beta1.ShootSpec{SecretBindingName: new("bound")}),
			}}
			var before []byte
			if update {
				before = slices.Clone(old)
			}
			response := callCredentialsWebhook(t, garden, name, object, before)
			again := callCredentialsWebhook(t, garden, name, object, before)
			require.Equal(t, responseText(t, response), responseText(t, again))
			require.NotContains(t, responseText(t, response), mark)
			if !response.Allowed {
				require.Contains(t, []int32{http.StatusBadRequest, http.StatusUnprocessableEntity}, response.Result.Code, responseText(t, response))
			}
			garden.requests = nil
			same := callCredentialsWebhook(t, garden, name, object, slices.Clone(object))
			require.True(t, same.Allowed || same.Result.Code == http.StatusBadRequest, responseText(t, same))
			require.Empty(t, garden.requests)
		}
	})
}

const mark = "§value§"

// markedSecret adds a key, if this is a Secret, and to all values a mark by which they would be known again.
func markedSecret(raw []byte, key string, value []byte) []byte {
	secret := &corev1.Secret{}
	if json.Unmarshal(raw, secret) != nil || len(secret.Data) == 0 || strings.Contains(string(raw)+key, "§") {
		return raw
	}
	if key != "" {
		secret.Data[key] = value
	}
	for key, value := range secret.Data {
		if len(value) > 0 {
			secret.Data[key] = append(slices.Clone(value), mark...)
		}
	}
	marked, err := json.Marshal(secret)
	if err != nil {
		return raw
	}
	return marked
}

func responseText(t *testing.T, response ctrladmission.Response) string {
	t.Helper()
	raw, err := json.Marshal(response.AdmissionResponse)
	require.NoError(t, err)
	return string(raw)
}
