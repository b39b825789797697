package openstack

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	openstackmachine "github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/golden"
	"github.com/trellis-garden/trellis/internal/worker"
)

// checkGolden compares a value, as JSON, with a file in testdata. A change of hashdata.json replaces nodes of existing shoots.
func checkGolden(t *testing.T, name string, got any) {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(got))
	golden.Check(t, filepath.Join("testdata", name), text.String())
}

type (
	pool   = extensionsv1alpha1.WorkerPool
	config = openstackv1alpha1.WorkerConfig
)

// poolCases are pools with upstream's fields and with ours.
func poolCases() map[string]func(*environment, *pool, *config) {
	return map[string]func(*environment, *pool, *config){
		"plain":         func(*environment, *pool, *config) {},
		"image by name": func(_ *environment, p *pool, _ *config) { p.MachineImage.Version = "1592.1.0" },
		"arm64":         func(_ *environment, p *pool, _ *config) { p.Architecture = new("arm64") },
		"image by capabilities": func(env *environment, p *pool, _ *config) {
			env.object.Spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{
				{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "boot", Values: []string{"uefi", "bios"}},
			}
			p.MachineType, p.MachineImage.Version = "bios", "2000.0.0"
		},
		"boot volume": func(_ *environment, p *pool, _ *config) {
			p.Volume = &extensionsv1alpha1.Volume{Size: "50Gi", Type: new("fast")}
		},
		"boot volume without a type":  func(_ *environment, p *pool, _ *config) { p.Volume = &extensionsv1alpha1.Volume{Size: "50Gi"} },
		"storage of the machine type": func(_ *environment, p *pool, _ *config) { p.MachineType = "without-disk" },
		"storage of the machine type with another size": func(_ *environment, p *pool, _ *config) {
			p.MachineType, p.Volume = "without-disk", &extensionsv1alpha1.Volume{Size: "50Gi"}
		},
		"default storage":      func(_ *environment, p *pool, _ *config) { p.MachineType = "default-storage" },
		"removed machine type": func(_ *environment, p *pool, _ *config) { p.MachineType = "removed" },
		"server group": func(_ *environment, _ *pool, c *config) {
			c.ServerGroup = &openstackv1alpha1.ServerGroup{Policy: "soft-anti-affinity"}
		},
		"labels": func(_ *environment, p *pool, c *config) {
			p.Labels = map[string]string{
				"worker.gardener.cloud/pool": "cpu", "a/b": "1", "a-b": "2", "a~b": "3", "team": "team-a",
				"kubernetes.io/cluster-shoot--dev--two": "1", "kubernetes.io/role-node": "0",
			}
			c.MachineLabels = []openstackv1alpha1.MachineLabel{
				{Name: "z", Value: "last", TriggerRollingOnUpdate: true},
				{Name: "a", Value: "first", TriggerRollingOnUpdate: true},
				{Name: "quiet", Value: "x"},
				{Name: "a_b", Value: "4"},
				{Name: "team!", Value: "x=y"},
			}
		},
		"security groups": func(_ *environment, _ *pool, c *config) { c.AdditionalSecurityGroups = []string{"web", "storage"} },
		"networks": func(_ *environment, _ *pool, c *config) {
			c.AdditionalNetworks = []openstackv1alpha1.AdditionalNetwork{{Name: "provider"}, {ID: storageID}}
		},
		"config drive":    func(_ *environment, _ *pool, c *config) { c.ConfigDrive = new(true) },
		"no config drive": func(_ *environment, _ *pool, c *config) { c.ConfigDrive = new(false) },
		"data volumes": func(_ *environment, p *pool, _ *config) {
			p.DataVolumes = []extensionsv1alpha1.DataVolume{{Name: "logs", Size: "20Gi"}, {Name: "cache", Size: "1Ti", Type: new("fast")}}
		},
		"dual stack": func(env *environment, _ *pool, _ *config) {
			env.infra.Networks.Subnets = append([]openstackv1alpha1.Subnet{
				{Purpose: openstackv1alpha1.PurposeNodesIPv6, ID: "subnet-of-nodes-ipv6"}, {Purpose: openstackv1alpha1.PurposeServices, ID: "subnet-of-services"},
			}, env.infra.Networks.Subnets...)
			env.ranges = []string{"100.96.0.0/11", "2001:db8::/48"}
		},
		"node template": func(_ *environment, _ *pool, c *config) {
			c.NodeTemplate = &extensionsv1alpha1.NodeTemplate{
				Capacity:        corev1.ResourceList{"gpu": resource.MustParse("1")},
				VirtualCapacity: corev1.ResourceList{"example.com/devices": resource.MustParse("4")},
			}
		},
		"everything": func(_ *environment, p *pool, c *config) {
			p.DataVolumes = []extensionsv1alpha1.DataVolume{{Name: "logs", Size: "20Gi"}}
			*c = config{
				ServerGroup:              &openstackv1alpha1.ServerGroup{Policy: "anti-affinity"},
				MachineLabels:            []openstackv1alpha1.MachineLabel{{Name: "a", Value: "1", TriggerRollingOnUpdate: true}},
				AdditionalSecurityGroups: []string{"web"},
				AdditionalNetworks:       []openstackv1alpha1.AdditionalNetwork{{ID: storageID}},
				ConfigDrive:              new(true),
			}
		},
	}
}

