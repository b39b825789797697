package admission

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// inControlPlane is the path of the configuration in a Shoot, inManila that of its Manila section.
const (
	inControlPlane = "spec.provider.controlPlaneConfig"
	inManila       = inControlPlane + ".storage.csiManila"
)

func testControlPlanes(t *testing.T, env *environment) {
	t.Run("Documents", func(t *testing.T) { env.validateNewShoots(t, controlPlaneDocuments()) })
	t.Run("LoadBalancers", func(t *testing.T) { env.validateNewShoots(t, loadBalancers()) })
	t.Run("Parts", func(t *testing.T) { env.validateNewShoots(t, controlPlaneParts()) })
	t.Run("Good", func(t *testing.T) { env.validateNewShoots(t, goodControlPlanes()) })
}

func controlPlaneRaw(text string) change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Provider.ControlPlaneConfig = &runtime.RawExtension{Raw: []byte(text)}
	}
}

// refers adds a reference to a Secret to the shoot.
func refers(name string) change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Resources = append(shoot.Spec.Resources, gardencorev1beta1.NamedResourceReference{
			Name: name, ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "manila"},
		})
	}
}

func controlPlaneDocuments() map[string]shootCase {
	return map[string]shootCase{
		"none at all": {
			func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Provider.ControlPlaneConfig = nil },
			[]expectedCause{{inControlPlane, "give one"}},
		},
		"a field that there is not": {controlPlane(`{loadbalancerProvider: amphora}`), []expectedCause{{inControlPlane, "correct the name or remove the field"}}},
		"another group":             {controlPlane(`{apiVersion: gcp.provider.extensions.gardener.cloud/v1alpha1}`), []expectedCause{{inControlPlane, "set apiVersion to openstack"}}},
		"a text":                    {controlPlaneRaw(`"amphora"`), []expectedCause{{inControlPlane, "not a JSON object"}}},
		"a switch in words":         {controlPlane(`{loadBalancer: {cascadeDelete: "on"}}`), []expectedCause{{inControlPlane, "must be true or false"}}},
	}
}

func loadBalancers() map[string]shootCase {
	classes := inControlPlane + ".loadBalancerClasses"
	return map[string]shootCase{
		"no provider":                       {controlPlane(`{loadBalancerProvider: ""}`), []expectedCause{{inControlPlane + ".loadBalancerProvider", "choose one of"}}},
		"a provider that nobody offers":     {controlPlane(`{loadBalancerProvider: f5}`), []expectedCause{{inControlPlane + ".loadBalancerProvider", `choose one of "amphora"`}}},
		"a provider of another region":      {controlPlane(`{loadBalancerProvider: ovn}`), []expectedCause{{inControlPlane + ".loadBalancerProvider", `choose one of "amphora"`}}},
		"the region has providers its own":  {inRegionTwo(controlPlane(`{loadBalancerProvider: amphora}`)), []expectedCause{{inControlPlane + ".loadBalancerProvider", `choose one of "ovn"`}}},
		"one class twice":                   {controlPlane(`{loadBalancerClasses: [{name: a}, {name: a}]}`), []expectedCause{{classes + "[1].name", "remove one of the two"}}},
		"one purpose twice":                 {controlPlane(`{loadBalancerClasses: [{name: a, purpose: private}, {name: b, purpose: private}]}`), []expectedCause{{classes + "[1].purpose", "remove it from one of the two"}}},
		"a purpose that only admins give":   {controlPlane(`{loadBalancerClasses: [{name: a, purpose: vpn}]}`), []expectedCause{{classes + "[0].purpose", `choose one of "default", "private"`}}},
		"a class without a name":            {controlPlane(`{loadBalancerClasses: [{name: ""}]}`), []expectedCause{{classes + "[0].name", "give the name"}}},
		"two selections of a subnet":        {controlPlane(`{loadBalancerClasses: [{name: a, floatingSubnetName: s, floatingSubnetTags: t}]}`), []expectedCause{{classes + "[0].floatingSubnetTags", "keep one of them"}}},
		"a subnet by its name":              {controlPlane(`{loadBalancerClasses: [{name: a, subnetID: mine}]}`), []expectedCause{{classes + "[0].subnetID", "not its name"}}},
		"an external network by its name":   {controlPlane(`{loadBalancerClasses: [{name: a, floatingNetworkID: public}]}`), []expectedCause{{classes + "[0].floatingNetworkID", "not its name"}}},
		"a pattern that is none":            {controlPlane(`{loadBalancerClasses: [{name: a, floatingSubnetName: "~("}]}`), []expectedCause{{classes + "[0].floatingSubnetName", "correct the regular expression"}}},
		"a class that the pool has not":     {all(infrastructure(`{floatingPoolName: sorted}`), controlPlane(`{loadBalancerClasses: [{name: a, subnetID: `+anotherUUID+`}]}`)), []expectedCause{{classes + "[0]", `take those of one of its classes "inside"`}}},
		"a flavor by its name":              {controlPlane(`{loadBalancer: {flavorID: large}}`), []expectedCause{{inControlPlane + ".loadBalancer.flavorID", "not its name"}}},
		"load balancers that nobody shares": {controlPlane(`{loadBalancer: {maxSharedLB: 0}}`), []expectedCause{{inControlPlane + ".loadBalancer.maxSharedLB", "at least 1"}}},
		"a suffix with a dot in front":      {controlPlane(`{loadBalancer: {ingressHostname: {enabled: true, suffix: .nip.io}}}`), []expectedCause{{inControlPlane + ".loadBalancer.ingressHostname.suffix", "without a dot in front"}}},
		"half a second between probes":      {controlPlane(`{loadBalancer: {monitor: {delay: 500ms}}}`), []expectedCause{{inControlPlane + ".loadBalancer.monitor.delay", "give whole seconds"}}},
		"too many retries":                  {controlPlane(`{loadBalancer: {monitor: {maxRetries: 11}}}`), []expectedCause{{inControlPlane + ".loadBalancer.monitor.maxRetries", "between 1 and 10"}}},
	}
}

