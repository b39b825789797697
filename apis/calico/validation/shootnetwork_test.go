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

// shootWith returns a valid shoot with the given fields of a configuration, and changes.
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
		"an empty configuration": {shoot: shootWith(``)},
		"no configuration": {shoot: shootWith(``, func(shoot *gardencorev1beta1.Shoot) {
			shoot.Spec.Networking.ProviderConfig = nil
		})},
		"overlay disabled":                 {shoot: shootWith(overlayOff)},
		"overlay on Azure":                 {shoot: shootWith(overlayOn), infrastructure: "azure"},
		"dual stack":                       {shoot: shootWith(overlayOff, inFamilies(ipv4, ipv6))},
		"eBPF without kube-proxy":          {shoot: shootWith(`"ebpfDataplane":{"enabled":true}`, withoutKubeProxy)},
		"vpa, which the shoot has enabled": {shoot: shootWith(`"autoScaling":{"mode":"vpa"}`, withVPA)},
		"vpa, which the shoot has not":     {shoot: shootWith(`"autoScaling":{"mode":"vpa"}`), want: []string{configField + ".autoScaling.mode", "no vertical pod autoscaler"}},
		"invalid range of nodes":           {shoot: shootWith(``, func(shoot *gardencorev1beta1.Shoot) { *shoot.Spec.Networking.Nodes = "all" })},
		"a list":                           {shoot: shootWith(``, withConfig(`[]`)), want: []string{configField, "decoding NetworkConfig"}},
		"a number":                         {shoot: shootWith(``, withConfig(`1`)), want: []string{configField, "decoding NetworkConfig"}},
		"another kind":                     {shoot: shootWith(`"kind":"InfrastructureConfig"`), want: []string{configField, "set apiVersion to calico"}},
		"a string in place of an object":   {shoot: shootWith(`"overlay":"on"`), want: []string{configField, "overlay must be an object"}},
		"an unknown field":                 {shoot: shootWith(`"overlays":{}`), want: []string{configField, `unknown field "overlays": correct the name`}},
		"several errors":                   {shoot: shootWith(`"overlays":{},"backend":"bgp"`, withoutKubeProxy), want: []string{configField, "overlays", configField + ".backend", "write bird, none or vxlan", proxyField, "ebpfDataplane.enabled to true"}},
		"IPv6 on Azure":                    {shoot: shootWith(``, inFamilies(ipv6)), infrastructure: "azure", want: []string{familiesField, `on infrastructure "azure": leave IPv6 out`}},
		"IP-in-IP on Azure":                {shoot: shootWith(`"ipip":"Always"`), infrastructure: "azure", want: []string{configField + ".ipip", "would be Never: the infrastructure does not let"}},
		"an unknown infrastructure":        {shoot: shootWith(`"ipip":"Always"`, inFamilies(ipv4)), infrastructure: "ironcore"},
		"a mode with two errors":           {shoot: shootWith(`"ipv4":{"pool":"vxlan","mode":"CrossSubnet"}`), want: []string{configField + ".ipv4.mode", "VXLAN pools know Always and Never: use one of them"}},
		"calico-ipam and IPv6":             {shoot: shootWith(calicoIPAM, inFamilies(ipv4, ipv6)), want: []string{configField + ".ipam.type", "is for shoots with IPv4 alone"}},
		"calico-ipam, for which the cloud has no routes": {
			shoot: shootWith(overlayOff + `,` + calicoIPAM),
			want:  []string{configField + ".overlay.enabled", "to which the cloud knows no routes: set it to true"},
		},
		"the same with VXLAN": {
			shoot: shootWith(overlayOff + `,"vxlan":{"enabled":true}`),
			want:  []string{configField + ".overlay.enabled", "to which the cloud knows no routes: set it to true"},
		},
		"calico-ipam with pod routes": {shoot: shootWith(`"overlay":{"enabled":false,"createPodRoutes":true},` + calicoIPAM)},
		"calico-ipam on an infrastructure with routes": {
			shoot: shootWith(overlayOff + `,` + calicoIPAM), infrastructure: "openstack",
		},
		"a method of address detection": {
			shoot: shootWith(`"ipv4":{"autoDetectionMethod":"interface=eth0"}`),
			warnings: []string{
				configField + ".ipv4.autoDetectionMethod is cidr=10.250.0.0/16 instead of interface=eth0: the ranges of the nodes are known",
			},
		},
		"a method of address detection without known ranges": {
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
		"the families":    inFamilies(ipv6),
		"kube-proxy":      withoutKubeProxy,
		"the autoscaling": withConfig(`{"autoScaling":{"mode":"vpas"}}`),
		"the nodes' range": func(shoot *gardencorev1beta1.Shoot) {
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
		"host-local to calico-ipam":                        {before: shootWith(hostLocal), after: shootWith(calicoIPAM)},
		"calico-ipam to host-local":                        {before: shootWith(calicoIPAM), after: shootWith(hostLocal), want: []string{typeField, back}},
		"calico-ipam by VXLAN to host-local":               {before: shootWith(`"vxlan":{"enabled":true}`), after: shootWith(hostLocal), want: []string{typeField, back}},
		"calico-ipam by a VXLAN pool to host-local":        {before: shootWith(`"ipv4":{"pool":"vxlan"}`), after: shootWith(hostLocal), want: []string{typeField, back}},
		"calico-ipam to host-local while hibernated":       {before: shootWith(calicoIPAM, hibernated), after: shootWith(hostLocal, hibernated)},
		"calico-ipam to host-local while waking up":        {before: shootWith(calicoIPAM, hibernated), after: shootWith(hostLocal), want: []string{typeField, back}},
		"calico-ipam to host-local while being hibernated": {before: shootWith(calicoIPAM), after: shootWith(hostLocal, toBeHibernated), want: []string{typeField, back}},
		"calico-ipam removed":                              {before: shootWith(calicoIPAM), after: shootWith(``)},
		"VXLAN disabled":                                   {before: shootWith(`"vxlan":{"enabled":true}`), after: shootWith(`"vxlan":{"enabled":false}`)},
		"a VXLAN pool without encapsulation":               {before: shootWith(`"ipv4":{"pool":"vxlan","mode":"Never"}`), after: shootWith(hostLocal)},
		"overlay enabled":                                  {before: shootWith(overlayOff), after: shootWith(overlayOn)},
		"overlay enabled, with settings that apply without it": {
			before: shootWith(podRoutes), after: shootWith(`"overlay":{"enabled":true,"createPodRoutes":true}`),
		},
		"overlay and all other settings disabled": {
			before: shootWith(overlayOn), after: shootWith(overlayOff + `,"wireguardEncryption":true,"typha":{"enabled":false},"vethMTU":"1400"`),
		},
		"overlay disabled, with calico-ipam, for which the cloud has no routes": {
			before: shootWith(overlayOn + `,` + calicoIPAM), after: shootWith(overlayOff),
			want: []string{configField + ".overlay.enabled", "cannot be false in a shoot whose pods have addresses of calico-ipam"},
		},
		"overlay disabled, with calico-ipam and pod routes":                       {before: shootWith(overlayOn + `,` + calicoIPAM), after: shootWith(podRoutes)},
		"overlay disabled, with calico-ipam, on an infrastructure without routes": {before: shootWith(overlayOn + `,` + calicoIPAM), after: shootWith(overlayOff), infrastructure: "local"},
		"an error that existed before, with another change":                       {before: shootWith(overlayOff + `,` + calicoIPAM), after: shootWith(overlayOff + `,` + calicoIPAM + `,"vethMTU":"1400"`)},
		"IPv6 added with the overlay":                                             {before: shootWith(overlayOn), after: shootWith(overlayOn, both), want: []string{configField + ".overlay.enabled", "set it to false"}},
		"IPv6 added with the default overlay":                                     {before: shootWith(``), after: shootWith(``, both), want: []string{familiesField, notUnrouted}},
		"IPv6 added without routes of the infrastructure": {
			before: shootWith(`"backend":"none"`), after: shootWith(`"backend":"none"`, both),
		},
		"IPv6 added without the overlay":               {before: shootWith(overlayOff), after: shootWith(overlayOff, both)},
		"IPv6 added to calico-ipam that VXLAN enabled": {before: shootWith(`"vxlan":{"enabled":true}`), after: shootWith(overlayOff, both), want: []string{familiesField, "cannot contain IPv6 in a shoot whose pods have addresses of calico-ipam"}},
		"IPv6 removed":                                   {before: shootWith(overlayOff, both), after: shootWith(overlayOff)},
		"IPv6 added on Azure":                            {before: shootWith(overlayOff), after: shootWith(overlayOff, both), infrastructure: "azure", want: []string{familiesField, "leave IPv6 out"}},
		"kube-proxy disabled":                            {before: shootWith(``), after: shootWith(``, withoutKubeProxy), want: []string{proxyField, "leave kube-proxy enabled"}},
		"eBPF disabled without kube-proxy":               {before: shootWith(`"ebpfDataplane":{"enabled":true}`, withoutKubeProxy), after: shootWith(``, withoutKubeProxy), want: []string{proxyField, "leave kube-proxy enabled"}},
		"a setting without effect added":                 {before: shootWith(""), after: shootWith(lost), want: []string{configField + ".backend", "would be bird"}},
		"a setting without effect unchanged":             {before: shootWith(lost), after: shootWith(lost + `,"vethMTU":"1400"`)},
		"a second setting without effect added":          {before: shootWith(lost), after: shootWith(lost + `,"autoScaling":{"mode":"vpa"}`), want: []string{configField + ".autoScaling.mode", "would be cluster-proportional"}},
		"an unknown field unchanged":                     {before: shootWith(`"overlays":{}`), after: shootWith(`"overlays":{},"vethMTU":"1400"`)},
		"an unknown field unchanged, with another error": {before: shootWith(`"overlays":{},` + calicoIPAM), after: shootWith(`"overlays":{},` + hostLocal), want: []string{typeField, back}},
		"a second unknown field":                         {before: shootWith(`"overlays":{}`), after: shootWith(`"overlays":{},"mtu":1400`), want: []string{configField, `unknown field "mtu"`}},
		"an undecodable configuration repaired":          {before: shootWith(`"overlay":"on"`), after: shootWith(overlayOn)},
		"a configuration that becomes undecodable":       {before: shootWith(overlayOn), after: shootWith(`"overlay":"on"`), want: []string{configField, "overlay must be an object"}},
		"another undecodable configuration":              {before: shootWith(`"overlay":"on"`), after: shootWith(`"backend":{}`), want: []string{configField, "backend must be"}},
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