// goldenClass has a pool's machines in a golden file: for the first zone; other zones differ in their own fields only.
type goldenClass struct {
	Spec         openstackmachine.MachineProviderConfigSpec `json:"spec"`
	NodeLabels   map[string]string                          `json:"nodeLabels"`
	NodeTemplate any                                        `json:"nodeTemplate,omitempty"`
}

// goldenHash is a pool's part of its hash.
type goldenHash struct {
	Data     []string    `json:"data"`
	InPlace  []string    `json:"inPlace"`
	Upstream *goldenHash `json:"upstream,omitempty"`
}

func goldenHashOf(machines *worker.Machines) goldenHash {
	result := goldenHash{Data: machines.HashData, InPlace: machines.HashDataInPlace}
	if machines.UpstreamMachines != nil {
		result.Upstream = new(goldenHashOf(&machines.UpstreamMachines.Machines))
	}
	return result
}

func TestMachines_Golden(t *testing.T) {
	classes, hashes := map[string]goldenClass{}, map[string]goldenHash{}
	for name, change := range poolCases() {
		env := newEnvironment(t)
		change(env, &env.pools[0], env.configs[0])
		shoot := env.shootInput()
		assert.Empty(t, env.driver.Validate(shoot), name)
		status := &openstackv1alpha1.WorkerStatus{ServerGroupDependencies: []openstackv1alpha1.ServerGroupDependency{
			{PoolName: "cpu", ID: "unused-group"}, {PoolName: "cpu", ID: "group-of-cpu"}, {PoolName: "other", ID: "group-of-other"},
		}}
		given := &shoot.Worker.Spec.Pools[0]
		before := shoot.Worker.DeepCopy()
		machines, err := env.driver.Machines(shoot, status, given)
		require.NoError(t, err, name)
		assert.Equal(t, before, shoot.Worker, "%s: the shoot is read-only", name)

		again, err := env.driver.Machines(shoot, status, given)
		require.NoError(t, err)
		assert.Equal(t, machines, again, "%s: the result is deterministic", name)
		require.Len(t, machines.Classes, 2)
		for zone, class := range machines.Classes {
			config, ok := class.ProviderSpec.(*openstackmachine.MachineProviderConfig)
			require.True(t, ok)
			assert.Equal(t, "OpenStack", class.Provider)
			assert.Equal(t, "MachineProviderConfig", config.Kind)
			assert.Empty(t, config.Validate(field.NewPath("providerSpec")), name)
			assert.Equal(t, given.Zones[zone], config.Spec.AvailabilityZone)
		}
		config, _ := machines.Classes[0].ProviderSpec.(*openstackmachine.MachineProviderConfig)
		shown := goldenClass{Spec: config.Spec, NodeLabels: machines.Classes[0].NodeLabels}
		if template := machines.Classes[0].NodeTemplate; template.Capacity != nil {
			shown.NodeTemplate = template
		}
		classes[name], hashes[name] = shown, goldenHashOf(machines)
	}
	checkGolden(t, "classes.json", classes)
	checkGolden(t, "hashdata.json", hashes)
}

// Upstream ignores data volumes: its class is that of the same pool without them.
func TestMachines_UpstreamMachines(t *testing.T) {
	env := newEnvironment(t)
	poolCases()["everything"](env, &env.pools[0], env.configs[0])
	status := &openstackv1alpha1.WorkerStatus{ServerGroupDependencies: []openstackv1alpha1.ServerGroupDependency{{PoolName: "cpu", ID: "group"}}}
	with := env.shootInput()
	full, err := env.driver.Machines(with, status, &with.Worker.Spec.Pools[0])
	require.NoError(t, err)
	require.NotNil(t, full.UpstreamMachines)
	assert.Equal(t, "the data volumes of pool cpu are created when its nodes are replaced", full.UpstreamMachines.Message)

	env.pools[0].DataVolumes = nil
	without := env.shootInput()
	plain, err := env.driver.Machines(without, status, &without.Worker.Spec.Pools[0])
	require.NoError(t, err)
	assert.Equal(t, *plain, full.UpstreamMachines.Machines)
	assert.Nil(t, plain.UpstreamMachines)
	assert.NotEqual(t, plain.HashData, full.HashData)
	assert.NotEqual(t, plain.HashDataInPlace, full.HashDataInPlace, "the classes have different names")
}

