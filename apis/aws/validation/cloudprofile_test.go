package validation_test

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/aws/validation"
)

// cloudProfile is what the sentences below change: a CloudProfile that is fine.
type cloudProfile struct {
	config *v1alpha1.CloudProfileConfig
	spec   *gardencorev1beta1.CloudProfileSpec
}

func coreVersion(version string, architectures ...string) gardencorev1beta1.MachineImageVersion {
	result := gardencorev1beta1.MachineImageVersion{Architectures: architectures}
	result.Version = version
	return result
}

func ami(region, id string, architecture *string) v1alpha1.RegionAMIMapping {
	return v1alpha1.RegionAMIMapping{Name: region, AMI: id, Architecture: architecture}
}

// newCloudProfile maps by architecture.
func newCloudProfile() cloudProfile {
	return cloudProfile{
		config: &v1alpha1.CloudProfileConfig{MachineImages: []v1alpha1.MachineImages{{Name: "linux", Versions: []v1alpha1.MachineImageVersion{
			{Version: "1", Regions: []v1alpha1.RegionAMIMapping{
				ami("west", "ami-1", nil), ami("west", "ami-2", new("arm64")), ami("east", "ami-3", nil), ami("east", "ami-4", new("arm64")),
			}},
		}}}},
		spec: &gardencorev1beta1.CloudProfileSpec{
			Regions:       []gardencorev1beta1.Region{{Name: "west"}, {Name: "east"}},
			MachineImages: []gardencorev1beta1.MachineImage{{Name: "linux", Versions: []gardencorev1beta1.MachineImageVersion{coreVersion("1", "amd64", "arm64")}}},
		},
	}
}

func capabilities(architecture, boot string) gardencorev1beta1.Capabilities {
	return gardencorev1beta1.Capabilities{"architecture": {architecture}, "boot": {boot}}
}

// withCapabilities maps by capabilities.
func withCapabilities() cloudProfile {
	p := newCloudProfile()
	p.spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "boot", Values: []string{"uefi", "bios"}},
	}
	p.spec.MachineImages[0].Versions[0] = gardencorev1beta1.MachineImageVersion{CapabilityFlavors: []gardencorev1beta1.MachineImageFlavor{
		{Capabilities: capabilities("amd64", "uefi")}, {Capabilities: capabilities("arm64", "uefi")},
	}}
	p.spec.MachineImages[0].Versions[0].Version = "1"
	p.version().Regions = nil
	p.version().CapabilityFlavors = []v1alpha1.MachineImageFlavor{
		{Regions: []v1alpha1.RegionAMIMapping{ami("west", "ami-1", nil)}, Capabilities: capabilities("amd64", "uefi")},
		{Regions: []v1alpha1.RegionAMIMapping{ami("west", "ami-2", nil)}, Capabilities: capabilities("arm64", "uefi")},
	}
	return p
}

func (p cloudProfile) version() *v1alpha1.MachineImageVersion {
	return &p.config.MachineImages[0].Versions[0]
}

func (p cloudProfile) validate() []string {
	return messages(validation.ValidateCloudProfileConfig(p.config, p.spec, field.NewPath("c")))
}

func TestValidateCloudProfileConfig_Architectures(t *testing.T) {
	const missing = "c.machineImages: Required value: give an AMI for linux 1 for arm64 in a region: no region of the CloudProfile has one"
	for sentence, test := range map[string]struct {
		change func(cloudProfile)
		want   []string
	}{
		"every architecture":              {func(cloudProfile) {}, nil},
		"an architecture in one region":   {func(p cloudProfile) { p.version().Regions = p.version().Regions[:3] }, nil},
		"a version that is not listed":    {func(p cloudProfile) { p.spec.MachineImages[0].Versions = nil }, nil},
		"a region that is not listed":     {func(p cloudProfile) { p.version().Regions[2].Name = "north" }, nil},
		"an AMI that is a second mapping": {func(p cloudProfile) { p.version().Regions[2].Name = "west" }, nil},
		"no image":                        {func(p cloudProfile) { p.config.MachineImages = nil }, []string{"c.machineImages: Required value: map the versions in spec.machineImages to AMIs"}},
		"an image without a name": {func(p cloudProfile) {
			p.config.MachineImages = append(p.config.MachineImages, v1alpha1.MachineImages{})
		}, []string{
			"c.machineImages[1].name: Required value: give the name that the machine image has in spec.machineImages",
			`c.machineImages[1].versions: Required value: give at least one version of "", or remove the machine image`,
		}},
		"a version without anything": {
			func(p cloudProfile) {
				p.config.MachineImages[0].Versions = append(p.config.MachineImages[0].Versions, v1alpha1.MachineImageVersion{})
			},
			[]string{
				"c.machineImages[0].versions[1].version: Required value: give the version that it is in spec.machineImages",
				"c.machineImages[0].versions[1].regions: Required value: give the AMI of at least one region",
			},
		},
		"a mapping without region and AMI": {func(p cloudProfile) { p.version().Regions[2] = v1alpha1.RegionAMIMapping{} }, []string{
			"c.machineImages[0].versions[0].regions[2].name: Required value: give the region that the AMI is in",
			"c.machineImages[0].versions[0].regions[2].ami: Required value: give the ID of the AMI, like ami-0123456789abcdef0",
		}},
		"an architecture that no machine has": {func(p cloudProfile) { p.version().Regions[3].Architecture = new("riscv") }, []string{
			`c.machineImages[0].versions[0].regions[3].architecture: Invalid value: "riscv": no machine has it: choose one of "amd64", "arm64"`,
		}},
		"an architecture that is not mapped": {func(p cloudProfile) { p.version().Regions = p.version().Regions[:1] }, []string{missing}},
		"flavors without capabilities": {func(p cloudProfile) {
			p.version().CapabilityFlavors, p.version().Regions = []v1alpha1.MachineImageFlavor{{Regions: p.version().Regions[:1]}}, nil
		}, []string{
			"c.machineImages[0].versions[0].capabilityFlavors: Forbidden: the CloudProfile defines no capabilities: use regions instead, or define them in spec.machineCapabilities",
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := newCloudProfile()
			test.change(p)
			assert.Empty(t, cmp.Diff(test.want, p.validate()))
		})
	}
}

