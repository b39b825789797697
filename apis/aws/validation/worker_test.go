package validation_test

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/aws/validation"
)

// worker is what the sentences below change: a pool that is fine, and its configuration.
type worker struct {
	gardencorev1beta1.Worker
	config *v1alpha1.WorkerConfig
}

func newWorker() *worker {
	w := &worker{config: &v1alpha1.WorkerConfig{}}
	w.Name, w.Zones = "cpu", []string{"eu-west-1a", "eu-west-1b"}
	w.Volume = &gardencorev1beta1.Volume{VolumeSize: "50Gi", Type: new("gp3")}
	w.DataVolumes = []gardencorev1beta1.DataVolume{{Name: "cache", VolumeSize: "20Gi", Type: new("gp3")}}
	return w
}

func (w *worker) pool(t *testing.T) *validation.WorkerPool {
	t.Helper()
	if w.ProviderConfig == nil {
		raw, err := v1alpha1.Encode(w.config)
		require.NoError(t, err)
		w.ProviderConfig = raw
	}
	pool := validation.PoolOfShoot(&w.Worker)
	return &pool
}

func (w *worker) validate(t *testing.T) []string {
	t.Helper()
	return messages(validation.ValidateWorkerPool(w.pool(t), newInfrastructure().Networks.Zones, field.NewPath("p")))
}

func TestValidateWorkerPool_Valid(t *testing.T) {
	for sentence, change := range map[string]func(*worker){
		"a pool without a configuration": func(w *worker) { w.ProviderConfig = &runtime.RawExtension{} },
		"performance of volumes": func(w *worker) {
			w.config.Volume = &v1alpha1.Volume{IOPS: new(int32(4000)), Throughput: new(int32(250))}
			w.config.DataVolumes = []v1alpha1.DataVolume{{Name: "cache", IOPS: new(int32(1)), SnapshotID: new("snap-1")}}
		},
		"an empty snapshot, which means none": func(w *worker) {
			w.config.DataVolumes = []v1alpha1.DataVolume{{Name: "cache", SnapshotID: new("")}}
		},
		"volumes of type io1": func(w *worker) {
			w.Volume.Type, w.DataVolumes[0].Type = new("io1"), new("io1")
			w.config.Volume = &v1alpha1.Volume{IOPS: new(int32(4000))}
			w.config.DataVolumes = []v1alpha1.DataVolume{{Name: "cache", IOPS: new(int32(1))}}
		},
		"an instance profile by name": func(w *worker) { w.config.IAMInstanceProfile = &v1alpha1.IAMInstanceProfile{Name: new("a+b=c")} },
		"an instance profile by ARN": func(w *worker) {
			w.config.IAMInstanceProfile = &v1alpha1.IAMInstanceProfile{ARN: new("arn:aws:iam::123456789012:instance-profile/a/b")}
		},
		"metadata": func(w *worker) { w.config.InstanceMetadataOptions = metadata("optional", 64) },
		"processors": func(w *worker) {
			w.config.CpuOptions = &v1alpha1.CpuOptions{CoreCount: new(int32(2)), ThreadsPerCore: new(int32(1))}
		},
		"encrypted memory":    func(w *worker) { w.config.CpuOptions = &v1alpha1.CpuOptions{AmdSevSnp: new("enabled")} },
		"open reservations":   func(w *worker) { w.config.CapacityReservation = reservation("open", "", "") },
		"a reservation":       func(w *worker) { w.config.CapacityReservation = reservation("", "cr-1", "") },
		"a reservation only":  func(w *worker) { w.config.CapacityReservation = reservation("capacity-reservations-only", "cr-1", "") },
		"a reservation group": func(w *worker) { w.config.CapacityReservation = reservation("", "", groupARN) },
		"a dedicated host": func(w *worker) {
			w.config.Placement = &v1alpha1.Placement{Tenancy: new("host"), HostID: new("h-1"), Affinity: new("host")}
		},
		"a placement group": func(w *worker) {
			w.config.Placement = &v1alpha1.Placement{GroupID: new("pg-1"), PartitionNumber: new(int64(1))}
		},
		"a capacity block": func(w *worker) {
			w.config.InstanceMarketOptions = &v1alpha1.InstanceMarketOptions{MarketType: "capacity-block"}
		},
		"a spot":               func(w *worker) { w.config.InstanceMarketOptions = &v1alpha1.InstanceMarketOptions{MarketType: "spot"} },
		"capacities of a node": func(w *worker) { w.config.NodeTemplate = capacities("1500m", "1k") },
		"network interfaces": func(w *worker) {
			w.config.NetworkInterfaces = []v1alpha1.NetworkInterface{
				{},
				{DeviceIndex: new(int64(1)), Type: new("efa-only"), SubnetID: new("subnet-1")},
				{NetworkCardIndexRange: &v1alpha1.IndexRange{From: 1, To: 31}, Type: new("efa-only")},
				{NetworkCardIndex: new(int64(32)), Type: new("efa")},
			}
		},
		"eleven data volumes": func(w *worker) {
			w.DataVolumes = make([]gardencorev1beta1.DataVolume, 11)
			for i := range w.DataVolumes {
				w.DataVolumes[i] = gardencorev1beta1.DataVolume{Name: strings.Repeat("v", i+1), VolumeSize: "1Gi", Type: new("gp2")}
			}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorker()
			change(w)
			assert.Empty(t, w.validate(t))
		})
	}
}

