package admission

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inProfile is the path of the configuration in a CloudProfile.
const inProfile = "spec.providerConfig"

// profileCase is a CloudProfile that differs from a valid one.
type profileCase struct {
	change     func(*gardencorev1beta1.CloudProfile)
	wantCauses []expectedCause
}

func offer(fields string) func(*gardencorev1beta1.CloudProfile) {
	return func(profile *gardencorev1beta1.CloudProfile) {
		profile.Spec.ProviderConfig = merged(profile.Spec.ProviderConfig, openstackGroup, "CloudProfileConfig", fields)
	}
}

func testCloudProfiles(t *testing.T, env *environment) {
	for name, cases := range map[string]map[string]profileCase{
		"Documents": profileDocuments(), "Clouds": profileClouds(), "Offers": profileOffers(), "Images": profileImages(),
	} {
		t.Run(name, func(t *testing.T) {
			for sentence, tt := range cases {
				t.Run(sentence, func(t *testing.T) {
					profile := newCloudProfile("new")
					tt.change(profile)
					assertResult(t, env.Client.Create(t.Context(), profile, client.DryRunAll), tt.wantCauses)
				})
			}
		})
	}
	t.Run("Updates", func(t *testing.T) { testProfileUpdates(t, env) })
}

func testProfileUpdates(t *testing.T, env *environment) {
	require.NoError(t, env.Client.Create(t.Context(), newCloudProfile("changing")))
	for sentence, tt := range map[string]profileCase{
		"another URL":                {offer(`{keystoneURL: https://elsewhere.example.org/v3}`), nil},
		"a pool less":                {offer(`{constraints: {floatingPools: [{name: public}]}}`), nil},
		"no pool at all":             {offer(`{constraints: {floatingPools: []}}`), []expectedCause{{inProfile + ".constraints.floatingPools", "at least one"}}},
		"an image that nobody finds": {addImage("suse", "1.0.0"), []expectedCause{{inProfile + ".machineImages", "suse"}}},
		"labels":                     {func(profile *gardencorev1beta1.CloudProfile) { profile.Labels = map[string]string{"a": "b"} }, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			profile := &gardencorev1beta1.CloudProfile{}
			require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Name: "changing"}, profile))
			tt.change(profile)
			assertResult(t, env.update(t, profile, client.DryRunAll), tt.wantCauses)
		})
	}
}

func profileDocuments() map[string]profileCase {
	return map[string]profileCase{
		"as it should be": {offer(`{}`), nil},
		"none at all": {
			func(profile *gardencorev1beta1.CloudProfile) { profile.Spec.ProviderConfig = nil }, []expectedCause{{inProfile, "give one"}},
		},
		"a field that there is not": {offer(`{constraint: {}}`), []expectedCause{{inProfile, "correct the name or remove the field"}}},
		"another group":             {offer(`{apiVersion: aws.provider.extensions.gardener.cloud/v1alpha1}`), []expectedCause{{inProfile, "set apiVersion to openstack"}}},
		"a text": {
			func(profile *gardencorev1beta1.CloudProfile) {
				profile.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`"public"`)}
			},
			[]expectedCause{{inProfile, "not a JSON object"}},
		},
		"another provider's": {
			func(profile *gardencorev1beta1.CloudProfile) {
				profile.Spec.Type, profile.Spec.ProviderConfig = "azure", &runtime.RawExtension{Raw: []byte(`{"whatever":true}`)}
			}, nil,
		},
	}
}

