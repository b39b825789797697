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

// asTyped is the Shoot that a user typed for what the driver is told of it.
func asTyped(shoot *network.Shoot) *gardencorev1beta1.Shoot {
	typed := &gardencorev1beta1.Shoot{}
	typed.Spec.Networking = &gardencorev1beta1.Networking{
		Type: new(Type), ProviderConfig: shoot.Network.Spec.ProviderConfig, IPFamilies: familiesOf(shoot.Network.Spec.IPFamilies),
	}
	typed.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: &shoot.KubeProxy.Enabled, Mode: &shoot.KubeProxy.Mode}
	typed.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: shoot.VerticalAutoscaling}
	if len(shoot.NodeRanges) > 0 {
		typed.Status.Networking = &gardencorev1beta1.NetworkingStatus{Nodes: shoot.NodeRanges}
	}
	return typed
}

func wordsOf(errs field.ErrorList) []string {
	var words []string
	for _, err := range errs {
		words = append(words, err.Error())
	}
	return words
}

// Whatever the controller refuses is refused when it is typed, in the words in which the controller would have refused it. What admission
// accepts is deployed as it is written, or with warnings of all that is not.
func TestAdmissionAgrees(t *testing.T) {
	const noProxy, noIPv6 = "spec.kubernetes.kubeProxy.enabled: Forbidden: ", "spec.networking.ipFamilies: Forbidden: "
	refused, wishes := 0, 0
	for _, each := range matrix(t) {
		errs, warnings := validation.ValidateShootNetwork(asTyped(each.shoot), nil, each.shoot.Infrastructure)
		words := wordsOf(errs)
		for _, err := range New().Validate(each.shoot) {
			assert.Contains(t, words, err.Error(), each.sentence)
		}
		reason := refusal(each.shoot)
		assert.Equal(t, strings.Contains(reason, "has no IPv6"), slices.Contains(words, noIPv6+each.shoot.Infrastructure.WithoutIPv6()), each.sentence)
		assert.Equal(t, strings.Contains(reason, "nobody routes Services"),
			slices.Contains(words, noProxy+networking.WithoutKubeProxy(Type, New().Capabilities(each.shoot).ServiceRouting)), each.sentence)
		if reason != "" {
			refused++
			assert.NotEmpty(t, words, each.sentence)
			continue
		}
		decided, err := decide(each.shoot)
		require.NoError(t, err)
		if untold := untold(decided.overridden, warnings); len(errs) > 0 {
			wishes++
			overlayWithIPv6 := strings.Contains(strings.Join(words, ""), "overlay.enabled: Invalid value: true: packets of shoots with IPv6 are not wrapped")
			assert.True(t, overlayWithIPv6 || len(untold)+len(decided.remarks) > 0, "%s: refused for nothing: %v", each.sentence, words)
		} else {
			assert.Empty(t, untold, each.sentence)
		}
	}
	t.Logf("%d refused by both, %d for a wish", refused, wishes)
	assert.Greater(t, refused, 100)
}

// untold returns what was overridden without a warning. It is no wish how an overlay is made, nor in which field a wish is found.
func untold(overridden, warnings []string) []string {
	return slices.DeleteFunc(slices.Clone(overridden), func(sentence string) bool {
		_, words, _ := strings.Cut(sentence, " is ")
		return strings.HasPrefix(sentence, "ipv4.pool is vxlan instead of ipip: the infrastructure") ||
			slices.ContainsFunc(warnings, func(warning string) bool { return strings.HasSuffix(warning, " is "+words) })
	})
}

// A change for which the driver knows no way is refused when it is typed, in the driver's words, and no other change is.
func TestAdmissionAgreesOnChanges(t *testing.T) {
	ways, refusals := 0, 0
	for _, infrastructureType := range []string{"openstack", "azure", "aws", "local"} {
		known := atlas{}
		for _, start := range roads() {
			initial := known.at(t, infrastructureType, start, nil).form
			for _, goal := range roads() {
				before, after := start.typed(t, infrastructureType), goal.typed(t, infrastructureType)
				wanted := known.at(t, infrastructureType, goal, &initial)
				refusal := newChange(initial, wanted.form, true, wanted).refusal()
				errs, _ := validation.ValidateShootNetwork(after, before, wanted.infrastructure)
				ways++
				switch {
				case refusal != "":
					refusals++
					told := slices.ContainsFunc(errs, func(err *field.Error) bool { return err.Field+" "+err.Detail == refusal })
					assert.True(t, told || refusedAsNew(t, after, wanted), "%s: %s -> %s: %s\n%v", infrastructureType, start.name, goal.name, refusal, errs)
				case !refusedAsNew(t, after, wanted):
					assert.Empty(t, errs, "%s: %s -> %s", infrastructureType, start.name, goal.name)
				}
			}
		}
	}
	t.Logf("%d changes, %d refused", ways, refusals)
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

func (p place) typed(t *testing.T, infrastructureType string) *gardencorev1beta1.Shoot {
	t.Helper()
	return asTyped(shootOn(t, infrastructureType, p.config, p.variations...))
}

// roads are places and more of them with two families.
func roads() []place {
	all := places()
	for _, config := range []string{"", "overlay: {enabled: true}", "backend: none", "ipv4: {mode: Never}"} {
		all = append(all, place{name: "both families {" + config + "}", config: config, variations: []variation{withFamilies(ipv4, ipv6)}})
	}
	return append(all, place{name: "IPv6", config: "overlay: {enabled: false}", variations: []variation{withFamilies(ipv6)}})
}
