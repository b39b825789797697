package validation_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
)

const glanceID = "42345678-abcd-4eef-88af-0123456789ab"

// cloudProfile is a CloudProfile of two regions and what stands in it for OpenStack.
type cloudProfile struct {
	config *v1alpha1.CloudProfileConfig
	spec   *gardencorev1beta1.CloudProfileSpec
}

// newCloudProfile is fine: everything that the upstream extension's documentation shows, filled in.
func newCloudProfile(t *testing.T) *cloudProfile {
	t.Helper()
	document := `{
		"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"constraints": {
			"floatingPools": [
				{"name": "fp-pool-1", "defaultFloatingSubnet": "public-*", "loadBalancerClasses": [{"name": "lb-class-1", "purpose": "vpn", "subnetID": "` + glanceID + `"}]},
				{"name": "fp-pool-*", "region": "europe"},
				{"name": "fp-pool-eu-demo", "region": "europe", "domain": "demo", "nonConstraining": true}],
			"loadBalancerProviders": [{"name": "haproxy"}, {"name": "amphora"}, {"name": "f5", "region": "asia"}]},
		"dnsServers": ["10.10.10.11", "2001:db8::53"], "dhcpDomain": "nova",
		"keystoneURL": "https://keystone.example.com/v3/",
		"keystoneURLs": [{"region": "europe", "url": "http://europe.example.com:5000"}, {"region": "asia", "url": "https://asia.example.com/identity/v3"}],
		"requestTimeout": "60s", "serverGroupPolicies": ["soft-anti-affinity", "anti-affinity", "affinity", "soft-affinity"],
		"machineImages": [
			{"name": "coreos", "versions": [{"version": "2135.6.0", "image": "coreos-2135.6.0"}]},
			{"name": "gardenlinux", "versions": [
				{"version": "1.0.0", "image": "gardenlinux-1", "regions": [
					{"name": "europe", "id": "` + glanceID + `"}, {"name": "europe", "id": "52345678-abcd-4eef-88af-0123456789ab", "architecture": "arm64"}]},
				{"version": "0.9.0", "image": "left-over"}]}]}`
	config, err := v1alpha1.DecodeCloudProfileConfigStrictly(&runtime.RawExtension{Raw: []byte(document)})
	require.NoError(t, err)
	return &cloudProfile{config: config, spec: &gardencorev1beta1.CloudProfileSpec{
		Type: "openstack", Regions: []gardencorev1beta1.Region{{Name: "europe"}, {Name: "asia"}},
		MachineImages: []gardencorev1beta1.MachineImage{
			{Name: "coreos", Versions: []gardencorev1beta1.MachineImageVersion{offeredVersion("2135.6.0", "amd64")}},
			{Name: "gardenlinux", Versions: []gardencorev1beta1.MachineImageVersion{offeredVersion("1.0.0", "amd64", "arm64")}},
		},
	}}
}

func offeredVersion(version string, architectures ...string) gardencorev1beta1.MachineImageVersion {
	return gardencorev1beta1.MachineImageVersion{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: version}, Architectures: architectures}
}

// gardenlinux is the mapping of the version of that name that is on offer.
func (l *cloudProfile) gardenlinux() *v1alpha1.MachineImageVersion {
	return &l.config.MachineImages[1].Versions[0]
}

func (l *cloudProfile) offered() *gardencorev1beta1.MachineImageVersion {
	return &l.spec.MachineImages[1].Versions[0]
}

func (l *cloudProfile) pools(pools ...v1alpha1.FloatingPool) {
	l.config.Constraints.FloatingPools = pools
}

func (l *cloudProfile) validate() field.ErrorList {
	return validation.ValidateCloudProfileConfig(l.config, l.spec, field.NewPath("spec", "providerConfig"))
}

type capabilitySet = gardencorev1beta1.Capabilities

// withCapabilities makes the landscape one that works with capabilities: images boot amd64 by both ways, and arm64 by uefi.
func (l *cloudProfile) withCapabilities() {
	l.spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "boot", Values: []string{"uefi", "bios"}},
	}
	amd64, arm64 := capabilitySet{"architecture": {"amd64"}}, capabilitySet{"architecture": {"arm64"}, "boot": {"uefi"}}
	l.spec.MachineImages[0].Versions[0].CapabilityFlavors = []gardencorev1beta1.MachineImageFlavor{{Capabilities: amd64}}
	l.offered().CapabilityFlavors = []gardencorev1beta1.MachineImageFlavor{{Capabilities: amd64}, {Capabilities: arm64}}
	version := l.gardenlinux()
	version.CapabilityFlavors = []v1alpha1.MachineImageFlavor{
		{Image: version.Image, Regions: version.Regions[:1], Capabilities: amd64}, {Regions: version.Regions[1:], Capabilities: arm64},
	}
	version.Image, version.Regions = "", nil
}

