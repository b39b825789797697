package openstack_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/worker"
	"github.com/trellis-garden/trellis/internal/worker/openstack"
	"github.com/trellis-garden/trellis/internal/worker/workertest"
)

const (
	// previewedShoots are changed at the same time, each in a number of rounds, and in each of them several times: 200 changes in all.
	previewedShoots, previewedRounds, previewedChanges = 2, 25, 4
	// seedVariable repeats a run.
	seedVariable = "ROLL_PREVIEW_SEED"
)

// The preview agrees with what the primary then does in 200 random changes.
func TestRollPreview_SameAsPrimary(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("repeat with %s=%d", seedVariable, seed)
	var mutex sync.Mutex
	var sum workertest.RollCounts
	t.Run("shoots", func(t *testing.T) {
		for n := range uint64(previewedShoots) {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				counts := workertest.RunRollPreview(t, apiServer.Get(t), previewed(), seed+n, previewedRounds, previewedChanges)
				mutex.Lock()
				defer mutex.Unlock()
				sum.Replaced, sum.InPlace, sum.Kept = sum.Replaced+counts.Replaced, sum.InPlace+counts.InPlace, sum.Kept+counts.Kept
				sum.Unexplained += counts.Unexplained
			})
		}
	})
	t.Logf("%+v", sum)
	assert.Greater(t, sum.Replaced, 20, "changes replace nodes")
	assert.Greater(t, sum.InPlace, 3, "changes update nodes in place")
	assert.Greater(t, sum.Kept, 30, "changes keep nodes")
	assert.Less(t, sum.Unexplained, 20, "the preview tells what has changed")
}

func previewed() workertest.Previewed {
	return workertest.Previewed{
		Subject: workertest.Subject{
			Type: openstack.Type,
			NewCloud: func(shoot workertest.Identity) (workertest.Cloud, error) {
				cloud, err := newSuiteCloud(shoot, newDriver, []string{"nova"})
				return previewedCloud{cloud}, err
			},
		},
		Observer: openstack.NewObserver(),
		Pools: func() []gardencorev1beta1.Worker {
			return []gardencorev1beta1.Worker{
				previewedPool("rolling", 1, "nova"), previewedPool("wide", 1, "nova", "north"), previewedPool("empty", 0, "nova"), inPlacePool(),
			}
		},
		Change: func(random *rand.Rand, shoot *gardencorev1beta1.Shoot, profile *gardencorev1beta1.CloudProfile) string {
			changes := append(changesOfShoot(), changesOfPool()...)
			changes = append(changes, changesOfProfile()...)
			pool := &shoot.Spec.Provider.Workers[random.IntN(len(shoot.Spec.Provider.Workers))]
			change := changes[random.IntN(len(changes))]
			if pool.UpdateStrategy != nil {
				change = changesInPlace()[random.IntN(len(changesInPlace()))]
			}
			change.make(changed{random: random, shoot: shoot, profile: profile, pool: pool})
			return change.name + " of pool " + pool.Name
		},
	}
}

// previewedCloud has the pools of the shoot, and a driver with its own hashes.
type previewedCloud struct{ *suiteCloud }

func (c previewedCloud) Inputs() workertest.Inputs {
	inputs := c.suiteCloud.Inputs()
	profile, _ := inputs.CloudProfileConfig.(*openstackv1alpha1.CloudProfileConfig)
	profile.ServerGroupPolicies = []string{"anti-affinity", "soft-anti-affinity"}
	profile.MachineImages = []openstackv1alpha1.MachineImages{{Name: "gardenlinux", Versions: []openstackv1alpha1.MachineImageVersion{
		{Version: "1.0.0", Image: "gardenlinux-1"}, {Version: "2.0.0", Image: "gardenlinux-2"}, {Version: "3.0.0", Image: "gardenlinux-3"},
	}}}
	inputs.Pools = nil
	for _, name := range []string{"rolling", "wide", "empty", "inplace"} {
		inputs.Pools = append(inputs.Pools, extensionsv1alpha1.WorkerPool{Name: name, Zones: []string{"nova"}})
	}
	return inputs
}