// inRegionTwo moves the shoot, with all that depends on the region.
func inRegionTwo(others ...change) change {
	return all(append([]change{
		func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Region = "RegionTwo" },
		infrastructure(`{floatingPoolName: far}`), controlPlane(`{loadBalancerProvider: ovn}`),
	}, others...)...)
}

// controlPlaneParts has no errors that depend on the CloudProfile: those are reported after all others are corrected.
func controlPlaneParts() map[string]shootCase {
	addresses, gates := inControlPlane+".nodeAddresses", inControlPlane+".cloudControllerManager.featureGates"
	sharing := infrastructure(`{networks: {shareNetwork: {enabled: true}}}`)
	return map[string]shootCase{
		"a feature gate with a dash": {
			controlPlane(`{cloudControllerManager: {featureGates: {some-gate: true}}}`),
			[]expectedCause{{gates + "[some-gate]", "letters and digits"}, {gates + ".some-gate", "unknown feature gate"}},
		},
		"a feature gate that there is not":       {controlPlane(`{cloudControllerManager: {featureGates: {SomeGate: true}}}`), []expectedCause{{gates + ".SomeGate", "unknown feature gate"}}},
		"Manila without a share network":         {all(refers("manila"), controlPlane(`{storage: {csiManila: {enabled: true, credentialsRef: {name: manila}}}}`)), []expectedCause{{inManila + ".enabled", "set networks.shareNetwork.enabled to true"}}},
		"Manila without credentials of its own":  {all(sharing, controlPlane(`{storage: {csiManila: {enabled: true}}}`)), []expectedCause{{inManila + ".credentialsRef", "give the name of a Secret"}}},
		"Manila with credentials without a name": {all(sharing, controlPlane(`{storage: {csiManila: {enabled: true, credentialsRef: {name: ""}}}}`)), []expectedCause{{inManila + ".credentialsRef.name", "give the name of a Secret"}}},
		"Manila with a reference to nothing":     {all(sharing, refers("manila"), controlPlane(`{storage: {csiManila: {enabled: true, credentialsRef: {name: other}}}}`)), []expectedCause{{inManila + ".credentialsRef.name", "add it there, or correct the name"}}},
		"a network of nodes without a name":      {controlPlane(`{nodeAddresses: {publicNetworkNames: [""]}}`), []expectedCause{{addresses + ".publicNetworkNames[0]", "give the name of a network"}}},
		"a network that is public and internal":  {controlPlane(`{nodeAddresses: {publicNetworkNames: [a], internalNetworkNames: [a]}}`), []expectedCause{{addresses + ".internalNetworkNames[0]", "remove the name here"}}},
		"an order by what is no range":           {controlPlane(`{nodeAddresses: {sortOrder: [ten]}}`), []expectedCause{{addresses + ".sortOrder[0]", "CIDR notation"}}},
		"dual stack without addresses for it": {
			all(dualStack(), infrastructure(`{networks: {ipv6: {subnetPoolID: `+aUUID+`}}}`), controlPlane(`{nodeAddresses: {ipv6Disabled: true}}`)),
			[]expectedCause{{addresses + ".ipv6Disabled", "remove the field"}},
		},
		"errors in two configurations": {
			all(infrastructure(`{floatingPoolName: elsewhere}`), controlPlane(`{loadBalancerProvider: f5}`)),
			[]expectedCause{{inInfrastructure + ".floatingPoolName", "choose one of"}, {inControlPlane + ".loadBalancerProvider", "choose one of"}},
		},
	}
}

func goodControlPlanes() map[string]shootCase {
	return map[string]shootCase{
		"the provider of the region":        {inRegionTwo(), nil},
		"classes of one's own":              {controlPlane(`{loadBalancerClasses: [{name: a, purpose: default, floatingSubnetName: s}, {name: b, purpose: private, subnetID: ` + aUUID + `}]}`), nil},
		"a class of the pool, renamed":      {all(infrastructure(`{floatingPoolName: sorted}`), controlPlane(`{loadBalancerClasses: [{name: mine, subnetID: `+aUUID+`}]}`)), nil},
		"a feature gate":                    {controlPlane(`{cloudControllerManager: {featureGates: {CloudControllerManagerWatchBasedRoutesReconciliation: true}}}`), nil},
		"a zone, which has no effect":       {controlPlane(`{zone: nova}`), nil},
		"load balancers in all detail":      {controlPlane(`{loadBalancer: {availabilityZone: z, flavorID: ` + aUUID + `, maxSharedLB: 4, cascadeDelete: false, ingressHostname: {enabled: true, suffix: nip.io}, monitor: {delay: 10s, timeout: 5s, maxRetries: 3, maxRetriesDown: 3}}}`), nil},
		"addresses in an order":             {controlPlane(`{nodeAddresses: {publicNetworkNames: [a], internalNetworkNames: [b], sortOrder: [10.0.0.0/8]}}`), nil},
		"Manila with credentials, prepared": {all(refers("manila"), infrastructure(`{networks: {shareNetwork: {enabled: true}}}`), controlPlane(`{storage: {csiManila: {enabled: true, credentialsRef: {name: manila}}}}`)), nil},
		"Manila off":                        {controlPlane(`{storage: {csiManila: {enabled: false}}}`), nil},
	}
}
