package validation_test

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/apis/gardenet/validation"
	"github.com/trellis-garden/trellis/apis/networking"
)

const (
	configField   = "spec.networking.providerConfig"
	proxyField    = "spec.kubernetes.kubeProxy.enabled"
	routingField  = "spec.networking.providerConfig.serviceRouting.enabled"
	routing       = `"serviceRouting":{"enabled":true}`
	familiesField = "spec.networking.ipFamilies"

	overlayOn  = `"overlay":{"enabled":true}`
	overlayOff = `"overlay":{"enabled":false}`
)

func shootWith(config string, changes ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	shoot := &gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{
		Networking: &gardencorev1beta1.Networking{Type: new("gardenet"), ProviderConfig: raw(config)},
		Provider:   gardencorev1beta1.Provider{Workers: []gardencorev1beta1.Worker{{Name: "a"}}},
	}}
	for _, change := range changes {
		change(shoot)
	}
	return shoot
}

func withoutKubeProxy(shoot *gardencorev1beta1.Shoot) {
	// Gardener gives the mode a default even where kube-proxy is disabled.
	shoot.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(false), Mode: new(gardencorev1beta1.ProxyModeIPTables)}
}

func withProxyMode(mode gardencorev1beta1.ProxyMode) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(true), Mode: new(mode)}
	}
}

func inFamilies(families ...gardencorev1beta1.IPFamily) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Networking.IPFamilies = families }
}

func hibernated(shoot *gardencorev1beta1.Shoot) {
	shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
	shoot.Status.IsHibernated = true
}

func TestValidateShootNetwork_New(t *testing.T) {
	for sentence, test := range map[string]struct {
		shoot          *gardencorev1beta1.Shoot
		infrastructure string
		// want are a field and a part of its error, one after the other.
		want, warnings []string
	}{
		"nothing configured":       {shoot: shootWith("")},
		"kube-proxy with nftables": {shoot: shootWith("", withProxyMode(gardencorev1beta1.ProxyModeNFTables))},
		"no kube-proxy":            {shoot: shootWith("", withoutKubeProxy), want: []string{proxyField, "set spec.networking.providerConfig.serviceRouting.enabled to true, or leave kube-proxy enabled"}},
		"no kube-proxy, and gardenet is not to route Services": {
			shoot: shootWith(`"serviceRouting":{"enabled":false}`, withoutKubeProxy), want: []string{proxyField, "serviceRouting.enabled to true"},
		},
		"gardenet instead of kube-proxy": {shoot: shootWith(routing, withoutKubeProxy)},
		"gardenet besides kube-proxy":    {shoot: shootWith(routing), want: []string{routingField, "set it to false, or spec.kubernetes.kubeProxy.enabled to false"}},
		"gardenet besides kube-proxy that is enabled": {
			shoot: shootWith(routing, withProxyMode(gardencorev1beta1.ProxyModeNFTables)), want: []string{routingField, "kube-proxy routes Services already"},
		},
		"both families":                   {shoot: shootWith("", inFamilies(ipv4, ipv6))},
		"IPv6 on Azure":                   {shoot: shootWith("", inFamilies(ipv6)), infrastructure: "azure", want: []string{familiesField, "leave IPv6 out"}},
		"a family twice":                  {shoot: shootWith("", inFamilies(ipv4, ipv4)), want: []string{familiesField, "use [IPv4]"}},
		"an unknown field and one error":  {shoot: shootWith(`"gardenetCustomConfigField":1,"mtu":1`), want: []string{configField, "the fields are", configField + ".mtu", "choose a number"}},
		"what cannot be decoded":          {shoot: shootWith(`"mtu":"1"`), want: []string{configField, "mtu must be a whole number"}},
		"no overlay on a known cloud":     {shoot: shootWith(overlayOff)},
		"no overlay on an unknown cloud":  {shoot: shootWith(overlayOff), infrastructure: "ironcore", warnings: []string{`of which nothing is known on infrastructure "ironcore"`}},
		"routes of nodes":                 {shoot: shootWith(`"overlay":{"enabled":false,"createPodRoutes":true}`), warnings: []string{"NodesUnreachable"}},
		"routes of nodes on OpenStack":    {shoot: shootWith(`"overlay":{"enabled":false,"createPodRoutes":true}`), infrastructure: "openstack"},
		"no masquerading":                 {shoot: shootWith(`"masquerade":{"enabled":false}`)},
		"no masquerading with an overlay": {shoot: shootWith(overlayOn + `,"masquerade":{"enabled":false}`), warnings: []string{"masquerade.enabled is false"}},
		"no policies":                     {shoot: shootWith(`"networkPolicy":{"enabled":false}`), warnings: []string{"NetworkPolicies have no effect"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			infrastructure := networking.InfrastructureOf(orElse(test.infrastructure, "aws"))
			errs, warnings := validation.ValidateShootNetwork(test.shoot, nil, infrastructure)
			require.Len(t, errs, len(test.want)/2, "%v", errs)
			for i, err := range errs {
				assert.Equal(t, test.want[2*i], err.Field)
				assert.Contains(t, err.Error(), test.want[2*i+1])
			}
			require.Len(t, warnings, len(test.warnings))
			for i, warning := range warnings {
				assert.Contains(t, warning, test.warnings[i])
			}
			errs, warnings = validation.ValidateShootNetwork(test.shoot, test.shoot, infrastructure)
			require.Empty(t, errs, "what is there already is not refused")
			require.Empty(t, warnings, "nor told again")
		})
	}
}

