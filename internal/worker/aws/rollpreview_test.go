package aws_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/worker/aws"
	"github.com/trellis-garden/trellis/internal/worker/workertest"
)

const (
	// previewedRounds are reconciliations, with several changes before each.
	previewedRounds, previewedChanges = 25, 4
	// seedVariable repeats a run.
	seedVariable = "ROLL_PREVIEW_SEED"
)

// The preview agrees with what the primary then does in 100 random changes.
func TestRollPreview_SameAsPrimary(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("repeat with %s=%d", seedVariable, seed)
	counts := workertest.RunRollPreview(t, apiServer.Get(t), previewed(), seed, previewedRounds, previewedChanges)
	t.Logf("%+v", counts)
	assert.Greater(t, counts.Replaced, 10, "changes replace nodes")
	assert.Positive(t, counts.InPlace, "changes update nodes in place")
	assert.Greater(t, counts.Kept, 15, "changes keep nodes")
	assert.Less(t, counts.Unexplained, 10, "the preview tells what has changed")
}

func TestObserver_BesidePrimary(t *testing.T) {
	t.Parallel()
	workertest.RunObserver(t, apiServer.Get(t), previewed())
}

func previewed() workertest.Previewed {
	return workertest.Previewed{
		Subject: workertest.Subject{
			Type:     aws.Type,
			NewCloud: func(workertest.Identity) (workertest.Cloud, error) { return previewedCloud{}, nil },
		},
		Observer: aws.New(),
		Pools: func() []gardencorev1beta1.Worker {
			inPlace := previewedPool("inplace", 1, region+"a")
			inPlace.UpdateStrategy = new(gardencorev1beta1.AutoInPlaceUpdate)
			return []gardencorev1beta1.Worker{
				previewedPool("rolling", 1, region+"a"), previewedPool("wide", 1, region+"a", region+"b"), previewedPool("empty", 0, region+"a"), inPlace,
			}
		},
		Change: func(random *rand.Rand, shoot *gardencorev1beta1.Shoot, _ *gardencorev1beta1.CloudProfile) string {
			pool := &shoot.Spec.Provider.Workers[random.IntN(len(shoot.Spec.Provider.Workers))]
			changes := slices.Concat(changesInPlace(), changesOfPool(), changesOfConfig())
			if pool.UpdateStrategy != nil {
				changes = changesInPlace()
			}
			change := changes[random.IntN(len(changes))]
			change.make(changed{random: random, pool: pool})
			return change.name + " of pool " + pool.Name
		},
	}
}

// previewedCloud has the pools of the shoot.
type previewedCloud struct{ suiteCloud }

func (c previewedCloud) Inputs() workertest.Inputs {
	inputs := c.suiteCloud.Inputs()
	inputs.Pools = nil
	for _, name := range []string{"rolling", "wide", "empty", "inplace"} {
		inputs.Pools = append(inputs.Pools, extensionsv1alpha1.WorkerPool{Name: name, Zones: []string{region + "a"}})
	}
	return inputs
}

func previewedPool(name string, minimum int32, zones ...string) gardencorev1beta1.Worker {
	return gardencorev1beta1.Worker{
		Name: name, Minimum: minimum, Maximum: 2, Zones: zones,
		Machine: gardencorev1beta1.Machine{Type: "m5.large", Image: &gardencorev1beta1.ShootMachineImage{Name: "gardenlinux", Version: new("1877.3.0")}},
		Volume:  &gardencorev1beta1.Volume{VolumeSize: "50Gi", Type: new("gp3")},
		CRI:     &gardencorev1beta1.CRI{Name: "containerd"},
	}
}

// changed is what a change may change.
type changed struct {
	random *rand.Rand
	pool   *gardencorev1beta1.Worker
}

func (c changed) pick(values ...string) string { return values[c.random.IntN(len(values))] }

// config changes the providerConfig of the pool.
func (c changed) config(change func(*awsv1alpha1.WorkerConfig)) {
	config, err := awsv1alpha1.DecodeWorkerConfig(c.pool.ProviderConfig)
	if err != nil {
		panic(err)
	}
	config.TypeMeta = metav1.TypeMeta{APIVersion: awsv1alpha1.GroupVersion().String(), Kind: "WorkerConfig"}
	change(config)
	raw, err := json.Marshal(config)
	if err != nil {
		panic(err)
	}
	c.pool.ProviderConfig = &runtime.RawExtension{Raw: raw}
}