const groupARN = "arn:aws:resource-groups:eu-west-1:123456789012:group/reserved"

func metadata(tokens string, hops int32) *v1alpha1.InstanceMetadataOptions {
	return &v1alpha1.InstanceMetadataOptions{HTTPTokens: &tokens, HTTPPutResponseHopLimit: &hops}
}

func reservation(preference, id, group string) *v1alpha1.CapacityReservation {
	given := func(text string) *string {
		if text == "" {
			return nil
		}
		return &text
	}
	return &v1alpha1.CapacityReservation{
		CapacityReservationPreference: given(preference), CapacityReservationID: given(id), CapacityReservationResourceGroupARN: given(group),
	}
}

func capacities(capacity, virtual string) *extensionsv1alpha1.NodeTemplate {
	return &extensionsv1alpha1.NodeTemplate{
		Capacity:        corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(capacity)},
		VirtualCapacity: corev1.ResourceList{"example.com/things": resource.MustParse(virtual)},
	}
}

func TestValidateWorkerPool_Invalid(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*worker)
		want   []string
	}{
		"no zones": {func(w *worker) { w.Zones = nil }, []string{"p.zones: Required value: machines are made zone by zone: give at least one availability zone"}},
		"a zone that the infrastructure does not have": {func(w *worker) { w.Zones[1] = "eu-west-1c" }, []string{
			`p.zones[1]: Invalid value: "eu-west-1c": the infrastructure has no such zone: choose one of "eu-west-1a", "eu-west-1b", or add it at the end of networks.zones in infrastructureConfig`,
		}},
		"no volume": {func(w *worker) { w.Volume, w.DataVolumes = nil, nil }, []string{
			"p.volume: Required value: machines start from a volume: give its size and type, like 50Gi and gp3",
		}},
		"volumes without size and type": {func(w *worker) {
			w.Volume, w.DataVolumes[0] = &gardencorev1beta1.Volume{}, gardencorev1beta1.DataVolume{Name: "cache"}
		}, []string{
			"p.volume.size: Required value: give a size like 50Gi", "p.volume.type: Required value: give a type of volumes, like gp3",
			"p.dataVolumes[0].size: Required value: give a size like 50Gi", "p.dataVolumes[0].type: Required value: give a type of volumes, like gp3",
		}},
		"twelve data volumes": {func(w *worker) {
			for range 11 {
				w.DataVolumes = append(w.DataVolumes, w.DataVolumes[0])
			}
		}, []string{"p.dataVolumes: Too many: 12: must have at most 11 items"}},
		"volumes of type io1 without IOPS": {func(w *worker) { w.Volume.Type, w.DataVolumes[0].Type = new("io1"), new("io1") }, []string{
			"p.providerConfig.volume.iops: Required value: volumes of type io1 need it: give the number of operations per second, or choose another type",
			`p.providerConfig.dataVolumes: Required value: data volume "cache" is of type io1: add an entry for it with iops, or choose another type`,
		}},
		"a data volume of type io1 without IOPS": {func(w *worker) {
			w.DataVolumes[0].Type, w.config.DataVolumes = new("io1"), []v1alpha1.DataVolume{{Name: "cache"}}
		}, []string{
			"p.providerConfig.dataVolumes[0].iops: Required value: volumes of type io1 need it: give the number of operations per second, or choose another type",
		}},
		"performance that is none": {func(w *worker) { w.config.Volume = &v1alpha1.Volume{IOPS: new(int32(0)), Throughput: new(int32(-1))} }, []string{
			"p.providerConfig.volume.iops: Invalid value: 0: give a number of operations per second that is greater than 0, or remove the field",
			"p.providerConfig.volume.throughput: Invalid value: -1: give a number of MiB/s that is greater than 0, or remove the field",
		}},
		"data volumes that the pool does not have, and twice": {func(w *worker) {
			w.config.DataVolumes = []v1alpha1.DataVolume{{Name: "cache"}, {Name: "cache"}, {Name: "other", SnapshotID: new("mine")}}
		}, []string{
			`p.providerConfig.dataVolumes[1].name: Duplicate value: "cache": remove one of the two`,
			`p.providerConfig.dataVolumes[2].name: Invalid value: "other": the pool has no such data volume: correct the name, or remove the entry`,
			`p.providerConfig.dataVolumes[2].snapshotID: Invalid value: "mine": give the ID of a snapshot, like snap-0123456789abcdef0`,
		}},
		"capacities of a node that are none": {func(w *worker) { w.config.NodeTemplate = capacities("-1", "500m") }, []string{
			`p.providerConfig.nodeTemplate.capacity[cpu]: Invalid value: "-1": give an amount that is not negative`,
			`p.providerConfig.nodeTemplate.virtualCapacity[example.com/things]: Invalid value: "500m": extended resources come in whole numbers: give one`,
		}},
		"fields that are not known do not hide others": {func(w *worker) {
			w.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig","colour":"red","volume":{"iops":0}}`)}
		}, []string{
			`p.providerConfig: Invalid value: decoding WorkerConfig: unknown field "colour": correct the name or remove the field`,
			"p.providerConfig.volume.iops: Invalid value: 0: give a number of operations per second that is greater than 0, or remove the field",
		}},
		"another kind": {func(w *worker) {
			w.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Secret"}`)}
		}, []string{
			`p.providerConfig: Invalid value: decoding WorkerConfig: apiVersion is "v1" and kind "Secret": ` +
				"set apiVersion to aws.provider.extensions.gardener.cloud/v1alpha1 and kind to WorkerConfig",
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorker()
			test.change(w)
			assert.Empty(t, cmp.Diff(test.want, w.validate(t)))
		})
	}
}