func profileClouds() map[string]profileCase {
	return map[string]profileCase{
		"nowhere to log in": {offer(`{keystoneURL: null}`), []expectedCause{{inProfile + ".keystoneURL", "keystoneURLs"}}},
		"nowhere to log in for a region": {
			offer(`{keystoneURL: null, keystoneURLs: [{region: RegionOne, url: "https://a.example.org/v3"}]}`), []expectedCause{{inProfile + ".keystoneURLs", `region "RegionTwo"`}},
		},
		"a URL that is none":           {offer(`{keystoneURL: keystone}`), []expectedCause{{inProfile + ".keystoneURL", "https://"}}},
		"a region's URL that is none":  {offer(`{keystoneURLs: [{region: RegionOne, url: keystone}]}`), []expectedCause{{inProfile + ".keystoneURLs[0].url", "https://"}}},
		"one region twice":             {offer(`{keystoneURLs: [{region: RegionOne, url: "https://a.example.org"}, {region: RegionOne, url: "https://b.example.org"}]}`), []expectedCause{{inProfile + ".keystoneURLs[1].region", "remove one of the two"}}},
		"a URL for each region":        {offer(`{keystoneURL: null, keystoneURLs: [{region: RegionOne, url: "https://a.example.org/v3"}, {region: RegionTwo, url: "https://b.example.org/v3"}]}`), nil},
		"a CA that is none":            {offer(`{keystoneCACert: trust me}`), []expectedCause{{inProfile + ".keystoneCACert", "PEM"}}},
		"a region's CA that is none":   {offer(`{keystoneURLs: [{region: RegionOne, url: "https://a.example.org", caCert: trust me}]}`), []expectedCause{{inProfile + ".keystoneURLs[0].caCert", "PEM"}}},
		"a DNS server by its name":     {offer(`{dnsServers: [8.8.8.8, dns.example.org]}`), []expectedCause{{inProfile + ".dnsServers[1]", "IP address"}}},
		"DNS servers of both families": {offer(`{dnsServers: [8.8.8.8, "2001:4860:4860::8888"]}`), nil},
		"no time for any call":         {offer(`{requestTimeout: 0s}`), []expectedCause{{inProfile + ".requestTimeout", "give a duration like 60s"}}},
		"an option in two words":       {offer(`{resolvConfOptions: ["timeout 1"]}`), []expectedCause{{inProfile + ".resolvConfOptions[0]", "without white space"}}},
	}
}

func profileOffers() map[string]profileCase {
	pools, providers := inProfile+".constraints.floatingPools", inProfile+".constraints.loadBalancerProviders"
	classes := inProfile + ".storageClasses"
	return map[string]profileCase{
		"no pools":                          {offer(`{constraints: {floatingPools: []}}`), []expectedCause{{pools, "at least one"}}},
		"a pool without a name":             {offer(`{constraints: {floatingPools: [{name: ""}]}}`), []expectedCause{{pools + "[0].name", "give"}}},
		"one pool twice":                    {offer(`{constraints: {floatingPools: [{name: a}, {name: a}]}}`), []expectedCause{{pools + "[1].name", "remove one of the two"}}},
		"one pool twice for a region":       {offer(`{constraints: {floatingPools: [{name: a, region: r}, {name: a, region: r}]}}`), []expectedCause{{pools + "[1].name", "remove one of the two"}}},
		"one pool for two regions":          {offer(`{constraints: {floatingPools: [{name: a, region: RegionOne}, {name: a, region: RegionTwo}]}}`), nil},
		"a subnet's pattern that is none":   {offer(`{constraints: {floatingPools: [{name: a, defaultFloatingSubnet: "~("}]}}`), []expectedCause{{pools + "[0].defaultFloatingSubnet", "correct the regular expression"}}},
		"a purpose that there is not":       {offer(`{constraints: {floatingPools: [{name: a, loadBalancerClasses: [{name: c, purpose: public}]}]}}`), []expectedCause{{pools + "[0].loadBalancerClasses[0].purpose", `"vpn"`}}},
		"a purpose that only admins give":   {offer(`{constraints: {floatingPools: [{name: a, loadBalancerClasses: [{name: c, purpose: vpn}]}]}}`), nil},
		"no providers of load balancers":    {offer(`{constraints: {loadBalancerProviders: []}}`), []expectedCause{{providers, "give at least one"}}},
		"a provider without a name":         {offer(`{constraints: {loadBalancerProviders: [{name: ""}]}}`), []expectedCause{{providers + "[0].name", "give the name"}}},
		"a policy that Nova does not know":  {offer(`{serverGroupPolicies: [apart]}`), []expectedCause{{inProfile + ".serverGroupPolicies[0]", "soft-anti-affinity"}}},
		"more volumes than any driver has":  {offer(`{nodeVolumeAttachLimit: 257}`), []expectedCause{{inProfile + ".nodeVolumeAttachLimit", "between 1 and 256"}}},
		"one storage class twice":           {offer(`{storageClasses: [{name: a}, {name: a}]}`), []expectedCause{{classes + "[1].name", "remove one of the two"}}},
		"two default storage classes":       {offer(`{storageClasses: [{name: a, default: true}, {name: b, default: true}]}`), []expectedCause{{classes + "[1].default", "keep one of the two"}}},
		"a storage class by no name":        {offer(`{storageClasses: [{name: My_Class}]}`), []expectedCause{{classes + "[0].name", "lower-case letters"}}},
		"a reclaim policy that there isn't": {offer(`{storageClasses: [{name: a, reclaimPolicy: Recycle}]}`), []expectedCause{{classes + "[0].reclaimPolicy", `"Delete", "Retain"`}}},
		"storage classes":                   {offer(`{storageClasses: [{name: a, default: true, reclaimPolicy: Retain}, {name: b, volumeBindingMode: Immediate}]}`), nil},
	}
}