func (c previewedCloud) NewDriver(transport contracttest.Transport) (worker.Driver, error) {
	driver, err := c.suiteCloud.NewDriver(transport)
	if err != nil {
		return nil, err
	}
	return driver.(deterministicDriver).Driver, nil
}

func previewedPool(name string, minimum int32, zones ...string) gardencorev1beta1.Worker {
	return gardencorev1beta1.Worker{
		Name: name, Minimum: minimum, Maximum: 2, Zones: zones,
		Machine: gardencorev1beta1.Machine{Type: "m1.small", Image: &gardencorev1beta1.ShootMachineImage{Name: "gardenlinux", Version: new("1.0.0")}},
		CRI:     &gardencorev1beta1.CRI{Name: "containerd"},
	}
}

func inPlacePool() gardencorev1beta1.Worker {
	pool := previewedPool("inplace", 1, "nova")
	pool.UpdateStrategy = new(gardencorev1beta1.AutoInPlaceUpdate)
	return pool
}

// changed is what a change may change.
type changed struct {
	random  *rand.Rand
	shoot   *gardencorev1beta1.Shoot
	profile *gardencorev1beta1.CloudProfile
	pool    *gardencorev1beta1.Worker
}

func (c changed) pick(values ...string) string { return values[c.random.IntN(len(values))] }

// config changes the providerConfig of the pool.
func (c changed) config(change func(*openstackv1alpha1.WorkerConfig)) {
	config, err := openstackv1alpha1.DecodeWorkerConfig(c.pool.ProviderConfig)
	if err != nil {
		panic(err)
	}
	config.APIVersion, config.Kind = openstackv1alpha1.GroupVersion().String(), "WorkerConfig"
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

// changesOfShoot are changes that concern all pools. Times have no fractions of seconds, as in the API.
func changesOfShoot() []randomChange {
	rotation := func(shoot *gardencorev1beta1.Shoot) *gardencorev1beta1.ShootCredentialsRotation {
		if shoot.Status.Credentials == nil {
			shoot.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{}}
		}
		return shoot.Status.Credentials.Rotation
	}
	return []randomChange{
		{"nothing", func(changed) {}},
		{"Kubernetes version", func(c changed) {
			c.shoot.Spec.Kubernetes.Version = c.pick("1.33.1", "1.33.2", "1.34.2", "1.34.3", "1.35.0")
		}},
		{"rotation of certificate authorities", func(c changed) {
			at := metav1.Now().Rfc3339Copy()
			rotation(c.shoot).CertificateAuthorities = &gardencorev1beta1.CARotation{LastInitiationTime: &at}
		}},
		{"rotation of the service account key", func(c changed) {
			at := metav1.Now().Rfc3339Copy()
			rotation(c.shoot).ServiceAccountKey = &gardencorev1beta1.ServiceAccountKeyRotation{LastInitiationTime: &at}
		}},
		{"completion of a rotation", func(c changed) {
			if c.shoot.Status.Credentials != nil && rotation(c.shoot).CertificateAuthorities != nil {
				at := metav1.Now().Rfc3339Copy()
				rotation(c.shoot).CertificateAuthorities.LastCompletionTime = &at
			}
		}},
		{"kubelet", func(c changed) {
			c.shoot.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{CPUManagerPolicy: new(c.pick("none", "static")), MaxPods: new(int32(c.random.IntN(99) + 1))}
		}},
		{"node-local DNS", func(c changed) {
			c.shoot.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{NodeLocalDNS: &gardencorev1beta1.NodeLocalDNS{Enabled: c.random.IntN(2) == 0}}
		}},
	}
}

// changesInPlace are changes that a pool with in-place updates may have.
func changesInPlace() []randomChange {
	return []randomChange{
		{"image version", func(c changed) { c.pool.Machine.Image.Version = new(c.pick("1.0.0", "2.0.0", "3.0.0")) }},
		{"Kubernetes version", func(c changed) {
			c.pool.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Version: new(c.pick("1.33.1", "1.33.2", "1.34.2", "1.34.3"))}
		}},
		{"kubelet", func(c changed) {
			c.pool.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: &gardencorev1beta1.KubeletConfig{CPUManagerPolicy: new(c.pick("none", "static"))}}
		}},
		{"labels", func(c changed) { c.pool.Labels = map[string]string{"team": c.pick("a", "b")} }},
	}
}

