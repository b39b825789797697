package aws_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	awsmachine "github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/golden"
	"github.com/trellis-garden/trellis/internal/worker"
)

// checkGolden compares a value, as JSON, with a file in testdata. A change of hashes.json replaces nodes of existing shoots.
func checkGolden(t *testing.T, name string, got any) {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(got))
	golden.Check(t, filepath.Join("testdata", name), text.String())
}

// specOf decodes the configuration of a class, as the machine driver does.
func specOf(t *testing.T, class worker.Class) *awsmachine.ProviderSpec {
	t.Helper()
	raw, err := json.Marshal(class.ProviderSpec)
	require.NoError(t, err)
	spec, err := awsmachine.DecodeProviderSpec(&runtime.RawExtension{Raw: raw})
	require.NoError(t, err)
	return spec
}

// goldenClass has a pool's machines in a golden file: for the first zone; other zones differ in their own fields only.
type goldenClass struct {
	Spec         json.RawMessage   `json:"spec"`
	Labels       map[string]string `json:"labels"`
	NodeLabels   map[string]string `json:"nodeLabels"`
	NodeTemplate any               `json:"nodeTemplate,omitempty"`
}

func TestMachines_Golden(t *testing.T) {
	classes := map[string]goldenClass{}
	for name, change := range poolCases() {
		env := newEnvironment(t)
		change(env, &env.pools[0], env.configs[0])
		shoot := env.shootInput()
		assert.Empty(t, env.driver.Validate(shoot), name)
		given := &shoot.Worker.Spec.Pools[0]
		before := shoot.Worker.DeepCopy()
		machines, err := env.driver.Machines(shoot, nil, given)
		require.NoError(t, err, name)
		assert.Equal(t, before, shoot.Worker, "%s: the shoot is read-only", name)
		again, err := env.driver.Machines(shoot, nil, given)
		require.NoError(t, err)
		assert.Equal(t, machines, again, "%s: the result is deterministic", name)

		require.Len(t, machines.Classes, 2)
		for zone, class := range machines.Classes {
			assert.Equal(t, "AWS", class.Provider)
			assert.Equal(t, given.Zones[zone], class.NodeLabels["topology.kubernetes.io/zone"])
			if name != "encrypted memory" { // the driver requires the number of cores, which the user does not give here
				assert.Empty(t, specOf(t, class).Validate(field.NewPath("providerSpec")), name)
			}
		}
		assert.Equal(t, "subnet-nodes-b", specOf(t, machines.Classes[1]).NetworkInterfaces[0].SubnetID)
		shown := goldenClass{
			Spec: json.RawMessage(encoded(t, machines.Classes[0].ProviderSpec)), Labels: machines.Classes[0].Labels, NodeLabels: machines.Classes[0].NodeLabels,
		}
		if template := machines.Classes[0].NodeTemplate; template.Capacity != nil || template.VirtualCapacity != nil {
			shown.NodeTemplate = template
		}
		classes[name] = shown
	}
	checkGolden(t, "classes.json", classes)
}

// Fields that are not set are not in the class: drivers of other versions need not know them. None is null.
func TestMachines_PlainClass(t *testing.T) {
	for name, want := range map[string][]string{
		"plain": {
			"ami", "blockDevices", "iam", "instanceMetadataOptions", "keyName", "machineType", "networkInterfaces", "region", "srcAndDstChecksEnabled", "tags",
		},
		"encrypted memory": {
			"ami", "blockDevices", "cpuOptions", "iam", "instanceMetadataOptions", "keyName", "machineType", "networkInterfaces", "region", "srcAndDstChecksEnabled", "tags",
		},
	} {
		env := newEnvironment(t)
		poolCases()[name](env, &env.pools[0], env.configs[0])
		text := encoded(t, env.machines().Classes[0].ProviderSpec)
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &fields))
		assert.Equal(t, want, slices.Sorted(maps.Keys(fields)))
		assert.NotContains(t, text, "null")
	}
}

// In a deletion a missing class is created again, even if the inputs are invalid: machines are found by its tags.
func TestMachines_Deletion(t *testing.T) {
	env := newEnvironment(t)
	poolCases()["everything"](env, &env.pools[0], env.configs[0])
	env.profile.MachineImages, env.infra = nil, awsv1alpha1.NewInfrastructureStatus()
	env.pools[0].DataVolumes[0].Size = "x"
	shoot := env.shootInput()
	_, err := env.driver.Machines(shoot, nil, &shoot.Worker.Spec.Pools[0])
	require.Error(t, err)

	env.deleting = true
	shoot = env.shootInput()
	shoot.Worker.Spec.Pools[0].ProviderConfig.Raw = []byte(`{}`)
	shoot.Cluster.CloudProfile.Spec.ProviderConfig.Raw = []byte(`{}`)
	machines, err := env.driver.Machines(shoot, nil, &shoot.Worker.Spec.Pools[0])
	require.NoError(t, err)
	spec := specOf(t, machines.Classes[0])
	assert.Empty(t, spec.Validate(nil), "the existing machine driver requires all fields, also to delete a machine")
	assert.Equal(t, map[string]string{"kubernetes.io/cluster/" + technicalID: "1", "kubernetes.io/role/node": "1", "worker.gardener.cloud/pool": "cpu"}, spec.Tags)
}

