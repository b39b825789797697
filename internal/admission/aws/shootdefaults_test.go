package aws

import (
	"encoding/json"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/admission"
)

// withoutDefaults has nothing of what upstream writes.
func withoutDefaults(t testing.TB, shoot *gardencorev1beta1.Shoot) {
	inInfrastructure(infrastructure)(t, shoot)
	shoot.Spec.Provider.ControlPlaneConfig, shoot.Spec.Networking.ProviderConfig = nil, nil
	shoot.Spec.SystemComponents.NodeLocalDNS.ForceTCPToUpstreamDNS = nil
}

func network(providerConfig string) change {
	return inSpec(func(s *gardencorev1beta1.ShootSpec) {
		s.Networking.ProviderConfig = &runtime.RawExtension{Raw: []byte(providerConfig)}
	})
}

func labelledPool(_ testing.TB, shoot *gardencorev1beta1.Shoot) {
	shoot.Spec.Provider.Workers[0].Labels = map[string]string{"a": "b"}
}

const (
	group        = `"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1"`
	controlPlane = `{` + group + `,"kind":"ControlPlaneConfig",`
)

// TestShootDefaults_ControlPlane has what becomes of the ControlPlaneConfig.
func TestShootDefaults_ControlPlane(t *testing.T) {
	const routed, unrouted = controlPlane + `"cloudControllerManager":{"useCustomRouteController":true}}`, controlPlane + `"cloudControllerManager":{"useCustomRouteController":false}}`
	for sentence, test := range map[string]struct {
		changes []change
		want    string
	}{
		"without an overlay the cloud routes to pods": {[]change{withoutDefaults, network(`{"overlay":{"enabled":false}}`)}, routed},
		"an empty overlay is none":                    {[]change{withoutDefaults, network(`{"overlay":{}}`)}, routed},
		"with an overlay it does not":                 {[]change{withoutDefaults, network(`{"overlay":{"enabled":true}}`)}, unrouted},
		"an overlay that is not configured is one":    {[]change{withoutDefaults}, unrouted},
		"no network has no routes": {
			[]change{withoutDefaults, inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Networking = nil })}, unrouted,
		},
		"a network of any type": {
			[]change{withoutDefaults, network(`{"overlay":{"enabled":false}}`), inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Networking.Type = new("cilium") })}, routed,
		},
		"null is an absent document": {
			[]change{withoutDefaults, inSpec(func(s *gardencorev1beta1.ShootSpec) {
				s.Provider.ControlPlaneConfig = &runtime.RawExtension{Raw: []byte(`null`)}
			})}, unrouted,
		},
		"what the user writes is overwritten": {[]change{inControlPlane(`cloudControllerManager: {useCustomRouteController: false}`)}, routed},
		"all else is kept, known or not": {
			[]change{inControlPlane("cloudControllerManager: {featureGates: {A: true}, new: 1}\nstorage: {managedDefaultClass: false}\nnewer: {}")},
			controlPlane + `"cloudControllerManager":{"featureGates":{"A":true},"new":1,"useCustomRouteController":true},"storage":{"managedDefaultClass":false},"newer":{}}`,
		},
		"with both families load balancers are the controller's": {
			[]change{dualStack(`{"overlay":{"enabled":false}}`)},
			controlPlane + `"cloudControllerManager":{"useCustomRouteController":true},"loadBalancerController":{"enabled":true}}`,
		},
		"with IPv6 alone they are too, and the class is kept": {
			[]change{
				dualStack(`{"overlay":{"enabled":false}}`), inControlPlane(`loadBalancerController: {enabled: false, ingressClassName: nlb}`),
				inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Networking.IPFamilies = s.Networking.IPFamilies[1:] }),
			},
			controlPlane + `"cloudControllerManager":{"useCustomRouteController":true},"loadBalancerController":{"enabled":true,"ingressClassName":"nlb"}}`,
		},
		"what cannot be decoded stays": {[]change{inControlPlane(`cloudControllerManager: 7`)}, controlPlane + `"cloudControllerManager":7}`},
		"a network that cannot be decoded changes nothing": {
			[]change{network(`{"overlay":7}`), inControlPlane(`cloudControllerManager: {useCustomRouteController: false}`)}, unrouted,
		},
		"without an infrastructure there is no control plane in the cloud": {
			[]change{withoutDefaults, inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Provider.InfrastructureConfig = nil })}, "",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := newShoot(t, test.changes...)
			for _, old := range []*gardencorev1beta1.Shoot{nil, newShoot(t, append(test.changes, labelledPool)...)} {
				result := &gardencorev1beta1.Shoot{}
				patched(t, shoot, call(t, &garden{}, "shootdefaults.aws", shoot, old), result)
				if test.want == "" {
					assert.Nil(t, result.Spec.Provider.ControlPlaneConfig)
					continue
				}
				require.NotNil(t, result.Spec.Provider.ControlPlaneConfig)
				assert.JSONEq(t, test.want, string(result.Spec.Provider.ControlPlaneConfig.Raw))
				assert.Empty(t, call(t, &garden{}, "shootdefaults.aws", result, old).Patch, "called again")
			}
		})
	}
}

