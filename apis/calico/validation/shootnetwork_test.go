package validation_test

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/calico/validation"
	"github.com/trellis-garden/trellis/apis/networking"
)

// shootWith is an ordinary shoot with the given fields of a configuration, and changes.
func shootWith(config string, changes ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	shoot := &gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{
		Networking: &gardencorev1beta1.Networking{
			Type: new(networking.Calico), Nodes: new("10.250.0.0/16"),
			ProviderConfig: &runtime.RawExtension{Raw: []byte(`{` + config + `}`)},
		},
	}}
	for _, change := range changes {
		change(shoot)
	}
	return shoot
}

func inFamilies(list ...gardencorev1beta1.IPFamily) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Networking.IPFamilies = list }
}

func withoutKubeProxy(shoot *gardencorev1beta1.Shoot) {
	shoot.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(false)}
}

func hibernated(shoot *gardencorev1beta1.Shoot) {
	shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
	shoot.Status.IsHibernated = true
}

func toBeHibernated(shoot *gardencorev1beta1.Shoot) {
	shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
}

const (
	configField   = "spec.networking.providerConfig"
	familiesField = "spec.networking.ipFamilies"
	proxyField    = "spec.kubernetes.kubeProxy.enabled"

	overlayOn, overlayOff = `"overlay":{"enabled":true}`, `"overlay":{"enabled":false}`
	calicoIPAM            = `"ipam":{"type":"calico-ipam"}`
)

func TestValidateShootNetwork_Create(t *testing.T) {
	for sentence, test := range map[string]struct {
		shoot          *gardencorev1beta1.Shoot
		infrastructure string
		want           []string
		warnings       []string
	}{
		"nothing said": {shoot: shootWith(``)},
		"no configuration": {shoot: shootWith(``, func(shoot *gardencorev1beta1.Shoot) {
			shoot.Spec.Networking.ProviderConfig = nil
		})},
		"the overlay off":                     {shoot: shootWith(overlayOff)},
		"the overlay on Azure":                {shoot: shootWith(overlayOn), infrastructure: "azure"},
		"both families":                       {shoot: shootWith(overlayOff, inFamilies(ipv4, ipv6))},
		"eBPF without kube-proxy":             {shoot: shootWith(`"ebpfDataplane":{"enabled":true}`, withoutKubeProxy)},
		"vpa where there is one":              {shoot: shootWith(`"autoScaling":{"mode":"vpa"}`, withVPA)},
		"vpa where there is none":             {shoot: shootWith(`"autoScaling":{"mode":"vpa"}`), want: []string{configField + ".autoScaling.mode", "no vertical pod autoscaler"}},
		"what is no range of nodes":           {shoot: shootWith(``, func(shoot *gardencorev1beta1.Shoot) { *shoot.Spec.Networking.Nodes = "all" })},
		"a list":                              {shoot: shootWith(``, withConfig(`[]`)), want: []string{configField, "decoding NetworkConfig"}},
		"a number":                            {shoot: shootWith(``, withConfig(`1`)), want: []string{configField, "decoding NetworkConfig"}},
		"another kind":                        {shoot: shootWith(`"kind":"InfrastructureConfig"`), want: []string{configField, "set apiVersion to calico"}},
		"a text in place of an overlay":       {shoot: shootWith(`"overlay":"on"`), want: []string{configField, "overlay must be an object"}},
		"a field that there is not":           {shoot: shootWith(`"overlays":{}`), want: []string{configField, `unknown field "overlays": correct the name`}},
		"all errors at once":                  {shoot: shootWith(`"overlays":{},"backend":"bgp"`, withoutKubeProxy), want: []string{configField, "overlays", configField + ".backend", "write bird, none or vxlan", proxyField, "ebpfDataplane.enabled to true"}},
		"IPv6 on Azure":                       {shoot: shootWith(``, inFamilies(ipv6)), infrastructure: "azure", want: []string{familiesField, `on infrastructure "azure": leave IPv6 out`}},
		"IP-in-IP on Azure":                   {shoot: shootWith(`"ipip":"Always"`), infrastructure: "azure", want: []string{configField + ".ipip", "would be Never: the infrastructure does not let"}},
		"an infrastructure that nobody knows": {shoot: shootWith(`"ipip":"Always"`, inFamilies(ipv4)), infrastructure: "ironcore"},
		"a mode that is wrong in two ways":    {shoot: shootWith(`"ipv4":{"pool":"vxlan","mode":"CrossSubnet"}`), want: []string{configField + ".ipv4.mode", "VXLAN pools know Always and Never: use one of them"}},
		"calico-ipam and IPv6":                {shoot: shootWith(calicoIPAM, inFamilies(ipv4, ipv6)), want: []string{configField + ".ipam.type", "is for shoots with IPv4 alone"}},
		"calico-ipam, to which the cloud knows no routes": {
			shoot: shootWith(overlayOff + `,` + calicoIPAM),
			want:  []string{configField + ".overlay.enabled", "to which the cloud knows no routes: set it to true"},
		},
		"the same as VXLAN brings it": {
			shoot: shootWith(overlayOff + `,"vxlan":{"enabled":true}`),
			want:  []string{configField + ".overlay.enabled", "to which the cloud knows no routes: set it to true"},
		},
		"calico-ipam with pod routes": {shoot: shootWith(`"overlay":{"enabled":false,"createPodRoutes":true},` + calicoIPAM)},
		"calico-ipam where nodes have routes": {
			shoot: shootWith(overlayOff + `,` + calicoIPAM), infrastructure: "openstack",
		},
		"a way to find addresses": {
			shoot: shootWith(`"ipv4":{"autoDetectionMethod":"interface=eth0"}`),
			warnings: []string{
				configField + ".ipv4.autoDetectionMethod is cidr=10.250.0.0/16 instead of interface=eth0: the ranges of the nodes are known",
			},
		},
		"a way to find addresses where no range is known": {
			shoot: shootWith(`"ipv4":{"autoDetectionMethod":"interface=eth0"}`, func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Networking.Nodes = nil }),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			infrastructure := networking.InfrastructureOf(firstOf(test.infrastructure, "aws"))
			errs, warnings := validation.ValidateShootNetwork(test.shoot, nil, infrastructure)
			requireErrors(t, test.want, errs)
			require.Equal(t, test.warnings, warnings)

			errs, warnings = validation.ValidateShootNetwork(test.shoot, test.shoot, infrastructure)
			require.Empty(t, errs, "what is there already is not refused")
			require.Empty(t, warnings, "nor told again")
		})
	}
}

