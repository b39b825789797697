package aws_test

import (
	"maps"
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

// hashRow is a pool with its part of its hash. e2e compares the rows with upstream's order and Gardener's functions.
type hashRow struct {
	Sentence        string   `json:"sentence"`
	Pool            pool     `json:"pool"`
	HashData        []string `json:"hashData"`
	HashDataInPlace []string `json:"hashDataInPlace"`
	// Sorted is HashData as upstream computes it from an object for the second time, if that differs.
	Sorted []string `json:"sorted,omitempty"`
}

// Every case with a Kubernetes version whose fields are inputs, and with one whose bytes are.
func TestHashData_Golden(t *testing.T) {
	var rows []hashRow
	cases := poolCases()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		for _, kubernetes := range []string{"1.33.5", "1.34.0"} {
			env := newEnvironment(t)
			cases[name](env, &env.pools[0], env.configs[0])
			env.pools[0].KubernetesVersion = new(kubernetes)
			machines := env.machines()
			assert.Len(t, machines.HashDataNames, len(machines.HashData), name)
			assert.Len(t, slices.Compact(slices.Sorted(slices.Values(machines.HashDataNames))), len(machines.HashData), "%s: names are unique", name)
			row := hashRow{
				Sentence: name + ", Kubernetes " + kubernetes, Pool: env.shootInput().Worker.Spec.Pools[0],
				HashData: machines.HashData, HashDataInPlace: machines.HashDataInPlace,
			}
			if machines.UpstreamMachines != nil {
				row.Sorted = machines.UpstreamMachines.HashData
				assert.Equal(t, machines.Classes, machines.UpstreamMachines.Classes, "only the names of the classes differ")
				assert.Equal(t, machines.HashDataInPlace, machines.UpstreamMachines.HashDataInPlace)
			}
			rows = append(rows, row)
		}
	}
	assert.Greater(t, len(rows), 100)
	checkGolden(t, "hashes.json", rows)
}

// The inputs of everything that a pool can have, one after the other.
func TestHashData_Everything(t *testing.T) {
	env := newEnvironment(t)
	poolCases()["everything"](env, &env.pools[0], env.configs[0])
	machines := env.machines()
	var inputs []string
	for i, name := range machines.HashDataNames {
		inputs = append(inputs, name+": "+machines.HashData[i])
	}
	assert.Equal(t, []string{
		"the encryption of the root volume: true",
		"the size of data volume b: 20Gi", "the type of data volume b: io1", "the encryption of data volume b: true",
		"the size of data volume a: 30Gi", "the type of data volume a: gp3",
		"the size of data volume c: 30Gi", "the type of data volume c: gp2",
		"the capacity cpu of nodes: cpu=2", "the capacity gpu of nodes: gpu=1", "the capacity memory of nodes: memory=17179869184",
		"the IOPS of the root volume: 4000", "the throughput of the root volume: 250",
		"the configuration of data volume b: b", "the IOPS of data volume b: 300",
		"the configuration of data volume a: a", "the throughput of data volume a: 200", "the snapshot of data volume a: snap-1",
		"the name of the instance profile: mine",
		"the tokens of the metadata service: required", "the hop limit of the metadata service: 1",
		"the number of cores: 2", "the threads of each core: 2",
		"the preference of capacity reservations: capacity-reservations-only", "the capacity reservation: cr-1",
		"the market: spot",
		"the type of network interface 1: interface",
		"the type of network interface 2: efa-only", "the device index of network interface 2: 1",
		"the first network card of network interface 2: 1", "the last network card of network interface 2: 2", "the subnet of network interface 2: subnet-other",
		"the placement group: pg-1", "the tenancy: host", "the dedicated host: h-1", "the partition of the placement group: 2", "the affinity to the host: host",
	}, inputs)
	assert.Equal(t, []string{"true"}, machines.HashDataInPlace)
}

func TestHashData_KubernetesVersion(t *testing.T) {
	const raw = `{"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig","volume":{"iops":100}}`
	for kubernetes, want := range map[string]string{
		"1.32.9": raw, "1.33.0": raw, "1.34.0-alpha.1": "100", "1.34.0": "100", "1.35.2": "100", "2.0.0": "100",
	} {
		env := newEnvironment(t)
		env.pools[0].KubernetesVersion, env.pools[0].ProviderConfig = &kubernetes, &runtime.RawExtension{Raw: []byte(raw)}
		assert.Equal(t, []string{want}, env.machines().HashData, kubernetes)
	}
	env := newEnvironment(t)
	env.pools[0].KubernetesVersion, env.pools[0].ProviderConfig = nil, &runtime.RawExtension{Raw: []byte(raw)}
	assert.Equal(t, []string{raw}, env.machines().HashData)
	env.pools[0].KubernetesVersion = new("new")
	shoot := env.shootInput()
	_, err := env.driver.Machines(shoot, nil, &shoot.Worker.Spec.Pools[0])
	assert.ErrorContains(t, err, `reading the Kubernetes version of pool "cpu"`)
}