func changesOfPool() []randomChange {
	return append(changesInPlace(), append(changesOfConfig(), []randomChange{
		{"machine type", func(c changed) { c.pool.Machine.Type = c.pick("m1.small", "m1.large") }},
		{"limits", func(c changed) { c.pool.Maximum = 1 + c.random.Int32N(3) }},
		{"volume", func(c changed) {
			c.pool.Volume = &gardencorev1beta1.Volume{VolumeSize: c.pick("50Gi", "60Gi"), Type: new(c.pick("fast", "slow"))}
		}},
		{"no volume", func(c changed) { c.pool.Volume = nil }},
		{"data volumes", func(c changed) {
			c.pool.DataVolumes = []gardencorev1beta1.DataVolume{{Name: "logs", VolumeSize: c.pick("20Gi", "30Gi")}}
		}},
		{"no data volumes", func(c changed) { c.pool.DataVolumes = nil }},
		{"zones", func(c changed) {
			if len(c.pool.Zones) == 1 {
				c.pool.Zones = append(c.pool.Zones, "south")
			}
		}},
	}...)...)
}

func changesOfConfig() []randomChange {
	type config = openstackv1alpha1.WorkerConfig
	return []randomChange{
		{"server group", func(c changed) {
			c.config(func(config *config) {
				config.ServerGroup = &openstackv1alpha1.ServerGroup{Policy: c.pick("anti-affinity", "soft-anti-affinity")}
			})
		}},
		{"no server group", func(c changed) { c.config(func(config *config) { config.ServerGroup = nil }) }},
		{"machine labels", func(c changed) {
			c.config(func(config *config) {
				config.MachineLabels = []openstackv1alpha1.MachineLabel{
					{Name: "rolling", Value: c.pick("a", "b"), TriggerRollingOnUpdate: true}, {Name: "other", Value: c.pick("a", "b")},
				}
			})
		}},
		{"security groups", func(c changed) {
			c.config(func(config *config) { config.AdditionalSecurityGroups = []string{c.pick("web", "db")} })
		}},
		{"security groups in another order", func(c changed) {
			c.config(func(config *config) {
				config.AdditionalSecurityGroups = []string{"web", "db"}
				if c.random.IntN(2) == 0 {
					config.AdditionalSecurityGroups = []string{"db", "web"}
				}
			})
		}},
		{"networks", func(c changed) {
			c.config(func(config *config) {
				config.AdditionalNetworks = []openstackv1alpha1.AdditionalNetwork{{Name: c.pick("storage", "backup")}}
			})
		}},
		{"config drive", func(c changed) { c.config(func(config *config) { config.ConfigDrive = new(c.random.IntN(2) == 0) }) }},
		{"formatting of the providerConfig", func(c changed) {
			if c.pool.ProviderConfig != nil {
				c.pool.ProviderConfig = &runtime.RawExtension{Raw: append([]byte("  "), c.pool.ProviderConfig.Raw...)}
			}
		}},
	}
}

// changesOfProfile never replace nodes.
func changesOfProfile() []randomChange {
	return []randomChange{
		{"storage of machine types in the CloudProfile", func(c changed) {
			c.profile.Spec.MachineTypes = []gardencorev1beta1.MachineType{{Name: "m1.small", Storage: &gardencorev1beta1.MachineTypeStorage{
				Type: c.pick("fast", "slow", "default"), StorageSize: new(resource.MustParse(c.pick("50Gi", "60Gi"))),
			}}}
		}},
		{"images in the CloudProfile", func(c changed) {
			raw, err := openstackv1alpha1.DecodeCloudProfileConfig(c.profile.Spec.ProviderConfig)
			if err != nil {
				panic(err)
			}
			for i := range raw.MachineImages[0].Versions {
				raw.MachineImages[0].Versions[i].Image = c.pick("one", "two")
			}
			if c.profile.Spec.ProviderConfig, err = openstackv1alpha1.Encode(raw); err != nil {
				panic(err)
			}
		}},
	}
}

func TestObserver_BesidePrimary(t *testing.T) {
	t.Parallel()
	workertest.RunObserver(t, apiServer.Get(t), previewed())
}