func TestValidateShootNetwork_Unchanged(t *testing.T) {
	infrastructure := networking.InfrastructureOf("aws")
	before := shootWith(`"ipv4":{"autoDetectionMethod":"interface=` + strings.Repeat("[^a]{1000}", 20) + `"}`)
	after := before.DeepCopy()
	after.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting)
	require.Less(t, testing.AllocsPerRun(3, func() { validation.ValidateShootNetwork(after, before, infrastructure) }), 50.0)
	for sentence, change := range map[string]func(*gardencorev1beta1.Shoot){
		"the families": inFamilies(ipv6),
		"kube-proxy":   withoutKubeProxy,
		"the scaling":  withConfig(`{"autoScaling":{"mode":"vpas"}}`),
		"where nodes are": func(shoot *gardencorev1beta1.Shoot) {
			withConfig(`{"autoScaling":{"mode":"vpas"}}`)(shoot)
			shoot.Spec.Networking.Nodes = new("10.251.0.0/16")
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			after := before.DeepCopy()
			change(after)
			errs, _ := validation.ValidateShootNetwork(after, before, networking.InfrastructureOf("azure"))
			require.NotEmpty(t, errs)
		})
	}
}

func withVPA(shoot *gardencorev1beta1.Shoot) {
	shoot.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: true}
}

func withConfig(raw string) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Networking.ProviderConfig.Raw = []byte(raw) }
}

