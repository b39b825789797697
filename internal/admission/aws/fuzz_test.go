package aws

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// requireMeant wants one of the responses that are meant: an internal error is only for failed reads, and for numbers that no patch can be made of.
func requireMeant(t *testing.T, response ctrladmission.Response) {
	t.Helper()
	if response.Allowed {
		return
	}
	code := response.Result.Code
	require.True(t, code == http.StatusBadRequest || code == http.StatusUnprocessableEntity ||
		code == http.StatusInternalServerError && strings.Contains(response.Result.Message, "json: cannot unmarshal number"), "%v", response.Result)
}

func responseText(t *testing.T, response ctrladmission.Response) string {
	t.Helper()
	return string(encoded(t, response.AdmissionResponse))
}

// FuzzShoot sends Shoots with anything for configurations through the webhooks of Shoots. None panics; each answers, the same each time; what does not change
// is accepted without a read; and defaults are set once.
func FuzzShoot(f *testing.F) {
	shoot := newShoot(f)
	infrastructure, controlPlane, network := shoot.Spec.Provider.InfrastructureConfig.Raw, shoot.Spec.Provider.ControlPlaneConfig.Raw, shoot.Spec.Networking.ProviderConfig.Raw
	none, worker := []byte("null"), document(f, "WorkerConfig", `cpuOptions: {coreCount: 1}`).Raw
	f.Add(infrastructure, controlPlane, worker, network, infrastructure, byte(0))
	f.Add(infrastructure, none, none, none, none, byte(255))
	f.Add(infrastructure, []byte(`{"kind":[]}`), []byte(`"a"`), []byte(`{"overlay":{}}`), []byte(`{}`), byte(1))
	f.Add(infrastructure, []byte(controlPlaneHead+`"cloudControllerManager":null,"loadBalancerController":null}`), none, []byte(`{"overlay":null}`), infrastructure, byte(2))
	f.Add(infrastructure, []byte(controlPlaneHead+`"big":1e400}`), none, none, infrastructure, byte(3))
	f.Add([]byte(`{"enableMTUCustomizer":7}`), controlPlane, []byte(`{`), []byte(`[]`), []byte(`{"enableMTUCustomizer":"x"}`), byte(4))
	f.Fuzz(func(t *testing.T, infrastructure, controlPlane, worker, network, oldInfrastructure []byte, bits byte) {
		object := composeShoot(t, infrastructure, controlPlane, worker, network, bits)
		old := composeShoot(t, oldInfrastructure, controlPlane, worker, network, bits>>1)
		for _, before := range [][]byte{nil, old, object} {
			for _, name := range []string{"shoot.aws", "shootdefaults.aws"} {
				reader := newGarden(t)
				response := call(t, reader, name, object, before)
				requireMeant(t, response)
				if bytes.Equal(before, object) {
					require.Empty(t, reader.requests)
					require.True(t, response.Allowed || response.Result.Code == http.StatusBadRequest, "%v", response.Result)
					require.Empty(t, response.Patch)
				}
				require.Equal(t, responseText(t, response), responseText(t, call(t, reader, name, object, before)))
				// A number that no type of Go holds cannot be patched here.
				if len(response.Patch) > 0 && json.Unmarshal(object, &map[string]any{}) == nil {
					result := &gardencorev1beta1.Shoot{}
					patched(t, object, response, result)
					require.Empty(t, call(t, reader, name, result, before).Patch, "called again")
				}
			}
		}
	})
}

const controlPlaneHead = `{"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1","kind":"ControlPlaneConfig",`

// composeShoot writes a Shoot with documents that need not be any. bits vary the rest of it.
func composeShoot(t *testing.T, infrastructure, controlPlane, worker, network []byte, bits byte) []byte {
	bit := func(position int) bool { return bits>>position&1 == 1 }
	shoot := newShoot(t)
	if bit(0) {
		shoot.Spec.CloudProfile.Name = "broken"
	}
	if bit(1) {
		shoot.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv6}
	}
	if bit(2) {
		shoot.Spec.Provider.Workers = slices.Concat(shoot.Spec.Provider.Workers, shoot.Spec.Provider.Workers)
	}
	if bit(3) {
		shoot.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
	}
	if bit(4) {
		shoot.Spec.SystemComponents.NodeLocalDNS.ForceTCPToUpstreamDNS = nil
	}
	shoot.Spec.Provider.InfrastructureConfig, shoot.Spec.Provider.ControlPlaneConfig, shoot.Spec.Networking.ProviderConfig = nil, nil, nil
	written := encoded(t, shoot)
	for member, value := range map[string][]byte{
		`"provider":{`: slices.Concat([]byte(`"infrastructureConfig":`), infrastructure, []byte(`,"controlPlaneConfig":`), controlPlane),
		`"workers":[{`: slices.Concat([]byte(`"providerConfig":`), worker), `"networking":{`: slices.Concat([]byte(`"providerConfig":`), network),
	} {
		written = bytes.Replace(written, []byte(member), slices.Concat([]byte(member), value, []byte(`,`)), 1)
	}
	return written
}

