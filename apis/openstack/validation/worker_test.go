package validation_test

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
)

// worker is what the sentences below change: a pool that is fine, and its configuration.
type worker struct {
	gardencorev1beta1.Worker
	config *v1alpha1.WorkerConfig
}

func newWorker() *worker {
	w := &worker{config: &v1alpha1.WorkerConfig{}}
	w.Name, w.Zones, w.Labels = "cpu", []string{"north-1", "north-2"}, map[string]string{"team": "weavers"}
	return w
}

func (w *worker) pool(t *testing.T) *validation.WorkerPool {
	t.Helper()
	raw, err := v1alpha1.Encode(w.config)
	require.NoError(t, err)
	w.ProviderConfig = raw
	pool := validation.PoolOfShoot(&w.Worker)
	return &pool
}

func profileOfWorkers() *v1alpha1.CloudProfileConfig {
	return &v1alpha1.CloudProfileConfig{ServerGroupPolicies: []string{"affinity", "soft-anti-affinity"}}
}

func poolPath() *field.Path { return field.NewPath("spec", "provider", "workers").Index(0) }

func TestValidateWorkerPool_Valid(t *testing.T) {
	for sentence, change := range map[string]func(*worker){
		"a pool that says nothing":                  func(*worker) {},
		"a root volume":                             func(w *worker) { w.Volume = &gardencorev1beta1.Volume{VolumeSize: "50Gi", Type: new("fast")} },
		"a volume that is said not to be encrypted": func(w *worker) { w.Volume = &gardencorev1beta1.Volume{VolumeSize: "50Gi", Encrypted: new(false)} },
		"data volumes": func(w *worker) {
			w.DataVolumes = []gardencorev1beta1.DataVolume{{Name: "a", VolumeSize: "1Gi"}, {Name: "b", VolumeSize: "20Gi", Type: new("fast")}}
		},
		"a policy that the CloudProfile allows": func(w *worker) { w.config.ServerGroup = &v1alpha1.ServerGroup{Policy: "soft-anti-affinity"} },
		"one host for a single zone": func(w *worker) {
			w.Zones, w.config.ServerGroup = w.Zones[:1], &v1alpha1.ServerGroup{Policy: "affinity"}
		},
		"machine labels": func(w *worker) {
			w.config.MachineLabels = []v1alpha1.MachineLabel{{Name: "cost-center", Value: "12"}, {Name: "kubernetes.io/role", Value: ""}}
		},
		"security groups": func(w *worker) { w.config.AdditionalSecurityGroups = []string{"a", "b c"} },
		"networks by ID and by name": func(w *worker) {
			w.config.AdditionalNetworks = []v1alpha1.AdditionalNetwork{{ID: uuid}, {Name: "storage"}}
		},
		"capacities": func(w *worker) {
			w.config.NodeTemplate = &extensionsv1alpha1.NodeTemplate{
				Capacity:        corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m"), "gpu": resource.MustParse("0")},
				VirtualCapacity: corev1.ResourceList{"example.com/shuttles": resource.MustParse("1k")},
			}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorker()
			change(w)
			assert.Empty(t, validation.ValidateWorkerPool(w.pool(t), nil, profileOfWorkers(), poolPath()))
		})
	}
}

