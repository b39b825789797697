package aws

import (
	"net/http"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	inConfig = "spec.providerConfig"
	header   = "apiVersion: aws.provider.extensions.gardener.cloud/v1alpha1, kind: CloudProfileConfig"

	// byArchitecture maps in the legacy form, by regions.
	byArchitecture = `{type: aws, regions: [{name: eu-west-1}, {name: us-east-1}], machineImages: [{name: linux, versions: [{version: "1", architectures: [amd64, arm64]}]}],
		providerConfig: {` + header + `, machineImages: [{name: linux, versions: [{version: "1", regions: [
			{name: eu-west-1, ami: ami-1}, {name: eu-west-1, ami: ami-2, architecture: arm64}, {name: us-east-1, ami: ami-3}, {name: us-east-1, ami: ami-4, architecture: arm64}]}]}]}}`
	// byCapabilities maps by flavors, which its machine images do not have yet.
	byCapabilities = `{type: aws, regions: [{name: eu-west-1}], machineCapabilities: [{name: architecture, values: [amd64, arm64]}],
		machineImages: [{name: linux, versions: [{version: "1"}]}],
		providerConfig: {` + header + `, machineImages: [{name: linux, versions: [{version: "1", capabilityFlavors: [
			{regions: [{name: eu-west-1, ami: ami-1}], capabilities: {architecture: [amd64]}}, {regions: [{name: eu-west-1, ami: ami-2}], capabilities: {architecture: [arm64]}}]}]}]}}`
	flavors = `{version: "1", capabilityFlavors: [{architecture: [amd64]}, {architecture: [arm64]}]}`

	// adding adds a version to those of byArchitecture, and has another one expire.
	adding = `{parent: {kind: CloudProfile, name: parent}, machineImages: [{name: linux, versions: [{version: "1", expirationDate: "2027-01-01T00:00:00Z"}, {version: "2"}]}],
		providerConfig: {` + header + `, machineImages: [{name: linux, versions: [{version: "2", regions: [{name: eu-west-1, ami: ami-5}]}]}]}}`
)

// newProfile replaces texts in a spec, in pairs, each of which must be there.
func newProfile(t testing.TB, spec string, pairs ...string) *gardencorev1beta1.CloudProfile {
	t.Helper()
	object := &gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "parent"}}
	require.NoError(t, yaml.Unmarshal([]byte(replaced(t, spec, pairs...)), &object.Spec))
	return object
}

func newNamespaced(t testing.TB, pairs ...string) *gardencorev1beta1.NamespacedCloudProfile {
	t.Helper()
	object := &gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "one", Generation: 7}}
	require.NoError(t, yaml.Unmarshal([]byte(replaced(t, adding, pairs...)), &object.Spec))
	return object
}

