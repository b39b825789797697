package admission

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
)

// inPool is the path of the first pool, inPoolConfig that of its configuration.
const (
	inPool       = "spec.provider.workers[0]"
	inPoolConfig = inPool + ".providerConfig"
)

func testWorkers(t *testing.T, env *environment) {
	t.Run("Configs", func(t *testing.T) { env.validateNewShoots(t, poolConfigs()) })
	t.Run("Volumes", func(t *testing.T) { env.validateNewShoots(t, volumes()) })
	t.Run("Good", func(t *testing.T) { env.validateNewShoots(t, goodPools()) })
}

func poolRaw(text string) change {
	return worker(func(worker *gardencorev1beta1.Worker) {
		worker.ProviderConfig = &runtime.RawExtension{Raw: []byte(text)}
	})
}

func poolConfigs() map[string]shootCase {
	labels, networks := inPoolConfig+".machineLabels", inPoolConfig+".additionalNetworks"
	return map[string]shootCase{
		"a field that there is not":        {pool(`{serverGroups: {}}`), []expectedCause{{inPoolConfig, "correct the name or remove the field"}}},
		"another group":                    {pool(`{apiVersion: aws.provider.extensions.gardener.cloud/v1alpha1}`), []expectedCause{{inPoolConfig, "set apiVersion to openstack"}}},
		"a text":                           {poolRaw(`"soft-anti-affinity"`), []expectedCause{{inPoolConfig, "not a JSON object"}}},
		"a policy that nobody offers":      {pool(`{serverGroup: {policy: anti-affinity}}`), []expectedCause{{inPoolConfig + ".serverGroup.policy", `choose one of "affinity", "soft-anti-affinity"`}}},
		"a server group without a policy":  {pool(`{serverGroup: {policy: ""}}`), []expectedCause{{inPoolConfig + ".serverGroup.policy", "or remove serverGroup"}}},
		"one host in two zones":            {all(zones("nova", "vega"), pool(`{serverGroup: {policy: affinity}}`)), []expectedCause{{inPoolConfig + ".serverGroup.policy", "a single zone for the pool"}}},
		"one label twice":                  {pool(`{machineLabels: [{name: a, value: b}, {name: a, value: c}]}`), []expectedCause{{labels + "[1].name", "remove one of the two"}}},
		"a label that the pool has":        {all(poolLabels("a", "b"), pool(`{machineLabels: [{name: a, value: b}]}`)), []expectedCause{{labels + "[0].name", "is a label of the pool"}}},
		"a label that says whose it is":    {pool(`{machineLabels: [{name: kubernetes.io-cluster-shoot--other, value: "1"}]}`), []expectedCause{{labels + "[0].name", "choose a name that begins neither with"}}},
		"a label without a name":           {pool(`{machineLabels: [{name: "", value: b}]}`), []expectedCause{{labels + "[0].name", "give the key"}}},
		"a value in two lines":             {pool(`{machineLabels: [{name: a, value: "b\nc"}]}`), []expectedCause{{labels + "[0].value", "line breaks"}}},
		"one security group twice":         {pool(`{additionalSecurityGroups: [a, a]}`), []expectedCause{{inPoolConfig + ".additionalSecurityGroups[1]", "remove one of the two"}}},
		"a security group without a name":  {pool(`{additionalSecurityGroups: [""]}`), []expectedCause{{inPoolConfig + ".additionalSecurityGroups[0]", "give the name of a security group"}}},
		"a network by ID and name":         {pool(`{additionalNetworks: [{id: ` + aUUID + `, name: a}]}`), []expectedCause{{networks + "[0].name", "remove one of the two"}}},
		"a network by an ID that is none":  {pool(`{additionalNetworks: [{id: a}]}`), []expectedCause{{networks + "[0].id", "not its name"}}},
		"a network that is not named":      {pool(`{additionalNetworks: [{}]}`), []expectedCause{{networks + "[0].name", "give the ID of the network, or its name"}}},
		"less than nothing":                {pool(`{nodeTemplate: {capacity: {cpu: "-1"}}}`), []expectedCause{{inPoolConfig + ".nodeTemplate.capacity[cpu]", "not negative"}}},
		"half a device":                    {pool(`{nodeTemplate: {virtualCapacity: {example.org/device: 500m}}}`), []expectedCause{{inPoolConfig + ".nodeTemplate.virtualCapacity[example.org/device]", "whole numbers"}}},
		"no zone":                          {zones(), []expectedCause{{inPool + ".zones", "give at least one availability zone"}}},
		"an error in the second pool":      {secondPool(pool(`{additionalSecurityGroups: [""]}`)), []expectedCause{{"spec.provider.workers[1].providerConfig.additionalSecurityGroups[0]", "give the name of a security group"}}},
		"an error in each of two pools":    {all(pool(`{a: 1}`), secondPool(pool(`{b: 1}`))), []expectedCause{{inPoolConfig, `"a"`}, {"spec.provider.workers[1].providerConfig", `"b"`}}},
		"a number where a switch would be": {pool(`{configDrive: 1}`), []expectedCause{{inPoolConfig, "must be true or false"}}},
	}
}