func TestValidateWorkerPool_Invalid(t *testing.T) {
	labels := func(names ...string) func(*worker) {
		return func(w *worker) {
			for _, name := range names {
				w.config.MachineLabels = append(w.config.MachineLabels, v1alpha1.MachineLabel{Name: name, Value: "x"})
			}
		}
	}
	networks := func(networks ...v1alpha1.AdditionalNetwork) func(*worker) {
		return func(w *worker) { w.config.AdditionalNetworks = networks }
	}
	volumes := func(volumes ...gardencorev1beta1.DataVolume) func(*worker) {
		return func(w *worker) { w.DataVolumes = volumes }
	}
	template := func(virtual bool, name corev1.ResourceName, amount string) func(*worker) {
		return func(w *worker) {
			list := corev1.ResourceList{name: resource.MustParse(amount)}
			w.config.NodeTemplate = &extensionsv1alpha1.NodeTemplate{Capacity: list}
			if virtual {
				w.config.NodeTemplate = &extensionsv1alpha1.NodeTemplate{VirtualCapacity: list}
			}
		}
	}
	for sentence, tc := range map[string]struct {
		does        func(*worker)
		path, words string
	}{
		"no zones": {func(w *worker) { w.Zones = nil }, "zones", "at least one"},
		"a type of volume without a size": {
			func(w *worker) { w.Volume = &gardencorev1beta1.Volume{Type: new("fast")} }, "volume.size", "needs a size",
		},
		"a size that is none":          {func(w *worker) { w.Volume = &gardencorev1beta1.Volume{VolumeSize: "large"} }, "volume.size", "like 50Gi"},
		"encryption":                   {func(w *worker) { w.Volume = &gardencorev1beta1.Volume{VolumeSize: "50Gi", Encrypted: new(true)} }, "volume.encrypted", "choose such a type"},
		"a data volume without a size": {volumes(gardencorev1beta1.DataVolume{Name: "a"}), "dataVolumes[0].size", "like 50Gi"},
		"a data volume of nothing":     {volumes(gardencorev1beta1.DataVolume{Name: "a", VolumeSize: "0Gi"}), "dataVolumes[0].size", "like 50Gi"},
		"a data volume without a name": {volumes(gardencorev1beta1.DataVolume{VolumeSize: "1Gi"}), "dataVolumes[0].name", "give a name"},
		"two data volumes of one name": {
			volumes(gardencorev1beta1.DataVolume{Name: "a", VolumeSize: "1Gi"}, gardencorev1beta1.DataVolume{Name: "a", VolumeSize: "1Gi"}),
			"dataVolumes[1].name", "remove one",
		},
		"an encrypted data volume": {
			volumes(gardencorev1beta1.DataVolume{Name: "a", VolumeSize: "1Gi", Encrypted: new(true)}), "dataVolumes[0].encrypted", "choose such a type",
		},
		"a policy that the CloudProfile does not allow": {
			func(w *worker) { w.config.ServerGroup = &v1alpha1.ServerGroup{Policy: "soft-affinity"} },
			"providerConfig.serverGroup.policy", `choose one of "affinity", "soft-anti-affinity"`,
		},
		"a server group without a policy": {
			func(w *worker) { w.config.ServerGroup = &v1alpha1.ServerGroup{} }, "providerConfig.serverGroup.policy", "choose one of",
		},
		"one host for several zones": {
			func(w *worker) { w.config.ServerGroup = &v1alpha1.ServerGroup{Policy: "affinity"} }, "providerConfig.serverGroup.policy", "no host is in several zones",
		},
		"two machine labels of one name":         {labels("a", "a"), "providerConfig.machineLabels[1].name", "remove one"},
		"a machine label that the pool has":      {labels("team"), "providerConfig.machineLabels[0].name", "is a label of the pool"},
		"a machine label without a name":         {labels(""), "providerConfig.machineLabels[0].name", "give the key"},
		"a machine label of somebody's identity": {labels("kubernetes.io/cluster-shoot--dev--two"), "providerConfig.machineLabels[0].name", "not yours to say"},
		"a security group without a name":        {func(w *worker) { w.config.AdditionalSecurityGroups = []string{""} }, "providerConfig.additionalSecurityGroups[0]", "give the name"},
		"a security group twice":                 {func(w *worker) { w.config.AdditionalSecurityGroups = []string{"a", "a"} }, "providerConfig.additionalSecurityGroups[1]", "remove one"},
		"a network without a name":               {networks(v1alpha1.AdditionalNetwork{}), "providerConfig.additionalNetworks[0].name", "give the ID"},
		"a network by ID and name":               {networks(v1alpha1.AdditionalNetwork{ID: uuid, Name: "a"}), "providerConfig.additionalNetworks[0].name", "remove one"},
		"a network's name for its ID":            {networks(v1alpha1.AdditionalNetwork{ID: "storage"}), "providerConfig.additionalNetworks[0].id", "not its name"},
		"a network twice":                        {networks(v1alpha1.AdditionalNetwork{Name: "a"}, v1alpha1.AdditionalNetwork{Name: "a"}), "providerConfig.additionalNetworks[1]", "remove one"},
		"a negative capacity":                    {template(false, "gpu", "-1"), "providerConfig.nodeTemplate.capacity[gpu]", "not negative"},
		"a part of an extended resource":         {template(true, "example.com/shuttles", "1500m"), "providerConfig.nodeTemplate.virtualCapacity[example.com/shuttles]", "whole"},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorker()
			tc.does(w)
			errs := validation.ValidateWorkerPool(w.pool(t), nil, profileOfWorkers(), poolPath())
			require.Len(t, errs, 1)
			assert.Equal(t, "spec.provider.workers[0]."+tc.path, errs[0].Field)
			assert.Contains(t, errs[0].Error(), tc.words)
		})
	}
}

func TestValidateWorkerPool_UndecodableConfig(t *testing.T) {
	pool := newWorker().pool(t)
	pool.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig","servrGroup":{}}`)}
	errs := validation.ValidateWorkerPool(pool, nil, profileOfWorkers(), poolPath())
	require.Len(t, errs, 1)
	assert.Equal(t, "spec.provider.workers[0].providerConfig", errs[0].Field)
	assert.Contains(t, errs[0].Error(), "servrGroup")
}

