package calico

import (
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/validation"
	"github.com/trellis-garden/trellis/apis/networking"
	"github.com/trellis-garden/trellis/internal/network"
)

// asShoot is the Shoot that a user typed for what the driver is told of it.
func asShoot(shoot *network.Shoot) *gardencorev1beta1.Shoot {
	typed := &gardencorev1beta1.Shoot{}
	typed.Spec.Networking = &gardencorev1beta1.Networking{
		Type: new(Type), ProviderConfig: shoot.Network.Spec.ProviderConfig, IPFamilies: network.GardenFamilies(shoot.Network.Spec.IPFamilies),
	}
	typed.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: &shoot.KubeProxy.Enabled, Mode: &shoot.KubeProxy.Mode}
	typed.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: shoot.VerticalAutoscaling}
	if len(shoot.NodeRanges) > 0 {
		typed.Status.Networking = &gardencorev1beta1.NetworkingStatus{Nodes: shoot.NodeRanges}
	}
	return typed
}

func messagesOf(errs field.ErrorList) []string {
	var messages []string
	for _, err := range errs {
		messages = append(messages, err.Error())
	}
	return messages
}

// Whatever the controller refuses is refused when it is typed, in the words in which the controller would have refused it. What admission
// accepts is deployed as it is written, or with warnings of all that is not.
func TestValidateShootNetwork_AgreesWithDriver(t *testing.T) {
	const noProxy, noIPv6 = "spec.kubernetes.kubeProxy.enabled: Forbidden: ", "spec.networking.ipFamilies: Forbidden: "
	refused, overridden := 0, 0
	for _, each := range matrix(t) {
		errs, warnings := validation.ValidateShootNetwork(asShoot(each.shoot), nil, each.shoot.Infrastructure)
		messages := messagesOf(errs)
		for _, err := range New().Validate(each.shoot) {
			assert.Contains(t, messages, err.Error(), each.sentence)
		}
		reason := refusal(each.shoot)
		assert.Equal(t, strings.Contains(reason, "has no IPv6"), slices.Contains(messages, noIPv6+each.shoot.Infrastructure.IPv6UnsupportedMessage()), each.sentence)
		assert.Equal(t, strings.Contains(reason, "no component routes Services"),
			slices.Contains(messages, noProxy+networking.KubeProxyRequiredMessage(Type, New().Capabilities(each.shoot).ServiceRouting)), each.sentence)
		if reason != "" {
			refused++
			assert.NotEmpty(t, messages, each.sentence)
			continue
		}
		decided, err := decide(each.shoot)
		require.NoError(t, err)
		if missing := overriddenWithoutWarning(decided.overridden, warnings); len(errs) > 0 {
			overridden++
			overlayWithIPv6 := strings.Contains(strings.Join(messages, ""), "overlay.enabled: Invalid value: true: packets of shoots with IPv6 are not wrapped")
			assert.True(t, overlayWithIPv6 || len(missing)+len(decided.messages) > 0, "%s: refused for nothing: %v", each.sentence, messages)
		} else {
			assert.Empty(t, missing, each.sentence)
		}
	}
	t.Logf("%d refused by both, %d for a wish", refused, overridden)
	assert.Greater(t, refused, 100)
}

// overriddenWithoutWarning returns what was overridden without a warning. It is no wish how an overlay is made, nor in which field a wish is found.
func overriddenWithoutWarning(overridden, warnings []string) []string {
	return slices.DeleteFunc(slices.Clone(overridden), func(sentence string) bool {
		_, words, _ := strings.Cut(sentence, " is ")
		return strings.HasPrefix(sentence, "ipv4.pool is vxlan instead of ipip: the infrastructure") ||
			slices.ContainsFunc(warnings, func(warning string) bool { return strings.HasSuffix(warning, " is "+words) })
	})
}

// A change for which the driver knows no way is refused when it is typed, in the driver's words, and no other change is.
func TestValidateShootNetwork_ChangesAgreeWithDriver(t *testing.T) {
	changes, refusals := 0, 0
	for _, infrastructureType := range []string{"openstack", "azure", "aws", "local"} {
		known := settingsCache{}
		for _, start := range moreVariants() {
			initial := known.get(t, infrastructureType, start, nil).form
			for _, goal := range moreVariants() {
				before, after := start.shoot(t, infrastructureType), goal.shoot(t, infrastructureType)
				wanted := known.get(t, infrastructureType, goal, &initial)
				refusal := newChange(initial, wanted.form, true, wanted).refusal()
				errs, _ := validation.ValidateShootNetwork(after, before, wanted.infrastructure)
				changes++
				switch {
				case refusal != "":
					refusals++
					reported := slices.ContainsFunc(errs, func(err *field.Error) bool { return err.Field+" "+err.Detail == refusal })
					assert.True(t, reported || refusedAsNew(t, after, wanted), "%s: %s -> %s: %s\n%v", infrastructureType, start.name, goal.name, refusal, errs)
				case !refusedAsNew(t, after, wanted):
					assert.Empty(t, errs, "%s: %s -> %s", infrastructureType, start.name, goal.name)
				}
			}
		}
	}
	t.Logf("%d changes, %d refused", changes, refusals)
	require.Greater(t, refusals, 50)
}

// refusedAsNew reports whether a shoot is refused for what it is, wherever it comes from.
func refusedAsNew(t *testing.T, shoot *gardencorev1beta1.Shoot, wanted *settings) bool {
	t.Helper()
	errs, _ := validation.ValidateShootNetwork(shoot, nil, wanted.infrastructure)
	return slices.ContainsFunc(errs, func(err *field.Error) bool {
		return !strings.Contains(err.Detail, "to which the cloud knows no routes")
	})
}

func (p variant) shoot(t *testing.T, infrastructureType string) *gardencorev1beta1.Shoot {
	t.Helper()
	return asShoot(shootOn(t, infrastructureType, p.config, p.variations...))
}

// moreVariants are places and more of them with two families.
func moreVariants() []variant {
	all := variants()
	for _, config := range []string{"", "overlay: {enabled: true}", "backend: none", "ipv4: {mode: Never}"} {
		all = append(all, variant{name: "both families {" + config + "}", config: config, variations: []variation{withFamilies(ipv4, ipv6)}})
	}
	return append(all, variant{name: "IPv6", config: "overlay: {enabled: false}", variations: []variation{withFamilies(ipv6)}})
}
