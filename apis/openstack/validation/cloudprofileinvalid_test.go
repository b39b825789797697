package validation_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

func readTestdata(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join("..", "v1alpha1", "testdata", "upstream", name)) // #nosec G304 -- the names are in the tests
}

type invalidProfile struct {
	change        func(*cloudProfile)
	field, remedy string // field is below spec.providerConfig
}

func requireInvalidProfiles(t *testing.T, tests map[string]invalidProfile) {
	t.Helper()
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			l := newCloudProfile(t)
			test.change(l)
			errs := l.validate()
			require.Len(t, errs, 1, "%v", errs)
			require.Equal(t, "spec.providerConfig."+test.field, errs[0].Field)
			require.Contains(t, errs[0].Error(), test.remedy)
		})
	}
}

func TestValidateCloudProfileConfig_InvalidPoolsAndProviders(t *testing.T) {
	type pool = v1alpha1.FloatingPool
	requireInvalidProfiles(t, map[string]invalidProfile{
		"no floating pool":               {func(l *cloudProfile) { l.pools() }, "constraints.floatingPools", "at least one external network"},
		"a pool without a name":          {func(l *cloudProfile) { l.pools(pool{}) }, "constraints.floatingPools[0].name", "the name of an external network"},
		"a pool whose name no shoot has": {func(l *cloudProfile) { l.pools(pool{Name: "{a}"}) }, "constraints.floatingPools[0].name", "braces"},
		"a pool whose name is too long":  {func(l *cloudProfile) { l.pools(pool{Name: strings.Repeat("a", 256)}) }, "constraints.floatingPools[0].name", "may not be more than 255"},
		"a pool in an empty region": {
			func(l *cloudProfile) { l.pools(pool{Name: "a", Region: new("")}) }, "constraints.floatingPools[0].region", "remove the field to mean all",
		},
		"a pool in an empty domain": {
			func(l *cloudProfile) { l.pools(pool{Name: "a", Domain: new("")}) }, "constraints.floatingPools[0].domain", "remove the field to mean all",
		},
		"a pool twice, without region and domain (D25)": {
			func(l *cloudProfile) { l.pools(pool{Name: "a"}, pool{Name: "a", NonConstraining: new(true)}) }, "constraints.floatingPools[1].name", "remove one of the two",
		},
		"a pool twice, with region and domain": {
			func(l *cloudProfile) {
				l.pools(pool{Name: "a", Region: new("asia"), Domain: new("d")}, pool{Name: "a"}, pool{Name: "a", Region: new("asia"), Domain: new("d")})
			}, "constraints.floatingPools[2].name", "remove one of the two",
		},
		"a default subnet that is no expression": {
			func(l *cloudProfile) { l.pools(pool{Name: "a", DefaultFloatingSubnet: new("~(")}) }, "constraints.floatingPools[0].defaultFloatingSubnet", "behind the tilde",
		},
		"an empty default subnet": {
			func(l *cloudProfile) { l.pools(pool{Name: "a", DefaultFloatingSubnet: new("")}) }, "constraints.floatingPools[0].defaultFloatingSubnet", "or remove the field",
		},
		"a class of load balancers with a purpose that there is not": {
			func(l *cloudProfile) {
				l.config.Constraints.FloatingPools[0].LoadBalancerClasses[0].Purpose = new("public")
			}, "constraints.floatingPools[0].loadBalancerClasses[0].purpose", `"vpn"`,
		},
		"no provider of load balancers": {
			func(l *cloudProfile) { l.config.Constraints.LoadBalancerProviders = nil }, "constraints.loadBalancerProviders", "at least one Octavia provider",
		},
		"a provider in an empty region": {
			func(l *cloudProfile) { l.config.Constraints.LoadBalancerProviders[2].Region = new("") }, "constraints.loadBalancerProviders[2].region", "to mean all",
		},
		"a provider twice": {
			func(l *cloudProfile) { l.config.Constraints.LoadBalancerProviders[1].Name = "haproxy" }, "constraints.loadBalancerProviders[1].name", "remove one of the two",
		},
	})
}