// A shoot that the upstream extension has admitted, or that a CloudProfile allowed once, goes on living.
func TestValidateWorkerPool_AcceptedBefore(t *testing.T) {
	w := newWorker()
	w.Volume = &gardencorev1beta1.Volume{VolumeSize: "50Gi", Encrypted: new(true)}
	w.DataVolumes = []gardencorev1beta1.DataVolume{{Name: "a", VolumeSize: "1Gi", Encrypted: new(true)}}
	w.config.ServerGroup = &v1alpha1.ServerGroup{Policy: "anti-affinity"}
	w.config.MachineLabels = []v1alpha1.MachineLabel{{Name: "kubernetes.io/cluster-x"}}
	pool := w.pool(t)
	assert.Len(t, validation.ValidateWorkerPool(pool, nil, profileOfWorkers(), poolPath()), 4)
	assert.Empty(t, validation.ValidateWorkerPool(pool, pool, profileOfWorkers(), poolPath()))
}

func TestValidateWorkerPoolUpdate(t *testing.T) {
	inPlace := func(w *worker) { w.UpdateStrategy = new(gardencorev1beta1.AutoInPlaceUpdate) }
	manual := func(w *worker) { w.UpdateStrategy = new(gardencorev1beta1.ManualInPlaceUpdate) }
	nothing := func(*worker) {}
	groups := func(w *worker) { w.config.AdditionalSecurityGroups = []string{"a"} }
	volumes := func(w *worker) { w.DataVolumes = []gardencorev1beta1.DataVolume{{Name: "a", VolumeSize: "1Gi"}} }
	for sentence, tc := range map[string]struct {
		of, change func(*worker)
		want       []string
	}{
		"nothing":                                      {nothing, nothing, nil},
		"a zone more at the end":                       {nothing, func(w *worker) { w.Zones = append(w.Zones, "north-3") }, nil},
		"a zone less":                                  {nothing, func(w *worker) { w.Zones = w.Zones[:1] }, []string{"zones"}},
		"zones in another order":                       {nothing, func(w *worker) { w.Zones = []string{"north-2", "north-1"} }, []string{"zones"}},
		"a zone more at the front":                     {nothing, func(w *worker) { w.Zones = append([]string{"north-0"}, w.Zones...) }, []string{"zones"}},
		"the configuration of machines":                {nothing, groups, nil},
		"data volumes":                                 {nothing, volumes, nil},
		"the configuration of machines, in place":      {inPlace, groups, []string{"providerConfig"}},
		"data volumes, in place":                       {inPlace, volumes, []string{"dataVolumes"}},
		"data volumes, in place by hand":               {manual, volumes, []string{"dataVolumes"}},
		"the size of the root volume, in place":        {inPlace, func(w *worker) { w.Volume = &gardencorev1beta1.Volume{VolumeSize: "60Gi"} }, nil},
		"an empty list where there was none, in place": {inPlace, func(w *worker) { w.config.AdditionalSecurityGroups = []string{} }, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			before, after := newWorker(), newWorker()
			tc.of(before)
			tc.of(after)
			tc.change(after)
			var fields []string
			for _, err := range validation.ValidateWorkerPoolUpdate(before.pool(t), after.pool(t), poolPath()) {
				fields = append(fields, err.Field)
			}
			var want []string
			for _, path := range tc.want {
				want = append(want, "spec.provider.workers[0]."+path)
			}
			assert.Equal(t, want, fields)
		})
	}
}

func TestPoolOfShoot_SameAsPoolOfWorker(t *testing.T) {
	w := newWorker()
	w.Labels = nil
	w.UpdateStrategy = new(gardencorev1beta1.ManualInPlaceUpdate)
	w.Volume = &gardencorev1beta1.Volume{VolumeSize: "50Gi", Type: new("fast"), Encrypted: new(false)}
	w.DataVolumes = []gardencorev1beta1.DataVolume{{Name: "a", VolumeSize: "1Gi", Type: new("slow"), Encrypted: new(true)}}
	want := w.pool(t)
	assert.Equal(t, *want, validation.PoolOfWorker(&extensionsv1alpha1.WorkerPool{
		Zones: w.Zones, UpdateStrategy: w.UpdateStrategy, ProviderConfig: w.ProviderConfig,
		Volume:      &extensionsv1alpha1.Volume{Size: "50Gi", Type: new("fast"), Encrypted: new(false)},
		DataVolumes: []extensionsv1alpha1.DataVolume{{Name: "a", Size: "1Gi", Type: new("slow"), Encrypted: new(true)}},
	}))
}

func TestSizeInGiB(t *testing.T) {
	for size, want := range map[string]int{"50Gi": 50, "1Ti": 1024, "50G": 47, "1": 1, "1025Mi": 2, "64Gi": 64} {
		got, err := validation.SizeInGiB(size)
		require.NoError(t, err, size)
		assert.Equal(t, want, got, size)
	}
	for _, size := range []string{"", "0", "-5Gi", "Gi", "8Ei"} {
		_, err := validation.SizeInGiB(size)
		require.Error(t, err, size)
	}
}