func TestValidateWorkerPoolUpdate(t *testing.T) {
	for sentence, test := range map[string]struct {
		before, after func(*worker)
		want          []string
	}{
		"a zone more, another configuration and other volumes": {nil, func(w *worker) {
			w.Zones, w.DataVolumes, w.config.Volume = append(w.Zones, "eu-west-1c"), nil, &v1alpha1.Volume{IOPS: new(int32(1))}
		}, nil},
		"zones in another order": {nil, func(w *worker) { w.Zones = []string{"eu-west-1b", "eu-west-1a"} }, []string{
			`p.zones: Invalid value: ["eu-west-1b","eu-west-1a"]: zones can only be added at the end: set it back to ["eu-west-1a","eu-west-1b"], or create a new pool`,
		}},
		"another configuration and other volumes in place": {func(w *worker) { w.UpdateStrategy = new(gardencorev1beta1.AutoInPlaceUpdate) }, func(w *worker) {
			w.DataVolumes, w.config.Volume = nil, &v1alpha1.Volume{IOPS: new(int32(1))}
		}, []string{
			"p.providerConfig: Forbidden: nodes that are updated in place keep their machines: set it back to what it was, or create a new pool",
			"p.dataVolumes: Forbidden: nodes that are updated in place keep their volumes: set them back to what they were, or create a new pool",
		}},
		"the same configuration in place, formatted in another way": {func(w *worker) {
			w.UpdateStrategy = new(gardencorev1beta1.ManualInPlaceUpdate)
			w.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{ "kind": "WorkerConfig", "apiVersion": "aws.provider.extensions.gardener.cloud/v1alpha1" }`)}
		}, func(*worker) {}, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			before, after := newWorker(), newWorker()
			if test.before != nil {
				test.before(before)
				after.UpdateStrategy = before.UpdateStrategy
			}
			test.after(after)
			assert.Empty(t, cmp.Diff(test.want, messages(validation.ValidateWorkerPoolUpdate(before.pool(t), after.pool(t), field.NewPath("p")))))
		})
	}
}

func TestPoolOfWorker(t *testing.T) {
	pool := validation.PoolOfWorker(&extensionsv1alpha1.WorkerPool{Zones: []string{"eu-west-1a"}, Volume: &extensionsv1alpha1.Volume{Size: "50Gi", Type: new("gp3")}})
	assert.Empty(t, validation.ValidateWorkerPool(&pool, nil, field.NewPath("p")))
}

func TestSizeInGiB(t *testing.T) {
	size, err := validation.SizeInGiB("1500Mi")
	require.NoError(t, err)
	assert.Equal(t, 2, size)
}