func TestValidateCloudProfileConfig_InvalidKeystoneAndServers(t *testing.T) {
	url := func(text string) func(*cloudProfile) { return func(l *cloudProfile) { l.config.KeyStoneURL = text } }
	requireInvalidProfiles(t, map[string]invalidProfile{
		"no Keystone": {
			func(l *cloudProfile) { l.config.KeyStoneURL, l.config.KeyStoneURLs = "", nil }, "keystoneURL", "or one per region in keystoneURLs",
		},
		"a Keystone without a scheme":    {url("keystone.example.com/v3"), "keystoneURL", "an http or https URL"},
		"a Keystone by another protocol": {url("ftp://keystone.example.com/v3"), "keystoneURL", "an http or https URL"},
		"a Keystone without a host":      {url("https:///v3"), "keystoneURL", "an http or https URL"},
		"a Keystone that is no URL":      {url("https://%zz"), "keystoneURL", "an http or https URL"},
		"a Keystone of version 2":        {url("https://keystone.example.com/v2.0/"), "keystoneURL", "version 3"},
		"a Keystone with a query":        {url("https://keystone.example.com/v3?a=b"), "keystoneURL", "begins with ?"},
		"a Keystone with credentials":    {url("https://a:b@keystone.example.com/v3"), "keystoneURL", "credentials do not belong"},
		"a Keystone of a region without URL": {
			func(l *cloudProfile) { l.config.KeyStoneURL, l.config.KeyStoneURLs = "", l.config.KeyStoneURLs[:1] }, "keystoneURLs", `region "asia" has no URL of Keystone`,
		},
		"a region's URL that is empty": {
			func(l *cloudProfile) { l.config.KeyStoneURLs[1].URL = "" }, "keystoneURLs[1].url", "give the URL of Keystone",
		},
		"a Keystone of a region of version 2": {
			func(l *cloudProfile) { l.config.KeyStoneURLs[1].URL = "https://asia/v2.0" }, "keystoneURLs[1].url", "version 3",
		},
		"a Keystone of no region": {
			func(l *cloudProfile) { l.config.KeyStoneURLs[1].Region = "" }, "keystoneURLs[1].region", "goes to keystoneURL",
		},
		"two Keystones of a region": {
			func(l *cloudProfile) { l.config.KeyStoneURLs[1].Region = "europe" }, "keystoneURLs[1].region", "remove one of the two",
		},
		"a certificate that is none (D25)": {
			func(l *cloudProfile) { l.config.KeyStoneCACert = new("-----BEGIN CERTIFICATE-----\n") }, "keystoneCACert", "in PEM",
		},
		"a certificate of a region that is none (D25)": {
			func(l *cloudProfile) { l.config.KeyStoneURLs[1].CACert = new("ours") }, "keystoneURLs[1].caCert", "in PEM",
		},
		"a DNS server by name": {
			func(l *cloudProfile) { l.config.DNSServers[1] = "dns.example.com" }, "dnsServers[1]", "the IP address",
		},
		"a DNS server on a link": {
			func(l *cloudProfile) { l.config.DNSServers[1] = "fe80::1%eth0" }, "dnsServers[1]", "the IP address",
		},
		"a DNS server twice, in two notations": {
			func(l *cloudProfile) { l.config.DNSServers = append(l.config.DNSServers, "2001:0db8::0053") }, "dnsServers[2]", "remove one of the two",
		},
		"a policy that Nova does not have (D25)": {
			func(l *cloudProfile) { l.config.ServerGroupPolicies[0] = "spread" }, "serverGroupPolicies[0]", `"soft-anti-affinity"`,
		},
		"an empty policy": {
			func(l *cloudProfile) { l.config.ServerGroupPolicies[0] = "" }, "serverGroupPolicies[0]", "choose one of",
		},
		"a policy twice": {
			func(l *cloudProfile) { l.config.ServerGroupPolicies[2] = "anti-affinity" }, "serverGroupPolicies[2]", "remove one of the two",
		},
		"a timeout of nothing (D25)": {
			func(l *cloudProfile) { l.config.RequestTimeout = duration("0s") }, "requestTimeout", "like 60s",
		},
	})
}