func replaced(t testing.TB, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(t, text, pairs[i])
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func TestValidateCloudProfile(t *testing.T) {
	outdated := newProfile(t, byArchitecture, "ami: ami-3", "ami: ''", "machineImages: [{name: linux, versions: [{version: \"1\", regions", "formerField: 1, machineImages: [{name: linux, versions: [{version: \"1\", regions")
	for sentence, test := range map[string]struct {
		object, old *gardencorev1beta1.CloudProfile
		want        []string
	}{
		"images by architecture": {object: newProfile(t, byArchitecture)},
		"images by capabilities": {object: newProfile(t, byCapabilities, `{version: "1"}`, flavors)},
		"another cloud":          {object: newProfile(t, byArchitecture, "type: aws", "type: azure", "ami: ami-1", "ami: 1")},
		"no configuration": {
			object: newProfile(t, `{type: aws}`),
			want: []string{inConfig + ": Required value: a providerConfig is required: give one with apiVersion aws.provider.extensions.gardener.cloud/v1alpha1 " +
				"and kind CloudProfileConfig"},
		},
		"an AMI that is no text": {
			object: newProfile(t, byArchitecture, "ami: ami-1", "ami: 1"),
			want:   []string{inConfig + ": Invalid value: decoding CloudProfileConfig: machineImages.versions.regions.ami must be a string, not a JSON number: correct the value"},
		},
		"an architecture in a flavor": {
			object: newProfile(t, byCapabilities, `{version: "1"}`, flavors, "ami: ami-1", "ami: ami-1, architecture: amd64"),
			want: []string{inConfig + ".machineImages[0].versions[0].capabilityFlavors[0].regions[0].architecture: Forbidden: the flavor has it among its capabilities: " +
				"move it there, or remove it"},
		},
		"flavors without capabilities": {
			object: newProfile(t, byCapabilities, "machineCapabilities: [{name: architecture, values: [amd64, arm64]}],", "", `{version: "1"}`, `{version: "1", architectures: [amd64]}`),
			want: []string{inConfig + ".machineImages[0].versions[0].capabilityFlavors: Forbidden: the CloudProfile defines no capabilities: use regions instead, " +
				"or define them in spec.machineCapabilities"},
		},
		"a version that is not mapped": {
			object: newProfile(t, byArchitecture, `{version: "1", architectures`, `{version: "2"}, {version: "1", architectures`),
			want:   []string{inConfig + `.machineImages: Required value: give an AMI for linux 2 for amd64 in a region: no region of the CloudProfile has one`},
		},
		"what is outdated stays beside another change": {object: newProfile(t, byArchitecture, "ami: ami-3", "ami: ''", "ami: ami-1", "ami: ami-7"), old: outdated},
		"a new error beside what is outdated": {
			object: newProfile(t, byArchitecture, "ami: ami-3", "ami: ''", "ami: ami-2", "ami: ''"), old: outdated,
			want: []string{inConfig + ".machineImages[0].versions[0].regions[2].ami: Required value: give the ID of the AMI, like ami-0123456789abcdef0"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			reader := &garden{}
			assert.Empty(t, cmp.Diff(test.want, causes(call(t, reader, "cloudprofile.aws", test.object, test.old))))
			assert.Empty(t, reader.requests)
			assert.Empty(t, causes(call(t, reader, "cloudprofile.aws", test.object, test.object)), "what does not change")
		})
	}
}

func TestValidateCloudProfile_Warnings(t *testing.T) {
	response := call(t, &garden{}, "cloudprofile.aws", newProfile(t, byArchitecture, "ami: ami-3}", "ami: ami-3}, {name: mars-1, ami: ami-9}", ", {name: us-east-1, ami: ami-4, architecture: arm64}", ""), nil)
	require.True(t, response.Allowed, "%v", response.Result)
	assert.Equal(t, []string{
		`spec.providerConfig.machineImages: the CloudProfile has no region "mars-1"`,
		`spec.providerConfig.machineImages: no image for linux 1 for arm64 in region "us-east-1"`,
	}, response.Warnings)
}

func TestSetCapabilityFlavors(t *testing.T) {
	profile, result := newProfile(t, byCapabilities), &gardencorev1beta1.CloudProfile{}
	patched(t, profile, call(t, &garden{}, "cloudprofiledefaults.aws", profile, nil), result)
	assert.Empty(t, cmp.Diff(newProfile(t, byCapabilities, `{version: "1"}`, flavors).Spec.MachineImages, result.Spec.MachineImages))
	assert.Empty(t, causes(call(t, &garden{}, "cloudprofile.aws", result, nil)))

	kept := newProfile(t, byCapabilities, `{version: "1"}`, `{version: "1", capabilityFlavors: [{architecture: [amd64]}]}`)
	assert.Empty(t, call(t, &garden{}, "cloudprofiledefaults.aws", kept, nil).Patch, "an admin's flavors")
	assert.Empty(t, call(t, &garden{}, "cloudprofiledefaults.aws", newProfile(t, byArchitecture), nil).Patch, "no capabilities")
}

func TestValidateNamespacedCloudProfile(t *testing.T) {
	outdated := newNamespaced(t, "machineImages: [{name: linux, versions: [{version: \"2\", regions", "formerField: 1, machineImages: [{name: linux, versions: [{version: \"2\", regions")
	for sentence, test := range map[string]struct {
		object, old *gardencorev1beta1.NamespacedCloudProfile
		want        []string
	}{
		"a version is added": {object: newNamespaced(t)},
		"a version that the parent has": {
			object: newNamespaced(t, `{version: "2", regions`, `{version: "1", regions`),
			want: []string{
				inConfig + ".machineImages[0].versions[0]: Forbidden: the parent CloudProfile has linux 1 already: remove it here",
				inConfig + ".machineImages: Required value: give an AMI for linux 2 for amd64 in a region: no region of the CloudProfile has one",
			},
		},
		"a version that is not listed": {
			object: newNamespaced(t, `, {version: "2"}`, ``),
			want: []string{inConfig + `.machineImages[0].versions[0]: Invalid value: "linux 2": spec.machineImages does not list this version: ` +
				"add it there, or remove it here"},
		},
		"a parent that does not exist":                   {object: newNamespaced(t, "name: parent", "name: gone", "ami: ami-5", "ami: ''")},
		"a parent of another cloud":                      {object: newNamespaced(t, "name: parent", "name: azure", "ami: ami-5", "ami: ''")},
		"what is outdated stays beside another change":   {object: newNamespaced(t, "providerConfig: {", "providerConfig: {formerField: 1, ", "ami: ami-5", "ami: ami-6"), old: outdated},
		"a misspelt field":                               {object: outdated, want: []string{inConfig + `: Invalid value: decoding CloudProfileConfig: unknown field "formerField": correct the name or remove the field`}},
		"an outdated one that changes in something else": {object: newNamespaced(t, "parent:", "limits: {maxNodesTotal: 1}, parent:", "providerConfig: {", "providerConfig: {formerField: 1, "), old: outdated},
	} {
		t.Run(sentence, func(t *testing.T) {
			azure := newProfile(t, byArchitecture, "type: aws", "type: azure")
			azure.Name = "azure"
			reader := &garden{objects: []client.Object{newProfile(t, byArchitecture), azure}}
			assert.Empty(t, cmp.Diff(test.want, causes(call(t, reader, "namespacedcloudprofile.aws", test.object, test.old))))
		})
	}
	response := call(t, &garden{unavailable: "CloudProfile"}, "namespacedcloudprofile.aws", newNamespaced(t), nil)
	assert.EqualValues(t, http.StatusInternalServerError, response.Result.Code)
}

func TestMergeIntoStatus(t *testing.T) {
	status := func(pairs ...string) *gardencorev1beta1.NamespacedCloudProfile {
		object := newNamespaced(t, pairs...)
		object.Status = gardencorev1beta1.NamespacedCloudProfileStatus{ObservedGeneration: 7, CloudProfileSpec: newProfile(t, byArchitecture).Spec}
		return object
	}
	object, result := status(), &gardencorev1beta1.NamespacedCloudProfile{}
	response := call(t, &garden{}, "namespacedcloudprofilestatus.aws", object, object)
	assert.JSONEq(t, `[{"op":"add","path":"/status/cloudProfileSpec/providerConfig/machineImages/0/versions/1","value":{"version":"2","regions":[{"name":"eu-west-1","ami":"ami-5"}]}}]`,
		string(response.Patch))
	patched(t, object, response, result)
	assert.Empty(t, call(t, &garden{}, "namespacedcloudprofilestatus.aws", result, result).Patch, "once more")

	early := status()
	early.Generation = 8
	assert.Empty(t, call(t, &garden{}, "namespacedcloudprofilestatus.aws", early, early).Patch, "Gardener has not observed the spec")
	broken := status("ami: ami-5", "ami: 5")
	response = call(t, &garden{}, "namespacedcloudprofilestatus.aws", broken, broken)
	assert.True(t, response.Allowed, "a status is never rejected")
	assert.Empty(t, response.Patch)
}

// TestMergedProfile_Shoot validates a Shoot against the status of a NamespacedCloudProfile.
func TestMergedProfile_Shoot(t *testing.T) {
	object := newNamespaced(t)
	object.Namespace, object.Name = "garden-dev", "one"
	object.Status = gardencorev1beta1.NamespacedCloudProfileStatus{ObservedGeneration: 7, CloudProfileSpec: newProfile(t, byArchitecture).Spec}
	object.Status.CloudProfileSpec.Regions[0].Zones = []gardencorev1beta1.AvailabilityZone{{Name: "eu-west-1a"}}
	merged := &gardencorev1beta1.NamespacedCloudProfile{}
	patched(t, object, call(t, &garden{}, "namespacedcloudprofilestatus.aws", object, object), merged)
	merged.Namespace = "garden-dev"

	shoot := newShoot(t, withProfile("NamespacedCloudProfile", "one"), inSpec(func(s *gardencorev1beta1.ShootSpec) { s.Provider.Workers[0].Machine.Image.Version = new("2") }))
	assert.Empty(t, causes(call(t, &garden{objects: []client.Object{merged}}, "shoot.aws", shoot, nil)))
	shoot.Spec.Region = "us-east-1"
	assert.Contains(t, causes(call(t, &garden{objects: []client.Object{merged}}, "shoot.aws", shoot, nil)),
		`spec.provider.workers[0].machine.image.version: Invalid value: "2": the CloudProfile has linux of this version for such machines in "eu-west-1", and not in `+
			`"us-east-1": choose another version, or ask its admin to map the image there`)
}