func zones(names ...string) change {
	return worker(func(worker *gardencorev1beta1.Worker) { worker.Zones = names })
}

func poolLabels(name, value string) change {
	return worker(func(worker *gardencorev1beta1.Worker) { worker.Labels = map[string]string{name: value} })
}

func dataVolumes(volumes ...gardencorev1beta1.DataVolume) change {
	return worker(func(worker *gardencorev1beta1.Worker) { worker.DataVolumes = volumes })
}

// volumes are those that Gardener itself accepts.
func volumes() map[string]shootCase {
	return map[string]shootCase{
		"a root volume of no size": {
			worker(func(worker *gardencorev1beta1.Worker) { worker.Volume.VolumeSize = "0Gi" }),
			[]expectedCause{{inPool + ".volume.size", "give a size like 50Gi"}},
		},
		"an encrypted root volume": {
			worker(func(worker *gardencorev1beta1.Worker) { worker.Volume.Encrypted = new(true) }),
			[]expectedCause{{inPool + ".volume.encrypted", "choose such a type"}},
		},
		"a data volume of no size": {dataVolumes(gardencorev1beta1.DataVolume{Name: "a", VolumeSize: "0Gi"}), []expectedCause{{inPool + ".dataVolumes[0].size", "give a size like 50Gi"}}},
		"a data volume of an EiB":  {dataVolumes(gardencorev1beta1.DataVolume{Name: "a", VolumeSize: "1073741825Gi"}), []expectedCause{{inPool + ".dataVolumes[0].size", "give a size like 50Gi"}}},
		"an encrypted data volume": {dataVolumes(gardencorev1beta1.DataVolume{Name: "a", VolumeSize: "1Gi", Encrypted: new(true)}), []expectedCause{{inPool + ".dataVolumes[0].encrypted", "choose such a type"}}},
		"the second of data volumes": {
			dataVolumes(gardencorev1beta1.DataVolume{Name: "a", VolumeSize: "1Gi"}, gardencorev1beta1.DataVolume{Name: "b", VolumeSize: "0Gi"}),
			[]expectedCause{{inPool + ".dataVolumes[1].size", "give a size like 50Gi"}},
		},
	}
}

// inPlace sets in-place updates for a pool.
func inPlace() change {
	return worker(func(worker *gardencorev1beta1.Worker) {
		worker.UpdateStrategy = new(gardencorev1beta1.AutoInPlaceUpdate)
	})
}

func goodPools() map[string]shootCase {
	return map[string]shootCase{
		"two pools":                       {secondPool(), nil},
		"two zones":                       {zones("nova", "vega"), nil},
		"one host in one zone":            {pool(`{serverGroup: {policy: affinity}}`), nil},
		"softly apart in two zones":       {all(zones("nova", "vega"), pool(`{serverGroup: {policy: soft-anti-affinity}}`)), nil},
		"labels of machines":              {all(poolLabels("a", "b"), pool(`{machineLabels: [{name: c, value: d, triggerRollingOnUpdate: true}, {name: e, value: ""}]}`)), nil},
		"security groups":                 {pool(`{additionalSecurityGroups: [a, b]}`), nil},
		"networks":                        {pool(`{additionalNetworks: [{id: ` + aUUID + `}, {name: storage}]}`), nil},
		"a config drive":                  {pool(`{configDrive: true}`), nil},
		"what a node has":                 {pool(`{nodeTemplate: {capacity: {cpu: 2, gpu: 0, memory: 4Gi}, virtualCapacity: {example.org/device: 2}}}`), nil},
		"data volumes":                    {dataVolumes(gardencorev1beta1.DataVolume{Name: "a", VolumeSize: "10Gi", Type: new("default")}), nil},
		"a pool that is updated in place": {inPlace(), nil},
		"volumes that are expressly in the clear": {
			worker(func(worker *gardencorev1beta1.Worker) { worker.Volume.Encrypted = new(false) }), nil,
		},
	}
}