func TestMachines_TooManyInterfaces(t *testing.T) {
	env := newEnvironment(t)
	env.configs[0].NetworkInterfaces = []awsv1alpha1.NetworkInterface{{NetworkCardIndexRange: &awsv1alpha1.IndexRange{To: 1 << 30}}}
	shoot := env.shootInput()
	_, err := env.driver.Machines(shoot, nil, &shoot.Worker.Spec.Pools[0])
	require.ErrorContains(t, err, `network interface 1 of pool "cpu" is on too many network cards`)
	env.deleting = true
	assert.Len(t, specOf(t, env.machines().Classes[0]).NetworkInterfaces, 1)
}

func TestPrepare_RecordsImages(t *testing.T) {
	env := newEnvironment(t)
	second, _ := env.addPool("second")
	second.MachineImage.Version = "1592.1.0"
	third, _ := env.addPool("third")
	third.Architecture = new("arm64")
	env.addPool("fourth")
	want := []awsv1alpha1.MachineImage{
		{Name: "gardenlinux", Version: "1877.3.0", AMI: ami, Architecture: new("amd64")},
		{Name: "gardenlinux", Version: "1592.1.0", AMI: "ami-former", Architecture: new("amd64")},
		{Name: "gardenlinux", Version: "1877.3.0", AMI: "ami-arm64", Architecture: new("arm64")},
	}
	status := env.prepare()
	assert.Equal(t, want, status.MachineImages)
	assert.Equal(t, "WorkerStatus", status.Kind)

	env.profile.MachineImages = nil
	assert.Empty(t, env.driver.Validate(env.shootInput()))
	status = env.prepare()
	assert.Equal(t, want, status.MachineImages, "images that left the CloudProfile are kept")
	shoot := env.shootInput()
	machines, err := env.driver.Machines(shoot, status, &shoot.Worker.Spec.Pools[1])
	require.NoError(t, err)
	assert.Equal(t, "ami-former", specOf(t, machines.Classes[0]).AMI)

	env.pools, env.configs = env.pools[:1], env.configs[:1]
	assert.Equal(t, want[:1], env.prepare().MachineImages, "unused images are omitted")
}

// A CloudProfile that begins to use capabilities, or no longer does, finds the images that were recorded before.
func TestPrepare_OtherFormOfImages(t *testing.T) {
	env := newEnvironment(t)
	env.prepare()
	env.profile.MachineImages = nil
	poolCases()["image by capabilities"](env, &pool{}, nil)
	assert.Equal(t, []awsv1alpha1.MachineImage{
		{Name: "gardenlinux", Version: "1877.3.0", AMI: ami, Capabilities: gardencorev1beta1.Capabilities{"architecture": {"amd64"}}},
	}, env.prepare().MachineImages)
	env.object.Spec.MachineCapabilities = nil
	assert.Equal(t, []awsv1alpha1.MachineImage{{Name: "gardenlinux", Version: "1877.3.0", AMI: ami, Architecture: new("amd64")}}, env.prepare().MachineImages)
}

func TestCleanup(t *testing.T) {
	env := newEnvironment(t)
	prepared := env.prepare()
	cleaned, err := env.driver.Cleanup(t.Context(), env.shootInput(), prepared)
	require.NoError(t, err)
	assert.Equal(t, prepared, cleaned)

	env.deleting = true
	for _, recorded := range []runtime.Object{nil, &runtime.Unknown{Raw: env.status.Raw, ContentType: runtime.ContentTypeJSON}, &runtime.Unknown{Raw: []byte(`{}`), ContentType: runtime.ContentTypeJSON}} {
		cleaned, err = env.driver.Cleanup(t.Context(), env.shootInput(), recorded)
		require.NoError(t, err)
		assert.Equal(t, awsv1alpha1.NewWorkerStatus(), cleaned)
	}
}

// The observer's Foresee is Prepare, also in its errors.
func TestForesee(t *testing.T) {
	env := newEnvironment(t)
	foreseen, err := env.driver.Foresee(env.shootInput())
	require.NoError(t, err)
	assert.Equal(t, runtime.Object(env.prepare()), foreseen)
	env.status = &runtime.RawExtension{Raw: []byte(`{}`)}
	_, err = env.driver.Foresee(env.shootInput())
	assert.ErrorContains(t, err, "reading the recorded providerStatus")
}