func TestShootDefaults_MTUCustomizer(t *testing.T) {
	off, on := inInfrastructure(infrastructure+"\nenableMTUCustomizer: false"), inInfrastructure(infrastructure+"\nenableMTUCustomizer: true")
	unset, isNull := inInfrastructure(infrastructure), inInfrastructure(infrastructure+"\nenableMTUCustomizer: null")
	for sentence, test := range map[string]struct {
		shoot, old change
		want       *bool
	}{
		"it is off in a new shoot":                            {shoot: unset, want: new(false)},
		"a new shoot that says nothing by null":               {shoot: isNull, want: new(false)},
		"a new shoot that wants it has it":                    {shoot: on, want: new(true)},
		"an old shoot without the field keeps its meaning":    {shoot: unset, old: unset},
		"an old shoot whose manifest lacks the field":         {shoot: unset, old: off, want: new(false)},
		"an old shoot whose manifest lacks the field to have": {shoot: unset, old: on, want: new(true)},
		"an old shoot that wants it otherwise":                {shoot: on, old: off, want: new(true)},
		"an old shoot whose configuration cannot be decoded":  {shoot: unset, old: inInfrastructure(`networks: 7`)},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot, result := newShoot(t, test.shoot), &gardencorev1beta1.Shoot{}
			var old *gardencorev1beta1.Shoot
			if test.old != nil {
				old = newShoot(t, test.old, labelledPool)
			}
			patched(t, shoot, call(t, &garden{}, "shootdefaults.aws", shoot, old), result)
			var config struct {
				EnableMTUCustomizer *bool `json:"enableMTUCustomizer"`
			}
			require.NoError(t, json.Unmarshal(result.Spec.Provider.InfrastructureConfig.Raw, &config))
			assert.Equal(t, test.want, config.EnableMTUCustomizer)
		})
	}
	broken := newShoot(t, inInfrastructure(`networks: 7`))
	assert.Empty(t, call(t, &garden{}, "shootdefaults.aws", broken, nil).Patch, "what cannot be decoded stays")
}

// TestShootDefaults_OtherWrites has writes that set no defaults.
func TestShootDefaults_OtherWrites(t *testing.T) {
	operation := func(kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) change {
		return func(_ testing.TB, shoot *gardencorev1beta1.Shoot) {
			shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: kind, State: state}
		}
	}
	for sentence, test := range map[string]struct {
		changes []change
		isNew   bool
	}{
		"a new shoot of another cloud":   {[]change{inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Provider.Type = "azure" })}, true},
		"a new shoot without workers":    {[]change{inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Provider.Workers = nil })}, true},
		"a shoot that stays as it is":    {},
		"a shoot that gets a finalizer":  {[]change{func(_ testing.TB, shoot *gardencorev1beta1.Shoot) { shoot.Finalizers = []string{"a"} }}, false},
		"a shoot that leaves its seed":   {[]change{labelledPool, operation("Migrate", "Processing")}, false},
		"a shoot that is being restored": {[]change{labelledPool, operation("Restore", "Error")}, false},
		"a shoot that is about to move": {[]change{labelledPool, func(_ testing.TB, shoot *gardencorev1beta1.Shoot) {
			shoot.Spec.SeedName, shoot.Status.SeedName = new("b"), new("a")
		}}, false},
		"a shoot that is being deleted": {[]change{labelledPool, func(_ testing.TB, shoot *gardencorev1beta1.Shoot) {
			shoot.DeletionTimestamp = new(metav1.Unix(1795348800, 0))
		}}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			var old *gardencorev1beta1.Shoot
			if !test.isNew {
				old = newShoot(t, withoutDefaults)
			}
			response := call(t, &garden{}, "shootdefaults.aws", newShoot(t, append([]change{withoutDefaults}, test.changes...)...), old)
			assert.True(t, response.Allowed)
			assert.Empty(t, response.Patch)
		})
	}
}