func firstOf(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func TestValidateShootNetwork_Update(t *testing.T) {
	const (
		back        = "cannot go from calico-ipam back to host-local, which would give away addresses that pods have: set it to calico-ipam"
		typeField   = configField + ".ipam.type"
		podRoutes   = `"overlay":{"enabled":false,"createPodRoutes":true}`
		hostLocal   = `"ipam":{"type":"host-local"}`
		lost        = `"backend":"vxlan","ipv4":{"pool":"ipip"}`
		notUnrouted = "cannot get a second family while nobody would make routes"
	)
	both := inFamilies(ipv4, ipv6)
	for sentence, test := range map[string]struct {
		before, after  *gardencorev1beta1.Shoot
		infrastructure string
		want           []string
	}{
		"host-local to calico-ipam":               {before: shootWith(hostLocal), after: shootWith(calicoIPAM)},
		"back from it":                            {before: shootWith(calicoIPAM), after: shootWith(hostLocal), want: []string{typeField, back}},
		"back from it as VXLAN brought it":        {before: shootWith(`"vxlan":{"enabled":true}`), after: shootWith(hostLocal), want: []string{typeField, back}},
		"back from it as a VXLAN pool brought it": {before: shootWith(`"ipv4":{"pool":"vxlan"}`), after: shootWith(hostLocal), want: []string{typeField, back}},
		"back from it where there are no nodes":   {before: shootWith(calicoIPAM, hibernated), after: shootWith(hostLocal, hibernated)},
		"back from it and waking up":              {before: shootWith(calicoIPAM, hibernated), after: shootWith(hostLocal), want: []string{typeField, back}},
		"back from it and being hibernated":       {before: shootWith(calicoIPAM), after: shootWith(hostLocal, toBeHibernated), want: []string{typeField, back}},
		"no longer saying it":                     {before: shootWith(calicoIPAM), after: shootWith(``)},
		"VXLAN off":                               {before: shootWith(`"vxlan":{"enabled":true}`), after: shootWith(`"vxlan":{"enabled":false}`)},
		"a VXLAN pool that wrapped nothing":       {before: shootWith(`"ipv4":{"pool":"vxlan","mode":"Never"}`), after: shootWith(hostLocal)},
		"the overlay on":                          {before: shootWith(overlayOff), after: shootWith(overlayOn)},
		"the overlay on, and what was for off left": {
			before: shootWith(podRoutes), after: shootWith(`"overlay":{"enabled":true,"createPodRoutes":true}`),
		},
		"the overlay off and everything else": {
			before: shootWith(overlayOn), after: shootWith(overlayOff + `,"wireguardEncryption":true,"typha":{"enabled":false},"vethMTU":"1400"`),
		},
		"the overlay off, and the cloud knows no routes to calico-ipam's": {
			before: shootWith(overlayOn + `,` + calicoIPAM), after: shootWith(overlayOff),
			want: []string{configField + ".overlay.enabled", "cannot be false in a shoot whose pods have addresses of calico-ipam"},
		},
		"the same with pod routes":              {before: shootWith(overlayOn + `,` + calicoIPAM), after: shootWith(podRoutes)},
		"the same where no cloud has routes":    {before: shootWith(overlayOn + `,` + calicoIPAM), after: shootWith(overlayOff), infrastructure: "local"},
		"a shoot that lives with it goes on":    {before: shootWith(overlayOff + `,` + calicoIPAM), after: shootWith(overlayOff + `,` + calicoIPAM + `,"vethMTU":"1400"`)},
		"IPv6 joins where the overlay is on":    {before: shootWith(overlayOn), after: shootWith(overlayOn, both), want: []string{configField + ".overlay.enabled", "set it to false"}},
		"IPv6 joins where the overlay is unset": {before: shootWith(``), after: shootWith(``, both), want: []string{familiesField, notUnrouted}},
		"IPv6 joins where nobody made routes before": {
			before: shootWith(`"backend":"none"`), after: shootWith(`"backend":"none"`, both),
		},
		"IPv6 joins where the overlay is off":    {before: shootWith(overlayOff), after: shootWith(overlayOff, both)},
		"IPv6 joins calico-ipam that VXLAN left": {before: shootWith(`"vxlan":{"enabled":true}`), after: shootWith(overlayOff, both), want: []string{familiesField, "cannot contain IPv6 in a shoot whose pods have addresses of calico-ipam"}},
		"IPv6 leaves":                            {before: shootWith(overlayOff, both), after: shootWith(overlayOff)},
		"IPv6 joins on Azure":                    {before: shootWith(overlayOff), after: shootWith(overlayOff, both), infrastructure: "azure", want: []string{familiesField, "leave IPv6 out"}},
		"kube-proxy goes":                        {before: shootWith(``), after: shootWith(``, withoutKubeProxy), want: []string{proxyField, "leave kube-proxy enabled"}},
		"eBPF goes where there is no kube-proxy": {before: shootWith(`"ebpfDataplane":{"enabled":true}`, withoutKubeProxy), after: shootWith(``, withoutKubeProxy), want: []string{proxyField, "leave kube-proxy enabled"}},
		"a wish that is not fulfilled joins":     {before: shootWith(""), after: shootWith(lost), want: []string{configField + ".backend", "would be bird"}},
		"one that was there stays":               {before: shootWith(lost), after: shootWith(lost + `,"vethMTU":"1400"`)},
		"one that was there is joined by one":    {before: shootWith(lost), after: shootWith(lost + `,"autoScaling":{"mode":"vpa"}`), want: []string{configField + ".autoScaling.mode", "would be cluster-proportional"}},
		"an unknown field stays":                 {before: shootWith(`"overlays":{}`), after: shootWith(`"overlays":{},"vethMTU":"1400"`)},
		"beside one that stays all else is read": {before: shootWith(`"overlays":{},` + calicoIPAM), after: shootWith(`"overlays":{},` + hostLocal), want: []string{typeField, back}},
		"an unknown field joins another one":     {before: shootWith(`"overlays":{}`), after: shootWith(`"overlays":{},"mtu":1400`), want: []string{configField, `unknown field "mtu"`}},
		"what could not be read is repaired":     {before: shootWith(`"overlay":"on"`), after: shootWith(overlayOn)},
		"what could be read no longer can":       {before: shootWith(overlayOn), after: shootWith(`"overlay":"on"`), want: []string{configField, "overlay must be an object"}},
		"another one cannot be read":             {before: shootWith(`"overlay":"on"`), after: shootWith(`"backend":{}`), want: []string{configField, "backend must be"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			infrastructure := networking.InfrastructureOf(firstOf(test.infrastructure, "aws"))
			errs, _ := validation.ValidateShootNetwork(test.after, test.before, infrastructure)
			requireErrors(t, test.want, errs)
		})
	}
}

func TestValidateShootNetwork_ErrorFields(t *testing.T) {
	errs, _ := validation.ValidateShootNetwork(
		shootWith(`"overlay":{"enabled":true},"backend":"none","ipip":"Never","vethMTU":"1","ipam":{"cidr":"2001:db8::/32"}`, inFamilies(ipv4, ipv6)), nil,
		networking.InfrastructureOf("azure"))
	require.NotEmpty(t, errs)
	for _, err := range errs {
		require.True(t, strings.HasPrefix(err.Field, "spec."), err.Field)
		require.Contains(t, err.Error(), ": ", "a remedy follows")
	}
}