// What must replace no nodes is no input.
func TestHashData_KeepsNodes(t *testing.T) {
	for name, change := range map[string]change{
		"limits": func(_ *environment, p *pool, _ *config) { p.Minimum, p.Maximum = 3, 9 },
		"labels": func(_ *environment, p *pool, _ *config) { p.Labels["team"] = "a" },
		"zones":  func(_ *environment, p *pool, _ *config) { p.Zones = p.Zones[:1] },
		"AMI": func(env *environment, _ *pool, _ *config) {
			env.profile.MachineImages[0].Versions[0].Regions[1].AMI = "ami-next"
		},
		"key":              func(env *environment, _ *pool, _ *config) { env.infra.EC2.KeyName = "" },
		"instance profile": func(env *environment, _ *pool, _ *config) { env.infra.IAM.InstanceProfiles[0].Name = "next" },
		"subnets":          func(env *environment, _ *pool, _ *config) { env.infra.VPC.Subnets[1].ID = "subnet-next" },
		"encrypted memory": func(_ *environment, _ *pool, c *config) {
			c.CpuOptions = &awsv1alpha1.CpuOptions{AmdSevSnp: new("enabled")}
		},
		"virtual capacity": capacityCases()["virtual capacity of nodes"],
		"description of an interface": func(_ *environment, _ *pool, c *config) {
			c.NetworkInterfaces[0].Description = new("first")
		},
		"IP families": func(env *environment, _ *pool, _ *config) {
			env.shoot.Spec.Networking = &gardencorev1beta1.Networking{IPFamilies: []gardencorev1beta1.IPFamily{"IPv4", "IPv6"}}
		},
	} {
		env := newEnvironment(t)
		env.configs[0].NetworkInterfaces = []awsv1alpha1.NetworkInterface{{}}
		before := env.machines()
		change(env, &env.pools[0], env.configs[0])
		after := env.machines()
		assert.Equal(t, before.HashData, after.HashData, name)
		assert.Equal(t, before.HashDataInPlace, after.HashDataInPlace, name)
	}
}

// The texts are those that the expressions of upstream leave over.
func TestHashData_RawConfigWithoutVirtualCapacity(t *testing.T) {
	const (
		begin = `{"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig"`
		iops  = `,"volume":{"iops":100}}`
	)
	for given, want := range map[string]string{
		begin + `}`: begin + `}`,
		begin + `,"nodeTemplate":{"virtualCapacity":{"a.io/b":"1"}}}`:                                     begin + `}`,
		begin + `,"nodeTemplate":{"virtualCapacity":{}}}`:                                                 begin + `}`,
		begin + `,"nodeTemplate":{"virtualCapacity":{"a.io/b":"1"}}` + iops:                               begin + iops,
		begin + `,"nodeTemplate":{"capacity":{"cpu":"1"},"virtualCapacity":{"a.io/b":"1"}}` + iops:        begin + `,"nodeTemplate":{"capacity":{"cpu":"1"}}` + iops,
		begin + `,"nodeTemplate":{"capacity":{"cpu":"1"}}` + iops:                                         begin + `,"nodeTemplate":{"capacity":{"cpu":"1"}}` + iops,
		" " + begin + `, "nodeTemplate" : { "virtualCapacity" : { "a.io/b": 1 } } , "volume": {}}` + "\n": begin + `,  "volume": {}}`,
		" " + begin + `}`: " " + begin + `}`,
		begin + `,"nodeTemplate":{"virtualCapacity":{"a.io/b":"1"},"capacity":{"cpu":"1"}}` + iops:                    begin + `,"nodeTemplate":{"virtualCapacity":{"a.io/b":"1"},"capacity":{"cpu":"1"}}` + iops,
		begin + `,"nodeTemplate":{"capacity":{"cpu":"1"},` + "\n" + `"virtualCapacity":{"a.io/b":"1"}` + "\n}" + iops: begin + `,"nodeTemplate":{"capacity":{"cpu":"1"}}` + iops,
	} {
		env := newEnvironment(t)
		env.pools[0].KubernetesVersion, env.pools[0].ProviderConfig = new("1.33.5"), &runtime.RawExtension{Raw: []byte(given)}
		assert.Equal(t, []string{want}, env.machines().HashData, given)
	}
}

// Upstream has named classes by either order of the data volumes. Device names never depend on it.
func TestMachines_OrderOfDataVolumes(t *testing.T) {
	env := newEnvironment(t)
	volumeCases()["sorted data volumes"](env, &env.pools[0], nil)
	sorted := env.machines()
	assert.Nil(t, sorted.UpstreamMachines)
	slices.Reverse(env.pools[0].DataVolumes)
	reversed := env.machines()
	assert.Equal(t, []string{"20Gi", "gp3", "1Ti", "st1", "false"}, reversed.HashData)
	require.NotNil(t, reversed.UpstreamMachines)
	assert.Equal(t, *sorted, reversed.UpstreamMachines.Machines)
	assert.Equal(t, "the machine classes of pool cpu are named by the order of its data volumes when its nodes are replaced", reversed.UpstreamMachines.Message)
	assert.Equal(t, []extensionsv1alpha1.DataVolume{{Name: "logs", Size: "20Gi", Type: new("gp3")}, {Name: "cache", Size: "1Ti", Type: new("st1"), Encrypted: new(false)}},
		env.pools[0].DataVolumes, "the pool is read-only")
}
