package openstack

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
)

// padded is a document of this many bytes. It is right but for a name that is too long.
func padded(kind, rest string, size int) *runtime.RawExtension {
	document := rawDocument(kind, rest+`,"padding":""`)
	document.Raw = []byte(strings.Replace(string(document.Raw), `"padding":"`, `"padding":"`+strings.Repeat("a", size-len(document.Raw)), 1))
	return document
}

func TestValidateShoot_ConfigTooLarge(t *testing.T) {
	const bound = 64 << 10
	for path, write := range map[string]func(*gardencorev1beta1.Shoot, int){
		"spec.provider.infrastructureConfig": func(shoot *gardencorev1beta1.Shoot, size int) {
			shoot.Spec.Provider.InfrastructureConfig = padded("InfrastructureConfig", `"floatingPoolName":"public","networks":{"workers":"10.250.0.0/19"}`, size)
		},
		"spec.provider.controlPlaneConfig": func(shoot *gardencorev1beta1.Shoot, size int) {
			shoot.Spec.Provider.ControlPlaneConfig = padded("ControlPlaneConfig", `"loadBalancerProvider":"amphora"`, size)
		},
		"spec.provider.workers[0].providerConfig": func(shoot *gardencorev1beta1.Shoot, size int) {
			shoot.Spec.Provider.Workers[0].ProviderConfig = padded("WorkerConfig", `"configDrive":true`, size)
		},
	} {
		t.Run(path, func(t *testing.T) {
			garden, large := newShootGarden(), validShoot()
			write(large, bound+1)
			requireRefusal(t, callShootWebhook(t, garden, large, nil), path, "has 65537 bytes and may have 65536")
			requireRefusal(t, callShootWebhook(t, garden, large, validShoot()), path, "has 65537 bytes and may have 65536")
			require.Empty(t, garden.requests, "nothing is looked up for it")

			fits := validShoot()
			write(fits, bound)
			requireRefusal(t, callShootWebhook(t, garden, fits, nil), path, `unknown field "padding"`)

			stays := large.DeepCopy()
			stays.Spec.Region = "asia"
			require.True(t, callShootWebhook(t, garden, stays, large).Allowed, "what is there already goes on")
			moved := stays.DeepCopy()
			moved.Spec.Provider.Workers = append([]gardencorev1beta1.Worker{{Name: "first", Zones: []string{"a"}}}, moved.Spec.Provider.Workers...)
			require.True(t, callShootWebhook(t, garden, moved, large).Allowed, "pools go by their names")
		})
	}
}

func TestValidateCloudProfile_ConfigTooLarge(t *testing.T) {
	padding := func(size int) []string {
		return []string{`"kind":"CloudProfileConfig"`, `"kind":"CloudProfileConfig","padding":"` + strings.Repeat("a", size) + `"`}
	}
	for sentence, test := range map[string]struct {
		kind, name, document string
		bound                int
	}{
		"a CloudProfile": {kind: "CloudProfile", name: "cloudprofile", document: cloudProfile, bound: 1 << 20},
		"a project's":    {kind: "NamespacedCloudProfile", name: "namespacedcloudprofile", document: namespacedProfile, bound: 256 << 10},
	} {
		t.Run(sentence, func(t *testing.T) {
			garden := &profileGarden{parent: cloudProfile}
			large, small := replaceInDocument(t, test.document, padding(test.bound)...), replaceInDocument(t, test.document, padding(test.bound/2)...)
			requireRefusal(t, callProfileWebhook(t, garden, test.name+".openstack", test.kind, large, ""), "spec.providerConfig", "shorten its lists and texts")
			requireRefusal(t, callProfileWebhook(t, garden, test.name+".openstack", test.kind, large, small), "spec.providerConfig", "shorten its lists and texts")
			requireRefusal(t, callProfileWebhook(t, garden, test.name+".openstack", test.kind, small, ""), "spec.providerConfig", `unknown field "padding"`)
			stays := replaceInDocument(t, large, `"2135.6.0"`, `"2135.6.1"`)
			response := callProfileWebhook(t, garden, test.name+".openstack", test.kind, stays, large)
			if !response.Allowed {
				require.NotContains(t, response.Result.Message, "shorten", "what is there already goes on")
			}
			require.True(t, callProfileWebhook(t, garden, test.name+"defaults.openstack", test.kind, large, "").Allowed)
		})
	}
}
