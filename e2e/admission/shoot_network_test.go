package admission

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"
)

// inNetwork is the path of the configuration in a Shoot.
const inNetwork = "spec.networking.providerConfig"

func testNetworks(t *testing.T, env *environment) {
	t.Run("Documents", func(t *testing.T) { env.validateNewShoots(t, networkDocuments()) })
	t.Run("Choices", func(t *testing.T) { env.validateNewShoots(t, networkChoices()) })
	t.Run("Wishes", func(t *testing.T) { env.validateNewShoots(t, networkOverrides()) })
	t.Run("Good", func(t *testing.T) { env.validateNewShoots(t, goodNetworks()) })
}

func networkRaw(text string) change {
	return networking(func(networking *gardencorev1beta1.Networking) {
		networking.ProviderConfig = &runtime.RawExtension{Raw: []byte(text)}
	})
}

func networkDocuments() map[string]shootCase {
	return map[string]shootCase{
		"a field that there is not": {network(`{overlays: {enabled: true}}`), []expectedCause{{inNetwork, "correct the name or remove the field"}}},
		"another group":             {network(`{apiVersion: cilium.networking.extensions.gardener.cloud/v1alpha1}`), []expectedCause{{inNetwork, "set apiVersion to calico"}}},
		"another kind":              {network(`{kind: NetworkStatus}`), []expectedCause{{inNetwork, "kind to NetworkConfig"}}},
		"a text":                    {networkRaw(`"overlay"`), []expectedCause{{inNetwork, "not a JSON object"}}},
		"a number without quotes":   {network(`{vethMTU: 1450}`), []expectedCause{{inNetwork, "must be a string"}}},
	}
}

func networkChoices() map[string]shootCase {
	return map[string]shootCase{
		"a backend that there is not":        {network(`{overlay: {enabled: false}, backend: brid}`), []expectedCause{{inNetwork + ".backend", "or remove the field"}}},
		"a way to give addresses":            {network(`{ipam: {type: dhcp}}`), []expectedCause{{inNetwork + ".ipam.type", "write host-local or calico-ipam"}}},
		"a range for addresses that is none": {network(`{ipam: {cidr: pods}}`), []expectedCause{{inNetwork + ".ipam.cidr", "write usePodCIDR, or a range"}}},
		"a range that is not canonical":      {network(`{ipam: {cidr: 100.96.0.1/11}}`), []expectedCause{{inNetwork + ".ipam.cidr", "write 100.96.0.0/11"}}},
		"a range of the other family":        {network(`{ipam: {cidr: "2001:db8::/64"}}`), []expectedCause{{inNetwork + ".ipam.cidr", "give a range of its own family"}}},
		"a pool that there is not":           {network(`{ipv4: {pool: gre}}`), []expectedCause{{inNetwork + ".ipv4.pool", "write ipip or vxlan"}}},
		"a mode that there is not":           {network(`{ipv4: {mode: Sometimes}}`), []expectedCause{{inNetwork + ".ipv4.mode", "or remove the field"}}},
		"a former mode that there is not":    {network(`{ipip: Sometimes}`), []expectedCause{{inNetwork + ".ipip", "or remove the field"}}},
		"a mode that VXLAN does not know":    {network(`{overlay: {enabled: true}, ipv4: {pool: vxlan, mode: CrossSubnet}}`), []expectedCause{{inNetwork + ".ipv4.mode", "use one of them"}}},
		"a family that the shoot has not":    {network(`{ipv6: {mode: Never}}`), []expectedCause{{inNetwork + ".ipv6", "add the family to spec.networking.ipFamilies"}}},
		"an MTU in words":                    {network(`{vethMTU: large}`), []expectedCause{{inNetwork + ".vethMTU", "write a number of bytes in quotes"}}},
		"an MTU that is none":                {network(`{vethMTU: "100"}`), []expectedCause{{inNetwork + ".vethMTU", "between 576 and 9216"}}},
		"a way to find addresses":            {network(`{ipv4: {autoDetectionMethod: second-found}}`), []expectedCause{{inNetwork + ".ipv4.autoDetectionMethod", "write first-found"}}},
		"nodes found in the other family":    {network(`{ipv4: {autoDetectionMethod: "cidr=2001:db8::/64"}}`), []expectedCause{{inNetwork + ".ipv4.autoDetectionMethod", "remove it there"}}},
		"the former field for it":            {network(`{ipAutodetectionMethod: "interface=("}`), []expectedCause{{inNetwork + ".ipAutodetectionMethod", "correct"}}},
		"a way to scale":                     {network(`{autoScaling: {mode: fast}}`), []expectedCause{{inNetwork + ".autoScaling.mode", "or remove the field"}}},
		"requests for something else":        {network(`{autoScaling: {mode: static, resources: {node: {gpu: 1}}}}`), []expectedCause{{inNetwork + ".autoScaling.resources.node.gpu", "only cpu and memory"}}},
		"requests for nothing":               {network(`{autoScaling: {mode: static, resources: {typha: {cpu: 0}}}}`), []expectedCause{{inNetwork + ".autoScaling.resources.typha.cpu", "raise or remove it"}}},
		"a way to treat loops":               {network(`{serviceLoopPrevention: Ignore}`), []expectedCause{{inNetwork + ".serviceLoopPrevention", "or remove the field"}}},
		"a name for no object":               {network(`{kubeAPIServerEndpoints: {enabled: true, name: Über}}`), []expectedCause{{inNetwork + ".kubeAPIServerEndpoints.name", "use lower-case letters"}}},
		"two errors are told at once":        {network(`{vethMTU: large, ipip: Sometimes}`), []expectedCause{{inNetwork + ".vethMTU", "write a number"}, {inNetwork + ".ipip", "or remove the field"}}},
	}
}