func TestValidateCloudProfileConfig_Capabilities(t *testing.T) {
	const flavor = "c.machineImages[0].versions[0].capabilityFlavors[0]"
	for sentence, test := range map[string]struct {
		change func(cloudProfile)
		want   []string
	}{
		"every flavor": {func(cloudProfile) {}, nil},
		"a mapping by architecture": {func(p cloudProfile) { // a CloudProfile that has just got its capabilities
			p.version().CapabilityFlavors, p.version().Regions = nil, newCloudProfile().version().Regions
		}, nil},
		"both forms": {func(p cloudProfile) { p.version().Regions = newCloudProfile().version().Regions }, []string{
			"c.machineImages[0].versions[0].regions: Forbidden: has no effect beside capabilityFlavors: move it into one of them, or remove it",
		}},
		"an architecture beside the capability": {func(p cloudProfile) { p.version().CapabilityFlavors[0].Regions[0].Architecture = new("amd64") }, []string{
			flavor + ".regions[0].architecture: Forbidden: the flavor has it among its capabilities: move it there, or remove it",
		}},
		"a flavor without regions": {func(p cloudProfile) { p.version().CapabilityFlavors[0].Regions = nil }, []string{
			flavor + ".regions: Required value: give the AMI of at least one region",
			"c.machineImages: Required value: give an AMI for linux 1 for architecture amd64, boot uefi in a region: no region of the CloudProfile has one",
		}},
		"a value that is not defined": {func(p cloudProfile) {
			p.version().CapabilityFlavors = append(p.version().CapabilityFlavors[1:2:2], p.version().CapabilityFlavors...)
			p.version().CapabilityFlavors[0].Capabilities = capabilities("amd64", "net")
		}, []string{flavor + `.capabilities.boot[0]: Invalid value: "net": no machine has it: choose one of "uefi", "bios"`}},
		"flavors that are alike": {func(p cloudProfile) { p.version().CapabilityFlavors[1].Capabilities = capabilities("amd64", "uefi") }, []string{
			`c.machineImages: Invalid value: "linux 1 for architecture amd64, boot uefi": several images in region "west" fit alike: keep one of them, or tell them apart by their capabilities`,
			"c.machineImages: Required value: give an AMI for linux 1 for architecture arm64, boot uefi in a region: no region of the CloudProfile has one",
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := withCapabilities()
			test.change(p)
			assert.Empty(t, cmp.Diff(test.want, p.validate()))
		})
	}
}

func TestCloudProfileWarnings(t *testing.T) {
	p := newCloudProfile()
	assert.Empty(t, validation.CloudProfileWarnings(p.config, p.spec, field.NewPath("c")))
	p.version().Regions[3].Name = "esat"
	assert.Equal(t, []string{
		`c.machineImages: the CloudProfile has no region "esat"`, `c.machineImages: no image for linux 1 for arm64 in region "east"`,
	}, validation.CloudProfileWarnings(p.config, p.spec, field.NewPath("c")))
}

func TestValidateNamespacedCloudProfileConfig(t *testing.T) {
	mapped := func(version string) []v1alpha1.MachineImages {
		return []v1alpha1.MachineImages{{Name: "linux", Versions: []v1alpha1.MachineImageVersion{{Version: version, Regions: []v1alpha1.RegionAMIMapping{ami("west", "ami-9", nil)}}}}}
	}
	listed := func(version string) []gardencorev1beta1.MachineImage {
		return []gardencorev1beta1.MachineImage{{Name: "linux", Versions: []gardencorev1beta1.MachineImageVersion{coreVersion(version, "amd64")}}}
	}
	for sentence, test := range map[string]struct {
		mapped []v1alpha1.MachineImages
		listed []gardencorev1beta1.MachineImage
		want   []string
	}{
		"nothing":                          {},
		"a version that is added":          {mapped("2"), listed("2"), nil},
		"a version of the parent's":        {nil, listed("1"), nil},
		"a version without a mapping":      {nil, listed("2"), []string{"c.machineImages: Required value: give an AMI for linux 2 for amd64 in a region: no region of the CloudProfile has one"}},
		"a mapping without its version":    {mapped("2"), nil, []string{`c.machineImages[0].versions[0]: Invalid value: "linux 2": spec.machineImages does not list this version: add it there, or remove it here`}},
		"a mapping of the parent's":        {mapped("1"), nil, []string{"c.machineImages[0].versions[0]: Forbidden: the parent CloudProfile has linux 1 already: remove it here"}},
		"a mapping without its AMI's form": {[]v1alpha1.MachineImages{{Name: "linux"}}, nil, []string{`c.machineImages[0].versions: Required value: give at least one version of "linux", or remove the machine image`}},
	} {
		t.Run(sentence, func(t *testing.T) {
			parent := validation.Parent{Spec: newCloudProfile().spec, Config: newCloudProfile().config}
			errs := validation.ValidateNamespacedCloudProfileConfig(&v1alpha1.CloudProfileConfig{MachineImages: test.mapped},
				&gardencorev1beta1.NamespacedCloudProfileSpec{MachineImages: test.listed}, parent, field.NewPath("c"))
			assert.Empty(t, cmp.Diff(test.want, messages(errs)))
		})
	}
}