func TestShootDefaults_NodeLocalDNS(t *testing.T) {
	shoot := newShoot(t, inSpec(func(s *gardencorev1beta1.ShootSpec) { s.SystemComponents.NodeLocalDNS.ForceTCPToUpstreamDNS = nil }))
	const udp = `[{"op":"add","path":"/spec/systemComponents/nodeLocalDNS/forceTCPToUpstreamDNS","value":false}]`
	assert.JSONEq(t, udp, string(call(t, &garden{}, "shootdefaults.aws", shoot, nil).Patch))

	require.NoError(t, Options{}.setDefaults(t.Context(), shoot, nil))
	assert.Nil(t, shoot.Spec.SystemComponents.NodeLocalDNS.ForceTCPToUpstreamDNS, "the admin's setting")
}

// TestShootDefaults_Upstream has a shoot as upstream's admission stores it, which ours neither changes nor rejects, and one with our defaults, which has the
// same fields.
func TestShootDefaults_Upstream(t *testing.T) {
	stored := newShoot(t)
	response := call(t, &garden{}, "shootdefaults.aws", stored, nil)
	require.True(t, response.Allowed)
	assert.Empty(t, response.Patch)
	assert.Empty(t, causes(call(t, newGarden(t), "shoot.aws", stored, nil)))
	changed := newShoot(t, labelledPool)
	assert.Empty(t, call(t, &garden{}, "shootdefaults.aws", changed, stored).Patch)
	assert.Empty(t, causes(call(t, newGarden(t), "shoot.aws", changed, stored)))

	ours := &gardencorev1beta1.Shoot{}
	plain := newShoot(t, withoutDefaults, network(`{"overlay":{"enabled":false}}`))
	patched(t, plain, call(t, &garden{}, "shootdefaults.aws", plain, nil), ours)
	assert.JSONEq(t, string(stored.Spec.Provider.InfrastructureConfig.Raw), string(ours.Spec.Provider.InfrastructureConfig.Raw))
	assert.JSONEq(t, string(stored.Spec.Provider.ControlPlaneConfig.Raw), string(ours.Spec.Provider.ControlPlaneConfig.Raw))
	assert.Equal(t, stored.Spec.SystemComponents, ours.Spec.SystemComponents)
	assert.Empty(t, causes(call(t, newGarden(t), "shoot.aws", ours, nil)))
}

// TestShootDefaults_TooLarge has a document that is rejected before it is decoded.
func TestShootDefaults_TooLarge(t *testing.T) {
	large := newShoot(t, withoutDefaults, func(_ testing.TB, shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Provider.ControlPlaneConfig = &runtime.RawExtension{Raw: []byte(controlPlane + `"padding":"` + strings.Repeat("a", admission.MaxShootConfig) + `"}`)}
	})
	assert.Empty(t, call(t, &garden{}, "shootdefaults.aws", large, nil).Patch)
	reader := newGarden(t)
	assert.Equal(t, []string{"spec.provider.controlPlaneConfig: Too long: has 65641 bytes and may have 65536: shorten its lists and texts"},
		causes(call(t, reader, "shoot.aws", large, nil)))
	assert.Empty(t, reader.requests)
}