// FuzzCloudProfile sends anything for a configuration through the webhooks of profiles. None panics; each answers, the same each time; what does not change is
// accepted without a read; and no status is rejected.
func FuzzCloudProfile(f *testing.F) {
	legacy, capable, own := newProfile(f, byArchitecture).Spec.ProviderConfig.Raw, newProfile(f, byCapabilities).Spec.ProviderConfig.Raw, newNamespaced(f).Spec.ProviderConfig.Raw
	f.Add(legacy, own, false)
	f.Add(capable, own, true)
	f.Add(own, capable, true)
	f.Add([]byte(`{"kind":7}`), []byte(`null`), true)
	f.Fuzz(func(t *testing.T, config, oldConfig []byte, capabilities bool) {
		compose := func(config []byte) []byte {
			spec := byArchitecture
			if capabilities {
				spec = byCapabilities
			}
			own := newProfile(t, spec).Spec
			own.ProviderConfig = nil
			specDocument := bytes.Replace(encoded(t, own), []byte(`{`), slices.Concat([]byte(`{"parent":{"kind":"CloudProfile","name":"parent"},"providerConfig":`), config, []byte(`,`)), 1)
			return slices.Concat([]byte(`{"metadata":{"name":"parent","generation":1},"spec":`), specDocument, []byte(`,"status":{"observedGeneration":1,"cloudProfileSpec":`), specDocument, []byte(`}}`))
		}
		object, old := compose(config), compose(oldConfig)
		parent := newProfile(t, byArchitecture)
		for name := range kinds() {
			if !strings.Contains(name, "cloudprofile") {
				continue
			}
			for _, before := range [][]byte{nil, old} {
				reader := &garden{objects: []client.Object{parent}}
				response := call(t, reader, name, object, before)
				requireMeant(t, response)
				require.Equal(t, responseText(t, response), responseText(t, call(t, reader, name, object, before)))
				if name == "namespacedcloudprofilestatus.aws" {
					require.NotContains(t, responseText(t, response), `"code":422`)
				}
			}
			reader := &garden{objects: []client.Object{parent}}
			same := call(t, reader, name, object, object)
			require.True(t, same.Allowed || same.Result.Code != http.StatusUnprocessableEntity, "%v", same.Result)
			require.Empty(t, reader.requests)
		}
	})
}

// FuzzCredentials sends anything through the webhooks of credentials. None panics; each answers, the same each time; and no value of a Secret is printed.
func FuzzCredentials(f *testing.F) {
	f.Add("accessKeyID", []byte("x"), "account", []byte("y"), []byte(`{"roleARN":"x"}`))
	f.Add("AWS_REGION", []byte("eu-west-1"), "region", []byte("\xff"), []byte(`null`))
	f.Add("secretAccessKey", []byte(secretKey), "AWS_SECRET_ACCESS_KEY", []byte(secretKey), document(f, "WorkloadIdentityConfig", "roleARN: "+role).Raw)
	f.Fuzz(func(t *testing.T, key string, value []byte, otherKey string, otherValue, config []byte) {
		const mark = "§value§"
		if strings.Contains(key+otherKey, "§") {
			return
		}
		secret := newSecret(key, string(value)+mark, otherKey, string(otherValue)+mark)
		identity := bytes.Replace(encoded(t, newIdentity(t, Type, "")), []byte(`"type":"aws"`), slices.Concat([]byte(`"type":"aws","providerConfig":`), config), 1)
		for name, object := range map[string]any{
			"secret.aws": secret, "internalsecret.aws": &gardencorev1beta1.InternalSecret{ObjectMeta: secret.ObjectMeta, Data: secret.Data},
			"credentialsbinding.aws": newBinding("v1", "Secret"), "secretbinding.aws": newSecretBinding(Type), "workloadidentity.aws": identity,
		} {
			for _, before := range []any{nil, object} {
				response := call(t, &garden{objects: []client.Object{secret}}, name, object, before)
				requireMeant(t, response)
				text := responseText(t, response)
				require.NotContains(t, text, mark)
				require.Equal(t, text, responseText(t, call(t, &garden{objects: []client.Object{secret}}, name, object, before)))
				if before != nil {
					require.NotContains(t, text, `"code":422`)
				}
			}
		}
	})
}