func TestValidateShootNetwork_Update(t *testing.T) {
	const otherPort, otherPortOff = `"overlay":{"enabled":true,"vxlan":{"port":4790}}`, `"overlay":{"enabled":false,"vxlan":{"port":4790}}`
	const vxlan, again = configField + ".overlay.vxlan", "set id to 1 and port to 8472 again"
	for sentence, test := range map[string]struct {
		before, after  *gardencorev1beta1.Shoot
		infrastructure string
		want           []string
	}{
		"the overlay on":                            {before: shootWith(overlayOff), after: shootWith(overlayOn)},
		"the overlay off":                           {before: shootWith(overlayOn), after: shootWith(overlayOff)},
		"another port":                              {before: shootWith(overlayOn), after: shootWith(otherPort), want: []string{vxlan, again}},
		"another port, with the default":            {before: shootWith(""), after: shootWith(`"overlay":{"vxlan":{"port":4790}}`), infrastructure: "local", want: []string{vxlan, again}},
		"another port of an overlay that is off":    {before: shootWith(overlayOff), after: shootWith(otherPortOff)},
		"another port while it is switched on":      {before: shootWith(overlayOff), after: shootWith(otherPort)},
		"another port while it is switched off":     {before: shootWith(overlayOn), after: shootWith(otherPortOff)},
		"another port while hibernated":             {before: shootWith(overlayOn, hibernated), after: shootWith(otherPort, hibernated)},
		"another port while waking up":              {before: shootWith(overlayOn, hibernated), after: shootWith(otherPort), want: []string{vxlan, again}},
		"a second family":                           {before: shootWith(""), after: shootWith("", inFamilies(ipv4, ipv6))},
		"kube-proxy disabled":                       {before: shootWith(""), after: shootWith("", withoutKubeProxy), want: []string{proxyField, "leave kube-proxy enabled"}},
		"kube-proxy replaced":                       {before: shootWith(""), after: shootWith(routing, withoutKubeProxy)},
		"kube-proxy again":                          {before: shootWith(routing, withoutKubeProxy), after: shootWith("")},
		"kube-proxy again, and gardenet stays":      {before: shootWith(routing, withoutKubeProxy), after: shootWith(routing), want: []string{routingField, "set it to false"}},
		"gardenet does not route any more":          {before: shootWith(routing, withoutKubeProxy), after: shootWith("", withoutKubeProxy), want: []string{proxyField, "serviceRouting.enabled to true"}},
		"an old error with another change":          {before: shootWith(`"mtu":1`), after: shootWith(`"mtu":1,` + overlayOff)},
		"a second error":                            {before: shootWith(`"mtu":1`), after: shootWith(`"mtu":1,"ipam":{"type":"dhcp"}`), want: []string{configField + ".ipam.type", "write host-local"}},
		"a configuration that is repaired":          {before: shootWith(`"mtu":"1"`), after: shootWith(`"mtu":1400`)},
		"a configuration that cannot be read after": {before: shootWith(`"mtu":1400`), after: shootWith(`"mtu":"1"`), want: []string{configField, "mtu must be"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			errs, _ := validation.ValidateShootNetwork(test.after, test.before, networking.InfrastructureOf(orElse(test.infrastructure, "aws")))
			require.Len(t, errs, len(test.want)/2, "%v", errs)
			for i, err := range errs {
				assert.Equal(t, test.want[2*i], err.Field)
				assert.Contains(t, err.Error(), test.want[2*i+1])
			}
		})
	}
}

func TestValidateShootNetwork_NoConfiguration(t *testing.T) {
	before, after := shootWith(""), shootWith("mtu")
	before.Spec.Networking.ProviderConfig = nil
	after.Spec.Networking.ProviderConfig.Raw = []byte(strings.Repeat("[", 3))
	errs, _ := validation.ValidateShootNetwork(after, before, networking.InfrastructureOf("aws"))
	require.Len(t, errs, 1)
	assert.Equal(t, configField, errs[0].Field)
}
