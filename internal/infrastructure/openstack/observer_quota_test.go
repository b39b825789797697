package openstack

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// useWorkers gives the shoot workers of 3 machines with 2 cores and 4 GiB, and 2 machines with 4 cores, 8 GiB and volumes of 50 and 20 GiB: in all 5 instances
// and ports, 14 cores, 28672 MiB and 4 volumes of 140 GiB.
func (o *observing) useWorkers() {
	o.shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{
		{Name: "small", Maximum: 3, Machine: gardencorev1beta1.Machine{Type: "m1.medium"}},
		{
			Name: "large", Maximum: 2, Machine: gardencorev1beta1.Machine{Type: "m1.large"},
			Volume: &gardencorev1beta1.Volume{VolumeSize: "50Gi"}, DataVolumes: []gardencorev1beta1.DataVolume{{Name: "data", VolumeSize: "20Gi"}},
		},
	}
}

func TestObserver_Quota(t *testing.T) {
	// The project has two ports of the shoot's router and network's.
	for sentence, tc := range map[string]struct {
		quotas map[string]int
		cause  func(o *observing)
		want   []string // parts of the message if the quotas are too small
	}{
		"without limits": {},
		"exactly enough": {quotas: map[string]int{"instances": 5, "cores": 14, "ram": 28672, "volumes": 4, "gigabytes": 140}},
		"too few instances": {
			quotas: map[string]int{"instances": 4}, want: []string{"the maximum of all workers needs 5 more instances, but 4 are left (0 of 4 are used)"},
		},
		"too few cores and too little RAM": {
			quotas: map[string]int{"cores": 13, "ram": 28671},
			want:   []string{"needs 14 more cores, but 13 are left", "needs 28672 more MiB of RAM, but 28671 are left"},
		},
		"too few ports":     {quotas: map[string]int{"port": 3}, want: []string{"needs 5 more ports"}},
		"too few volumes":   {quotas: map[string]int{"volumes": 3}, want: []string{"needs 4 more volumes, but 3 are left"}},
		"too few gigabytes": {quotas: map[string]int{"gigabytes": 139}, want: []string{"needs 140 more GiB of volumes, but 139 are left"}},
		"what the shoot's machines use is not needed again": {
			quotas: map[string]int{"instances": 5, "cores": 14, "ram": 28672},
			cause:  func(o *observing) { o.plantServer("machine", machineTags()) },
		},
		"what others use is not left": {
			quotas: map[string]int{"instances": 5}, cause: func(o *observing) { o.plantServer("theirs", nil) },
			want: []string{"needs 5 more instances, but 4 are left (1 of 5 are used)"},
		},
		"an exceeded quota does not matter to a shoot that needs nothing more": {
			quotas: map[string]int{"instances": 0, "cores": 0}, cause: func(o *observing) { o.shoot.Spec.Provider.Workers = nil },
		},
		"a quota that is exceeded already": {
			quotas: map[string]int{"instances": 1},
			cause: func(o *observing) {
				require.NoError(o.t, o.cloud.SetQuota(fake.DefaultProject, "instances", 5))
				o.plantServer("theirs", nil)
				o.plantServer("theirs too", nil)
				require.NoError(o.t, o.cloud.SetQuota(fake.DefaultProject, "instances", 1))
			},
			want: []string{"needs 5 more instances, but 0 are left (2 of 1 are used)"},
		},
		"the size of a machine type's volume": {
			quotas: map[string]int{"volumes": 9, "gigabytes": 199},
			cause: func(o *observing) {
				o.machineTypes = []gardencorev1beta1.MachineType{{
					Name: "m1.medium", Storage: &gardencorev1beta1.MachineTypeStorage{Type: "fast", StorageSize: new(resource.MustParse("20Gi"))},
				}}
			},
			want: []string{"needs 200 more GiB of volumes, but 199 are left"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newObserving(t)
			o.useWorkers()
			o.mustReconcile()
			for name, limit := range tc.quotas {
				require.NoError(t, o.cloud.SetQuota(fake.DefaultProject, name, limit))
			}
			if tc.cause != nil {
				tc.cause(o)
			}
			finding := o.find(infrastructure.ObservationQuota)
			assert.Equal(t, len(tc.want) == 0, finding.Healthy, finding.Message)
			for _, part := range tc.want {
				assert.Contains(t, finding.Message, part)
			}
			assert.Contains(t, finding.Message, "Not counted: what other shoots of the account may need")
		})
	}
}

func TestObserver_QuotaOfUnknownFlavor(t *testing.T) {
	o := newObserving(t)
	o.useWorkers()
	o.shoot.Spec.Provider.Workers[0].Machine.Type = "m1.gone"
	o.mustReconcile()
	finding := o.find(infrastructure.ObservationQuota)
	assert.True(t, finding.Healthy)
	assert.Contains(t, finding.Message, "2 instances, 8 cores, 16384 MiB of RAM and 2 ports, and 4 volumes of 140 GiB in all")
	assert.Contains(t, finding.Message, "Not counted, since the project has no such flavor: worker small of type m1.gone.")
}

// The shoot's machines with volumes count as what the shoot has already.
func TestObserver_QuotaOfExistingVolumes(t *testing.T) {
	o := newObserving(t)
	o.useWorkers()
	o.mustReconcile()
	machine := machineTags()
	machine["block_device_mapping_v2"] = []fake.Attrs{{
		"boot_index": 0, "source_type": "image", "destination_type": "volume", "volume_size": 50, "delete_on_termination": true,
		"uuid": o.idOf(services.Glance, "/v2/images", "images", "gardenlinux"),
	}}
	machine["imageRef"] = nil
	o.plantServer("machine", machine)
	require.Len(t, o.resources().Volumes, 1)
	require.NoError(t, o.cloud.SetQuota(fake.DefaultProject, "volumes", 4))
	require.NoError(t, o.cloud.SetQuota(fake.DefaultProject, "gigabytes", 140))
	finding := o.find(infrastructure.ObservationQuota)
	assert.True(t, finding.Healthy, finding.Message)
	require.NoError(t, o.cloud.SetQuota(fake.DefaultProject, "volumes", 3))
	assert.Contains(t, o.find(infrastructure.ObservationQuota).Message, "needs 3 more volumes, but 2 are left (1 of 3 are used)")
}