func networkOverrides() map[string]shootCase {
	withRanges := infrastructure(`{networks: {ipv6: {subnetPoolID: ` + aUUID + `}}}`)
	return map[string]shootCase{
		"nobody routes Services": {kubeProxy(false), []expectedCause{{"spec.kubernetes.kubeProxy.enabled", "set spec.networking.providerConfig.ebpfDataplane.enabled to true"}}},
		"nobody routes Services, and eBPF is expressly off": {
			all(kubeProxy(false), network(`{ebpfDataplane: {enabled: false}}`)),
			[]expectedCause{{"spec.kubernetes.kubeProxy.enabled", "or leave kube-proxy enabled"}},
		},
		// overlay.enabled takes precedence over them, as warnings say.
		"an overlay without a backend":    {network(`{overlay: {enabled: true}, backend: none}`), nil},
		"an overlay that wraps nothing":   {network(`{overlay: {enabled: true}, ipv4: {mode: Never}}`), nil},
		"the same in the former field":    {network(`{overlay: {enabled: true}, ipip: Never}`), nil},
		"no overlay, but packets wrapped": {network(`{overlay: {enabled: false}, ipv4: {mode: Always}}`), nil},
		"an overlay with IPv6": {
			all(dualStack(), withRanges, network(`{overlay: {enabled: true}}`)), []expectedCause{{inNetwork + ".overlay.enabled", "set it to false"}},
		},
		"VXLAN with IPv6": {
			all(dualStack(), withRanges, network(`{overlay: {enabled: false}, vxlan: {enabled: true}}`)),
			[]expectedCause{{inNetwork + ".vxlan.enabled", "remove the field"}},
		},
		"Calico's own addresses with IPv6": {
			all(dualStack(), withRanges, network(`{ipam: {type: calico-ipam}}`)), []expectedCause{{inNetwork + ".ipam.type", "use host-local"}},
		},
		"packets that Azure does not let through": {
			all(onAzure(), network(`{overlay: {enabled: true}, ipv4: {pool: ipip}}`)), []expectedCause{{inNetwork + ".ipv4.pool", "write that, or remove the field"}},
		},
	}
}

func kubeProxy(enabled bool) change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: &enabled}
	}
}

// onAzure makes it a shoot of another provider, which only the network's validation reads.
func onAzure() change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: v1beta1constants.CloudProfileReferenceKindCloudProfile, Name: azureProfile}
		shoot.Spec.CredentialsBindingName = new("azure")
		shoot.Spec.Provider.Type = "azure"
		shoot.Spec.Provider.InfrastructureConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"azure.example.org/v1","kind":"InfrastructureConfig"}`)}
		shoot.Spec.Provider.ControlPlaneConfig = nil
	}
}

func goodNetworks() map[string]shootCase {
	return map[string]shootCase{
		"nothing but what it is":           {network(`{}`), nil},
		"an overlay":                       {network(`{overlay: {enabled: true}}`), nil},
		"no overlay":                       {network(`{overlay: {enabled: false}}`), nil},
		"no overlay, the cloud knows ways": {network(`{overlay: {enabled: false, createPodRoutes: false}}`), nil},
		"VXLAN":                            {network(`{overlay: {enabled: true}, vxlan: {enabled: true}}`), nil},
		"no kube-proxy, but eBPF":          {all(kubeProxy(false), network(`{ebpfDataplane: {enabled: true}}`)), nil},
		"kube-proxy and eBPF":              {all(kubeProxy(true), network(`{ebpfDataplane: {enabled: true}}`)), nil},
		"encrypted":                        {network(`{wireguardEncryption: true}`), nil},
		"an MTU, found out":                {network(`{vethMTU: "0"}`), nil},
		"the parts that are optional":      {network(`{typha: {enabled: false}, birdExporter: {enabled: true}, multus: {enabled: true, installCNIPlugins: true}, serviceLoopPrevention: Reject}`), nil},
		"dual stack":                       {all(dualStack(), infrastructure(`{networks: {ipv6: {subnetPoolID: `+aUUID+`}}}`), network(`{ipv6: {sourceNATEnabled: true}}`)), nil},
		"on Azure, by VXLAN":               {all(onAzure(), network(`{overlay: {enabled: true}, vxlan: {enabled: true}}`)), nil},
	}
}