func TestPrepare_RecordsImages(t *testing.T) {
	env := newEnvironment(t)
	second, _ := env.addPool("second")
	second.MachineImage.Version = "1592.1.0"
	env.addPool("third")
	status, err := env.driver.Prepare(t.Context(), env.shootInput())
	require.NoError(t, err)
	want := []openstackv1alpha1.MachineImage{
		{Name: "gardenlinux", Version: "1877.3.0", ID: imageID, Architecture: new("amd64")},
		{Name: "gardenlinux", Version: "1592.1.0", Image: "gardenlinux-1592.1", Architecture: new("amd64")},
	}
	typed, ok := status.(*openstackv1alpha1.WorkerStatus)
	require.True(t, ok)
	assert.Equal(t, want, typed.MachineImages)
	assert.Equal(t, "WorkerStatus", typed.Kind)
	env.record(status)

	env.profile.MachineImages = []openstackv1alpha1.MachineImages{}
	env.removePool("third")
	shoot := env.shootInput()
	assert.Empty(t, env.driver.Validate(shoot))
	status, err = env.driver.Prepare(t.Context(), shoot)
	require.NoError(t, err)
	typed, _ = status.(*openstackv1alpha1.WorkerStatus)
	assert.Equal(t, want, typed.MachineImages)
	machines, err := env.driver.Machines(shoot, status, &shoot.Worker.Spec.Pools[0])
	require.NoError(t, err)
	config, _ := machines.Classes[0].ProviderSpec.(*openstackmachine.MachineProviderConfig)
	assert.Equal(t, imageID, config.Spec.ImageID)

	env.removePool("second")
	status, err = env.driver.Prepare(t.Context(), env.shootInput())
	require.NoError(t, err)
	typed, _ = status.(*openstackv1alpha1.WorkerStatus)
	assert.Equal(t, want[:1], typed.MachineImages, "unused images are omitted")
}

// In a deletion a missing class is created again, even if the inputs are invalid: machines are found by its tags.
func TestMachines_Deletion(t *testing.T) {
	env := newEnvironment(t)
	poolCases()["everything"](env, &env.pools[0], env.configs[0])
	env.profile.MachineImages = []openstackv1alpha1.MachineImages{}
	env.pools[0].DataVolumes[0].Size = "x"
	shoot := env.shootInput()
	_, err := env.driver.Machines(shoot, nil, &shoot.Worker.Spec.Pools[0])
	require.Error(t, err)

	env.deleting = true
	shoot = env.shootInput()
	shoot.Worker.Spec.Pools[0].ProviderConfig.Raw = []byte(`{}`)
	machines, err := env.driver.Machines(shoot, env.recorded(), &shoot.Worker.Spec.Pools[0])
	require.NoError(t, err)
	config, _ := machines.Classes[0].ProviderSpec.(*openstackmachine.MachineProviderConfig)
	assert.Empty(t, config.Validate(nil), "the existing machine driver requires all fields, also to delete a machine")
	assert.Equal(t, map[string]string{
		"kubernetes.io-cluster-" + technicalID: "1", "kubernetes.io-role-node": "1", "worker.gardener.cloud-pool": "cpu",
	}, config.Spec.Tags)
}

// Fields that are not set are not in the class: drivers of other versions need not know them.
func TestMachines_PlainClass(t *testing.T) {
	env := newEnvironment(t)
	shoot := env.shootInput()
	machines, err := env.driver.Machines(shoot, nil, &shoot.Worker.Spec.Pools[0])
	require.NoError(t, err)
	text, err := json.Marshal(machines.Classes[0].ProviderSpec)
	require.NoError(t, err)
	var fields struct{ Spec map[string]any }
	require.NoError(t, json.Unmarshal(text, &fields))
	assert.Equal(t, []string{
		"availabilityZone", "flavorName", "imageID", "imageName", "keyName", "networkID", "podNetworkCIDRs", "region", "securityGroups", "subnetIDs", "tags",
	}, slices.Sorted(maps.Keys(fields.Spec)))
	assert.Equal(t, fake.DefaultRegion, fields.Spec["region"])
}
