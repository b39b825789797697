package openstack

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/admission"
)

func shootsGarden() admission.Garden { return admission.Garden{Reader: newShootGarden()} }

// FuzzShoot sends Shoots with anything for configurations through the webhooks of Shoots. None panics; each answers, the same each time; what does
// not change passes without a look; and what passes when it is new passes when it changes nothing but its maintenance.
func FuzzShoot(f *testing.F) {
	infrastructure, controlPlane, none := validShoot().Spec.Provider.InfrastructureConfig.Raw, validShoot().Spec.Provider.ControlPlaneConfig.Raw, []byte("null")
	f.Add(infrastructure, controlPlane, none, infrastructure, byte(0))
	f.Add(infrastructure, controlPlane, none, []byte(`{}`), byte(255))
	f.Add(none, []byte(`[]`), []byte(`"a"`), none, byte(1))
	f.Add(infrastructure, []byte(`{`), none, none, byte(2))
	worker, controlPlaneConfigHead := configHead+`WorkerConfig",`, configHead+`ControlPlaneConfig","loadBalancerProvider":"amphora",`
	f.Add(infrastructure, controlPlane, []byte(worker+`"additionalSecurityGroups":[`+strings.Repeat(`"",`, 10_000)+`""]}`), infrastructure, byte(0))
	f.Add(infrastructure, controlPlane, []byte(worker+`"additionalSecurityGroups":["`+strings.Repeat(`a`, 1<<16)+`"]}`), infrastructure, byte(0))
	f.Add(infrastructure, controlPlane, []byte(worker+`"nodeTemplate":{"virtualCapacity":{"a":"1e-2147483640"}}}`), infrastructure, byte(0))
	f.Add(infrastructure, []byte(controlPlaneConfigHead+`"loadBalancerClasses":[{"name":"a","floatingSubnetName":"~`+strings.Repeat(`[^a]{1000}`, 3000)+`"}]}`), none, infrastructure, byte(0))

	f.Fuzz(func(t *testing.T, infrastructure, controlPlane, worker, oldInfrastructure []byte, bits byte) {
		object := shootOf(t, infrastructure, controlPlane, worker, bits)
		old := shootOf(t, oldInfrastructure, controlPlane, worker, bits>>1)
		for _, before := range [][]byte{nil, old, object} {
			garden := newShootGarden()
			var responses []string
			for range 2 {
				for _, webhook := range shootWebhooks(admission.Garden{Reader: garden}, Options{NodeLocalDNSWithoutTCP: true}) {
					response := webhook.Handler.Handle(t.Context(), shootRequest(object, before))
					requireValidResponse(t, response, webhook.Mutates)
					encodedResponse, err := json.Marshal(response)
					require.NoError(t, err)
					responses = append(responses, string(encodedResponse))
				}
			}
			require.Equal(t, responses[:2], responses[2:], "the same question has the same answer")
			if bytes.Equal(before, object) {
				require.Empty(t, garden.requests, "what does not change needs no look")
				require.NotContains(t, responses[0], `"code":422`)
			}
		}
	})
}

// requireValidResponse wants one of the answers that are meant. A patch is made of numbers that fit into 64 bits; beyond them, somewhere in a document, there is none.
func requireValidResponse(t *testing.T, response ctrladmission.Response, mutates bool) {
	codes := []int32{http.StatusOK, http.StatusBadRequest, http.StatusUnprocessableEntity}
	if mutates {
		codes = []int32{http.StatusOK, http.StatusBadRequest, http.StatusInternalServerError}
	}
	code := int32(http.StatusOK)
	if response.Result != nil {
		code = response.Result.Code
	}
	require.Contains(t, codes, code, response.Result)
	if code == http.StatusInternalServerError {
		require.Contains(t, response.Result.Message, "json: cannot unmarshal number")
	}
}

// shootOf writes a Shoot whose context depends on bits, with documents that need not be any.
func shootOf(t *testing.T, infrastructure, controlPlane, worker []byte, bits byte) []byte {
	bit := func(position int) bool { return bits>>position&1 == 1 }
	shoot := validShoot()
	if bit(0) {
		shoot.Spec.CloudProfile.Name = "domestic"
	}
	if bit(1) {
		shoot.Spec.CredentialsBindingName = nil
	}
	if bit(2) {
		shoot.Spec.Networking = nil
	} else if bit(3) {
		shoot.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
	}
	if bit(4) {
		shoot.Spec.Provider.Workers = slices.Concat(shoot.Spec.Provider.Workers, shoot.Spec.Provider.Workers)
	}
	if bit(5) {
		shoot.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
	}
	withNodeLocalDNS(gardencorev1beta1.NodeLocalDNS{Enabled: bit(6)})(shoot)
	shoot.Spec.Provider.InfrastructureConfig, shoot.Spec.Provider.ControlPlaneConfig = nil, nil
	written := encodedShoot(t, shoot)
	written = bytes.Replace(written, []byte(`"provider":{`), slices.Concat(
		[]byte(`"provider":{"infrastructureConfig":`), infrastructure, []byte(`,"controlPlaneConfig":`), controlPlane, []byte(`,`),
	), 1)
	return bytes.Replace(written, []byte(`"workers":[{`), slices.Concat([]byte(`"workers":[{"providerConfig":`), worker, []byte(`,`)), 1)
}