func TestValidateCloudProfileConfig_Valid(t *testing.T) {
	certificate := selfSigned(t)
	for sentence, change := range map[string]func(*cloudProfile){
		"all that upstream's documentation shows":         func(*cloudProfile) {},
		"one that works with capabilities":                (*cloudProfile).withCapabilities,
		"a Keystone for each region, and none for others": func(l *cloudProfile) { l.config.KeyStoneURL = "" },
		"a Keystone for all regions":                      func(l *cloudProfile) { l.config.KeyStoneURLs = nil },
		"certificates, with words between them": func(l *cloudProfile) {
			l.config.KeyStoneCACert = new("ours:\n" + certificate + certificate)
			l.config.KeyStoneURLs[0].CACert, l.config.KeyStoneURLs[1].CACert = new(certificate), new("")
		},
		"one name in two regions": func(l *cloudProfile) {
			l.pools(v1alpha1.FloatingPool{Name: "a", Region: new("europe")}, v1alpha1.FloatingPool{Name: "a", Region: new("asia")}, v1alpha1.FloatingPool{Name: "a"})
		},
		"a region that there is not, which harms nobody": func(l *cloudProfile) { l.config.Constraints.FloatingPools[1].Region = new("mars") },
		"a version that is not on offer any more": func(l *cloudProfile) {
			l.config.MachineImages[0].Versions = append(l.config.MachineImages[0].Versions, v1alpha1.MachineImageVersion{Version: "1.1.1", Image: "old"})
		},
		"an image that is in one region yet": func(l *cloudProfile) {
			l.gardenlinux().Image = ""
		},
		"a version in two entries, one for each architecture": func(l *cloudProfile) {
			version := *l.gardenlinux()
			version.Regions, l.gardenlinux().Regions = version.Regions[1:], version.Regions[:1]
			l.config.MachineImages[1].Versions = append(l.config.MachineImages[1].Versions, version)
		},
		"a version twice, of which the first entry counts": func(l *cloudProfile) {
			l.config.MachineImages[0].Versions = append(l.config.MachineImages[0].Versions, v1alpha1.MachineImageVersion{Version: "2135.6.0", Image: "b"})
		},
		"a name for both architectures, of which one has an ID nowhere": func(l *cloudProfile) {
			l.gardenlinux().Regions[0].ID = ""
			l.gardenlinux().Regions[1].ID = ""
		},
		"the same ID twice": func(l *cloudProfile) {
			l.gardenlinux().Regions = append(l.gardenlinux().Regions, l.gardenlinux().Regions[0])
		},
		"no ID in a region, but a name": func(l *cloudProfile) {
			l.gardenlinux().Regions[0].ID = ""
		},
		"an offer without architectures, which means the usual one": func(l *cloudProfile) { l.spec.MachineImages[0].Versions[0].Architectures = nil },
		"capabilities of a mapping that the CloudProfile does not work with any more": func(l *cloudProfile) {
			l.withCapabilities()
			l.spec.MachineCapabilities, l.offered().CapabilityFlavors = nil, nil
		},
		"a mapping by architecture where the CloudProfile works with capabilities": func(l *cloudProfile) {
			mapping := *l.gardenlinux()
			l.withCapabilities()
			*l.gardenlinux() = mapping
		},
		"an offer by architecture where the CloudProfile works with capabilities": func(l *cloudProfile) {
			l.withCapabilities()
			l.offered().CapabilityFlavors = nil
			l.gardenlinux().CapabilityFlavors[1].Capabilities = capabilitySet{"architecture": {"arm64"}}
		},
		"an offer without flavors, of which there is one architecture": func(l *cloudProfile) {
			l.withCapabilities()
			l.spec.MachineCapabilities[0].Values = []string{"amd64"}
			l.offered().CapabilityFlavors, l.offered().Architectures = nil, nil
			l.gardenlinux().CapabilityFlavors = l.gardenlinux().CapabilityFlavors[:1]
		},
		"an offer without flavors, which Gardener refuses": func(l *cloudProfile) {
			l.withCapabilities()
			l.offered().CapabilityFlavors, l.offered().Architectures = nil, nil
		},
		"a flavor that two images share": func(l *cloudProfile) {
			l.withCapabilities()
			l.gardenlinux().CapabilityFlavors = append(l.gardenlinux().CapabilityFlavors,
				v1alpha1.MachineImageFlavor{Image: "b", Capabilities: capabilitySet{"architecture": {"amd64"}, "boot": {"bios"}}})
			l.gardenlinux().CapabilityFlavors[0].Capabilities = capabilitySet{"architecture": {"amd64"}, "boot": {"uefi"}}
		},
		"an image that can do more than is on offer": func(l *cloudProfile) {
			l.withCapabilities()
			l.gardenlinux().CapabilityFlavors[1].Capabilities = capabilitySet{"architecture": {"arm64"}}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newCloudProfile(t)
			change(l)
			require.Empty(t, l.validate())
		})
	}
}