// addImage adds a machine image to Gardener's list, without its names in OpenStack.
func addImage(name string, versions ...string) func(*gardencorev1beta1.CloudProfile) {
	return func(profile *gardencorev1beta1.CloudProfile) {
		image := profile.Spec.MachineImages[0].DeepCopy()
		image.Name, image.Versions = name, nil
		for _, version := range versions {
			like := profile.Spec.MachineImages[0].Versions[0].DeepCopy()
			like.Version, like.InPlaceUpdates = version, nil
			image.Versions = append(image.Versions, *like)
		}
		profile.Spec.MachineImages = append(profile.Spec.MachineImages, *image)
	}
}

func both(changes ...func(*gardencorev1beta1.CloudProfile)) func(*gardencorev1beta1.CloudProfile) {
	return func(profile *gardencorev1beta1.CloudProfile) {
		for _, change := range changes {
			change(profile)
		}
	}
}

func profileImages() map[string]profileCase {
	images := inProfile + ".machineImages"
	known := `{name: gardenlinux, versions: [{version: ` + newerImage + `, image: gl-3}, {version: ` + olderImage + `, image: gl-2}]}`
	return map[string]profileCase{
		"an image that nobody finds":   {addImage("suse", "1.0.0"), []expectedCause{{images, "suse"}}},
		"a version that nobody finds":  {both(addImage("suse", "1.0.0", "1.1.0"), offer(`{machineImages: [`+known+`, {name: suse, versions: [{version: 1.0.0, image: s}]}]}`)), []expectedCause{{images, "suse 1.1.0"}}},
		"an image that all find":       {both(addImage("suse", "1.0.0"), offer(`{machineImages: [`+known+`, {name: suse, versions: [{version: 1.0.0, image: s}]}]}`)), nil},
		"an image by ID in a region":   {both(addImage("suse", "1.0.0"), offer(`{machineImages: [`+known+`, {name: suse, versions: [{version: 1.0.0, regions: [{name: RegionOne, id: `+aUUID+`}, {name: RegionTwo, id: `+anotherUUID+`}]}]}]}`)), nil},
		"an image without any version": {offer(`{machineImages: [` + known + `, {name: suse, versions: []}]}`), []expectedCause{{images + "[1].versions", "at least one"}}},
		"an image without a name":      {offer(`{machineImages: [` + known + `, {name: "", versions: [{version: 1.0.0, image: s}]}]}`), []expectedCause{{images + "[1].name", "give"}}},
		"a region without an ID":       {both(addImage("suse", "1.0.0"), offer(`{machineImages: [`+known+`, {name: suse, versions: [{version: 1.0.0, regions: [{name: RegionOne, id: ""}, {name: RegionTwo, id: `+aUUID+`}]}]}]}`)), []expectedCause{{images + "[1].versions[0].regions[0].id", "give the ID"}}},
		"an architecture unheard of": {
			both(addImage("suse", "1.0.0"), offer(`{machineImages: [`+known+`, {name: suse, versions: [{version: 1.0.0, image: s, regions: [{name: RegionOne, id: `+aUUID+`}, {name: RegionTwo, id: `+aUUID+`, architecture: vax}]}]}]}`)),
			[]expectedCause{{images + "[1].versions[0].regions[1].architecture", "choose one of"}},
		},
		"one image twice, which nobody minds": {offer(`{machineImages: [` + known + `, ` + known + `]}`), nil},
		"an ID in a region that is a name":    {both(addImage("suse", "1.0.0"), offer(`{machineImages: [`+known+`, {name: suse, versions: [{version: 1.0.0, image: s, regions: [{name: RegionOne, id: s}]}]}]}`)), []expectedCause{{images + "[1].versions[0].regions[0].id", "not its name"}}},
		"one version twice": {
			both(addImage("suse", "1.0.0"), offer(`{machineImages: [`+known+`, {name: suse, versions: [{version: 1.0.0, image: s}, {version: 1.0.0, image: t}]}]}`)),
			nil, // the first entry counts, as in upstream
		},
	}
}