func TestValidateCloudProfileConfig_InvalidMachineImages(t *testing.T) {
	const version = "machineImages[1].versions[0]"
	flavored := func(change func(*cloudProfile)) func(*cloudProfile) {
		return func(l *cloudProfile) {
			l.withCapabilities()
			change(l)
		}
	}
	leftOver := func(change func(*v1alpha1.MachineImageVersion)) func(*cloudProfile) {
		return func(l *cloudProfile) { change(&l.config.MachineImages[1].Versions[1]) }
	}
	requireInvalidProfiles(t, map[string]invalidProfile{
		"no machine images": {func(l *cloudProfile) { l.config.MachineImages = nil }, "machineImages", "map the versions in spec.machineImages"},
		"an image that is not mapped": {
			func(l *cloudProfile) { l.config.MachineImages = l.config.MachineImages[1:] }, "machineImages", "coreos 2135.6.0 for amd64",
		},
		"a version that is not mapped": {
			func(l *cloudProfile) { l.config.MachineImages[0].Versions[0].Version = "2135.6.1" }, "machineImages", "coreos 2135.6.0 for amd64",
		},
		"an architecture that is not mapped": {
			func(l *cloudProfile) { l.gardenlinux().Regions = l.gardenlinux().Regions[:1] }, "machineImages", "gardenlinux 1.0.0 for arm64",
		},
		"a version that is mapped in no region of the CloudProfile": {
			func(l *cloudProfile) {
				l.config.MachineImages[0].Versions[0] = v1alpha1.MachineImageVersion{Version: "2135.6.0", Regions: []v1alpha1.RegionIDMapping{{Name: "mars", ID: glanceID}}}
			}, "machineImages", "no region of the CloudProfile has one",
		},
		"two flavors with nothing to tell them apart": {
			flavored(func(l *cloudProfile) {
				l.gardenlinux().CapabilityFlavors = append(l.gardenlinux().CapabilityFlavors, v1alpha1.MachineImageFlavor{
					Image: "b", Capabilities: capabilitySet{"architecture": {"arm64"}, "boot": {"uefi"}},
				})
			}), "machineImages", "gardenlinux 1.0.0 for architecture arm64, boot uefi",
		},
		"a flavor that is not mapped": {
			flavored(func(l *cloudProfile) { l.gardenlinux().CapabilityFlavors = l.gardenlinux().CapabilityFlavors[:1] }),
			"machineImages", "gardenlinux 1.0.0 for architecture arm64, boot uefi",
		},
		"a flavor that is mapped in part": {
			flavored(func(l *cloudProfile) {
				l.gardenlinux().CapabilityFlavors[0].Capabilities = capabilitySet{"architecture": {"amd64"}, "boot": {"uefi"}}
			}),
			"machineImages", "gardenlinux 1.0.0 for architecture amd64, boot bios",
		},
		"an image without a name": {
			leftOverImage(func(i *v1alpha1.MachineImages) { i.Name = "" }), "machineImages[2].name", "in spec.machineImages",
		},
		"an image without versions": {
			leftOverImage(func(i *v1alpha1.MachineImages) { i.Versions = nil }), "machineImages[2].versions", "or remove the machine image",
		},
		"a version without a version": {
			leftOver(func(v *v1alpha1.MachineImageVersion) { v.Version = "" }), "machineImages[1].versions[1].version", "in spec.machineImages",
		},
		"a name of two lines": {
			leftOver(func(v *v1alpha1.MachineImageVersion) { v.Image = "a\nb" }), "machineImages[1].versions[1].image", "line breaks",
		},
		"an ID that is a name": {
			func(l *cloudProfile) { l.gardenlinux().Regions[0].ID = "gardenlinux" }, version + ".regions[0].id", "not its name",
		},
		"no ID and no name": {
			leftOver(func(v *v1alpha1.MachineImageVersion) {
				v.Image, v.Regions = "", []v1alpha1.RegionIDMapping{{Name: "asia"}}
			}),
			"machineImages[1].versions[1].regions[0].id", "give the ID",
		},
		"an ID in no region": {
			leftOver(func(v *v1alpha1.MachineImageVersion) { v.Regions = []v1alpha1.RegionIDMapping{{ID: glanceID}} }),
			"machineImages[1].versions[1].regions[0].name", "give the region",
		},
		"two IDs in a region": {
			leftOver(func(v *v1alpha1.MachineImageVersion) {
				v.Regions = []v1alpha1.RegionIDMapping{{Name: "asia", ID: glanceID}, {Name: "asia", ID: "52" + glanceID[2:], Architecture: new("amd64")}}
			}),
			"machineImages[1].versions[1].regions[1].name", "remove one of the two",
		},
		"an architecture that no machine has": {
			leftOver(func(v *v1alpha1.MachineImageVersion) {
				v.Regions = []v1alpha1.RegionIDMapping{{Name: "asia", ID: glanceID, Architecture: new("x86_64")}}
			}),
			"machineImages[1].versions[1].regions[0].architecture", `choose one of "amd64", "arm64"`,
		},
		"a name beside flavors": {
			flavored(func(l *cloudProfile) { l.gardenlinux().Image = "a" }), version + ".image", "move it into one of them",
		},
		"IDs beside flavors": {
			flavored(func(l *cloudProfile) { l.gardenlinux().Regions = l.gardenlinux().CapabilityFlavors[0].Regions }), version + ".regions", "move it into one of them",
		},
		"an ID of a flavor that is a name": {
			flavored(func(l *cloudProfile) { l.gardenlinux().CapabilityFlavors[1].Regions[0].ID = "a" }), version + ".capabilityFlavors[1].regions[0].id", "not its name",
		},
		"two IDs of a flavor in a region": {
			flavored(func(l *cloudProfile) {
				flavor := &l.gardenlinux().CapabilityFlavors[1]
				flavor.Regions = append(flavor.Regions, v1alpha1.RegionIDMapping{Name: "europe", ID: glanceID})
			}), version + ".capabilityFlavors[1].regions[1].name", "remove one of the two",
		},
		"a capability that is not defined": {
			flavored(func(l *cloudProfile) { l.gardenlinux().CapabilityFlavors[1].Capabilities["disk"] = []string{"nvme"} }),
			version + ".capabilityFlavors[1].capabilities.disk", `choose one of "architecture", "boot"`,
		},
		"a value that is not defined": {
			flavored(func(l *cloudProfile) {
				l.gardenlinux().CapabilityFlavors[1].Capabilities["boot"] = gardencorev1beta1.CapabilityValues{"uefi", "floppy"}
			}), version + ".capabilityFlavors[1].capabilities.boot[1]", `choose one of "uefi", "bios"`,
		},
	})
}

// leftOverImage changes an image that nobody lists.
func leftOverImage(change func(*v1alpha1.MachineImages)) func(*cloudProfile) {
	return func(l *cloudProfile) {
		image := v1alpha1.MachineImages{Name: "left-over", Versions: []v1alpha1.MachineImageVersion{{Version: "1", Image: "a"}}}
		change(&image)
		l.config.MachineImages = append(l.config.MachineImages, image)
	}
}