func TestValidateCloudProfileConfig_UpstreamExample(t *testing.T) {
	document, err := readTestdata("cloudprofileconfig.yaml")
	require.NoError(t, err)
	raw, err := yaml.YAMLToJSON(document)
	require.NoError(t, err)
	config, err := v1alpha1.DecodeCloudProfileConfigStrictly(&runtime.RawExtension{Raw: raw})
	require.NoError(t, err)
	errs := validation.ValidateCloudProfileConfig(config, &gardencorev1beta1.CloudProfileSpec{}, field.NewPath("a"))
	var fields []string
	for _, fieldError := range errs {
		fields = append(fields, fieldError.Field)
	}
	assert.Equal(t, []string{
		"a.keystoneCACert", "a.keystoneURLs[0].caCert", "a.machineImages[0].versions[0].image", "a.machineImages[0].versions[0].regions",
	}, fields)
}

func selfSigned(t *testing.T) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(nil, template, template, public, private)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestCloudProfileWarnings(t *testing.T) {
	path := field.NewPath("p")
	complete := func() *cloudProfile {
		l := newCloudProfile(t)
		l.gardenlinux().Regions = append(l.gardenlinux().Regions, v1alpha1.RegionIDMapping{Name: "asia", ID: glanceID, Architecture: new("arm64")})
		return l
	}
	assert.Empty(t, validation.CloudProfileWarnings(newCloudProfile(t).config, newCloudProfile(t).spec, path), "an image's name is good for the architectures that it lists")
	nameless := newCloudProfile(t)
	nameless.gardenlinux().Image = ""
	assert.Contains(t, validation.CloudProfileWarnings(nameless.config, nameless.spec, path), `p.machineImages: no image for gardenlinux 1.0.0 for arm64 in region "asia"`)

	l := complete()
	assert.Equal(t, []string{`p.machineImages: no image for coreos 2135.6.0 for arm64 in region "asia"`}, func() []string {
		l.spec.MachineImages[0].Versions[0].Architectures = []string{"arm64"}
		l.config.MachineImages[0].Versions[0] = v1alpha1.MachineImageVersion{Version: "2135.6.0", Regions: []v1alpha1.RegionIDMapping{
			{Name: "europe", ID: glanceID, Architecture: new("arm64")},
		}}
		return validation.CloudProfileWarnings(l.config, l.spec, path)
	}())

	l = complete()
	assert.Empty(t, validation.CloudProfileWarnings(l.config, l.spec, path))
	l.spec.Regions[0].Name = "africa"
	assert.Equal(t, []string{
		`p.constraints.floatingPools[1].region: the CloudProfile has no region "europe"`,
		`p.constraints.floatingPools[2].region: the CloudProfile has no region "europe"`,
		`p.keystoneURLs[0].region: the CloudProfile has no region "europe"`,
		`p.machineImages: the CloudProfile has no region "europe"`,
	}, validation.CloudProfileWarnings(l.config, l.spec, path))
	l.spec.Regions = l.spec.Regions[:1]
	assert.Contains(t, strings.Join(validation.CloudProfileWarnings(l.config, l.spec, path), "\n"), `loadBalancerProviders[2].region: the CloudProfile has no region "asia"`)
}

func TestValidateCloudProfileConfig_ExpiredVersions(t *testing.T) {
	l := newCloudProfile(t)
	l.offered().Lifecycle = []gardencorev1beta1.LifecycleStage{{Classification: gardencorev1beta1.ClassificationExpired, StartTime: &metav1.Time{Time: time.Unix(0, 0)}}}
	l.config.MachineImages = slices.Delete(l.config.MachineImages, 1, 2)
	require.Len(t, l.validate(), 2, "machines are made of them as long as shoots have not left them")
}