type randomChange struct {
	name string
	make func(changed)
}

// changesInPlace are changes that update nodes in place.
func changesInPlace() []randomChange {
	return []randomChange{
		{"image version", func(c changed) {
			other := map[string]string{"1592.1.0": "1877.3.0", "1877.3.0": "1592.1.0"}[*c.pool.Machine.Image.Version]
			c.pool.Machine.Image.Version = &other
		}},
		{"Kubernetes version", func(c changed) {
			c.pool.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Version: new(c.pick("1.33.1", "1.33.2", "1.34.2", "1.34.3", "1.35.0"))}
		}},
	}
}

func changesOfPool() []randomChange {
	volumes := func(c changed) []gardencorev1beta1.DataVolume {
		return []gardencorev1beta1.DataVolume{
			{Name: "logs", VolumeSize: c.pick("20Gi", "30Gi"), Type: new("gp3")}, {Name: "cache", VolumeSize: "20Gi", Type: new("st1"), Encrypted: new(c.random.IntN(2) == 0)},
		}
	}
	return []randomChange{
		{"labels", func(c changed) { c.pool.Labels = map[string]string{"team": c.pick("a", "b")} }},
		{"limits", func(c changed) { c.pool.Maximum = 1 + c.random.Int32N(3) }},
		{"machine type", func(c changed) { c.pool.Machine.Type = c.pick("m5.large", "m5.xlarge") }},
		{"volume", func(c changed) { c.pool.Volume.VolumeSize = c.pick("50Gi", "60Gi") }},
		{"encryption", func(c changed) { c.pool.Volume.Encrypted = new(c.random.IntN(2) == 0) }},
		{"data volumes", func(c changed) { c.pool.DataVolumes = volumes(c) }},
		{"order of data volumes", func(c changed) { slices.Reverse(c.pool.DataVolumes) }},
		{"no data volumes", func(c changed) {
			c.pool.DataVolumes = nil
			c.config(func(config *awsv1alpha1.WorkerConfig) { config.DataVolumes = nil })
		}},
	}
}

func changesOfConfig() []randomChange {
	type config = awsv1alpha1.WorkerConfig
	return []randomChange{
		{"IOPS", func(c changed) {
			c.config(func(config *config) { config.Volume = &awsv1alpha1.Volume{IOPS: new(3000 + c.random.Int32N(2))} })
		}},
		{"market", func(c changed) {
			c.config(func(config *config) {
				config.InstanceMarketOptions = &awsv1alpha1.InstanceMarketOptions{MarketType: "spot"}
			})
		}},
		{"no market", func(c changed) { c.config(func(config *config) { config.InstanceMarketOptions = nil }) }},
		{"hop limit", func(c changed) {
			c.config(func(config *config) {
				config.InstanceMetadataOptions = &awsv1alpha1.InstanceMetadataOptions{HTTPPutResponseHopLimit: new(1 + c.random.Int32N(2))}
			})
		}},
		{"virtual capacity", func(c changed) {
			c.config(func(config *config) {
				config.NodeTemplate = &extensionsv1alpha1.NodeTemplate{
					Capacity:        corev1.ResourceList{"gpu": resource.MustParse("1")},
					VirtualCapacity: corev1.ResourceList{"example.com/devices": resource.MustParse(c.pick("1", "2", "3"))},
				}
			})
		}},
		{"encrypted memory", func(c changed) {
			c.config(func(config *config) {
				config.CpuOptions = &awsv1alpha1.CpuOptions{AmdSevSnp: new(c.pick("enabled", "disabled"))}
			})
		}},
		{"interfaces", func(c changed) {
			c.config(func(config *config) {
				config.NetworkInterfaces = []awsv1alpha1.NetworkInterface{{Description: new(c.pick("a", "b"))}, {NetworkCardIndex: new(int64(1)), Type: new(c.pick("efa", "efa-only"))}}
			})
		}},
		{"formatting of the providerConfig", func(c changed) {
			if c.pool.ProviderConfig != nil {
				c.pool.ProviderConfig = &runtime.RawExtension{Raw: append([]byte("  "), c.pool.ProviderConfig.Raw...)}
			}
		}},
	}
}
