package worker

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hashed is a row of testdata/hashes.json: all inputs of a pool's hashes, and the hashes.
type hashed struct {
	Sentence        string                              `json:"sentence"`
	Pool            extensionsv1alpha1.WorkerPool       `json:"pool"`
	Credentials     *gardencorev1beta1.ShootCredentials `json:"credentials,omitempty"`
	HashData        []string                            `json:"hashData,omitempty"`
	HashDataInPlace []string                            `json:"hashDataInPlace,omitempty"`
	Hash            string                              `json:"hash"`
	InPlaceHash     string                              `json:"inPlaceHash"`
}

func minimalPool(mutate func(*hashed)) hashed {
	row := hashed{Pool: extensionsv1alpha1.WorkerPool{
		Name: "cpu", MachineType: "wide", Minimum: 1, Maximum: 2, NodeAgentSecretName: new("gardener-node-agent-cpu-77ac3"),
		KubernetesVersion: new("1.33.4"), MachineImage: extensionsv1alpha1.MachineImage{Name: "gardenlinux", Version: "1877.3.0"},
	}}
	mutate(&row)
	return row
}

// hashInputs are pools with each input of hashes, each three times: once for each strategy.
func hashInputs() map[string]hashed {
	rows := map[string]hashed{}
	for sentence, mutate := range hashCases() {
		for strategy, name := range map[gardencorev1beta1.MachineUpdateStrategy]string{
			"":                                    "",
			gardencorev1beta1.AutoInPlaceUpdate:   ", auto in-place update",
			gardencorev1beta1.ManualInPlaceUpdate: ", manual in-place update",
		} {
			row := minimalPool(mutate)
			if strategy != "" {
				row.Pool.UpdateStrategy = &strategy
			}
			row.Sentence = sentence + name
			rows[row.Sentence] = row
		}
	}
	for sentence, each := range changesOf(nil) {
		changed := newPlan()
		each.mutate(changed)
		machines := changed.machines()
		rows["when "+sentence] = hashed{
			Sentence: "when " + sentence, Pool: changed.pool, Credentials: changed.shoot.Status.Credentials,
			HashData: machines.HashData, HashDataInPlace: machines.HashDataInPlace,
		}
	}
	return rows
}

func hashCases() map[string]func(*hashed) {
	at := func(hour int) *metav1.Time {
		return &metav1.Time{Time: time.Date(2026, time.March, 1, hour, 30, 15, 0, time.UTC)}
	}
	ca := func(rotation gardencorev1beta1.CARotation) func(*hashed) {
		return func(row *hashed) {
			row.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{CertificateAuthorities: &rotation}}
		}
	}
	rollouts := func(pool string) []gardencorev1beta1.PendingWorkersRollout {
		return []gardencorev1beta1.PendingWorkersRollout{{Name: pool, LastInitiationTime: at(5)}}
	}
	quantity := func(text string) *resource.Quantity { amount := resource.MustParse(text); return &amount }
	return map[string]func(*hashed){
		"minimal pool":                                 func(*hashed) {},
		"another node agent secret":                    func(row *hashed) { row.Pool.NodeAgentSecretName = new("gardener-node-agent-cpu-00000") },
		"empty node agent secret":                      func(row *hashed) { row.Pool.NodeAgentSecretName = new("") },
		"driver data":                                  func(row *hashed) { row.HashData, row.HashDataInPlace = []string{"a", "b=c"}, []string{"d"} },
		"driver data in another order":                 func(row *hashed) { row.HashData, row.HashDataInPlace = []string{"b=c", "a"}, []string{"d"} },
		"driver data as one element":                   func(row *hashed) { row.HashData, row.HashDataInPlace = []string{"ab=c"}, []string{""} },
		"another patch version":                        func(row *hashed) { row.Pool.KubernetesVersion = new("1.33.11") },
		"another minor version":                        func(row *hashed) { row.Pool.KubernetesVersion = new("1.34.4") },
		"version with prefix v, pre-release and build": func(row *hashed) { row.Pool.KubernetesVersion = new("v1.34.0-rc.1+build.7") },
		"version without patch":                        func(row *hashed) { row.Pool.KubernetesVersion = new("1.35") },
		"another image version":                        func(row *hashed) { row.Pool.MachineImage.Version = "1877.4.0" },
		"another image":                                func(row *hashed) { row.Pool.MachineImage.Name = "flatcar" },
		"credentials without rotation":                 func(row *hashed) { row.Credentials = &gardencorev1beta1.ShootCredentials{} },
		"empty rotation": func(row *hashed) {
			row.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{}}
		},
		"certificate authority rotation":              ca(gardencorev1beta1.CARotation{LastInitiationTime: at(1)}),
		"certificate authority rotation without time": ca(gardencorev1beta1.CARotation{}),
		"rotation with a rollout of this pool":        ca(gardencorev1beta1.CARotation{LastInitiationTime: at(1), PendingWorkersRollouts: rollouts("cpu")}),
		"rotation with a rollout of another pool":     ca(gardencorev1beta1.CARotation{LastInitiationTime: at(1), PendingWorkersRollouts: rollouts("gpu")}),
		"rotation with a first rollout of this pool":  ca(gardencorev1beta1.CARotation{LastInitiationTime: at(1), PendingWorkersRollouts: []gardencorev1beta1.PendingWorkersRollout{{Name: "cpu"}}}),
		"rotation of all credentials": func(row *hashed) {
			row.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
				CertificateAuthorities: &gardencorev1beta1.CARotation{LastInitiationTime: at(1)},
				ServiceAccountKey:      &gardencorev1beta1.ServiceAccountKeyRotation{LastInitiationTime: at(2), PendingWorkersRollouts: rollouts("cpu")},
				SSHKeypair:             &gardencorev1beta1.ShootSSHKeypairRotation{LastInitiationTime: at(3)},
			}}
		},
		"empty kubelet config":      func(row *hashed) { row.Pool.KubeletConfig = &gardencorev1beta1.KubeletConfig{} },
		"kubelet that reserves CPU": func(row *hashed) { row.Pool.KubeletConfig = kubeReserved("80m") },
		"kubelet that reserves all resources": func(row *hashed) {
			row.Pool.KubeletConfig = &gardencorev1beta1.KubeletConfig{KubeReserved: &gardencorev1beta1.KubeletConfigReserved{
				CPU: quantity("1000m"), Memory: quantity("1024Mi"), PID: quantity("20k"), EphemeralStorage: quantity("1.5Gi"),
			}}
		},
		"kubelet with all eviction thresholds": func(row *hashed) {
			row.Pool.KubeletConfig = &gardencorev1beta1.KubeletConfig{EvictionHard: &gardencorev1beta1.KubeletConfigEviction{
				MemoryAvailable: new("100Mi"), ImageFSAvailable: new("5%"), ImageFSInodesFree: new("5%"), NodeFSAvailable: new("4%"), NodeFSInodesFree: new("3%"),
			}}
		},
		"kubelet with one eviction threshold": func(row *hashed) {
			row.Pool.KubeletConfig = &gardencorev1beta1.KubeletConfig{EvictionHard: &gardencorev1beta1.KubeletConfigEviction{NodeFSAvailable: new("4%")}}
		},
		"kubelet with a CPU manager policy": func(row *hashed) {
			row.Pool.KubeletConfig = &gardencorev1beta1.KubeletConfig{CPUManagerPolicy: new("static"), MaxPods: new(int32(200))}
		},
	}
}

// A hash that differs from the golden file replaces the nodes of shoots with such a pool. Package e2e compares the rows with Gardener's own
// functions.
func TestPoolHash_Golden(t *testing.T) {
	inputs := hashInputs()
	rows := make([]hashed, 0, len(inputs))
	for _, sentence := range slices.Sorted(maps.Keys(inputs)) {
		row := inputs[sentence]
		shoot := &gardencorev1beta1.Shoot{Status: gardencorev1beta1.ShootStatus{Credentials: row.Credentials}}
		var err error
		row.Hash, err = poolHash(&row.Pool, shoot, &Machines{HashData: row.HashData, HashDataInPlace: row.HashDataInPlace})
		require.NoError(t, err)
		row.InPlaceHash, err = inPlaceHash(&row.Pool, shoot)
		require.NoError(t, err)
		rows = append(rows, row)
	}
	checkGolden(t, "hashes.json", "[\n"+linesOf(t, rows)+"]\n")
}

func TestInPlaceHash_UTC(t *testing.T) {
	at := time.Date(2026, time.March, 1, 1, 30, 15, 0, time.UTC)
	hash := func(at time.Time) string {
		row := minimalPool(func(*hashed) {})
		moment := metav1.NewTime(at)
		shoot := &gardencorev1beta1.Shoot{}
		shoot.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
			CertificateAuthorities: &gardencorev1beta1.CARotation{LastInitiationTime: &moment},
		}}
		result, err := inPlaceHash(&row.Pool, shoot)
		require.NoError(t, err)
		return result
	}
	assert.Equal(t, hash(at), hash(at.In(time.FixedZone("Far", 5*60*60))))
	assert.NotEqual(t, hash(at), hash(at.Add(time.Second)))
}

func TestPoolHash_MissingInputs(t *testing.T) {
	for problem, mutate := range map[string]func(*hashed){
		`pool "cpu" has no nodeAgentSecretName, which its hash requires`: func(row *hashed) { row.Pool.NodeAgentSecretName = nil },
		`pool "cpu" has no kubernetesVersion, which its hash requires`:   func(row *hashed) { row.Pool.KubernetesVersion = nil },
		`reading the Kubernetes version of pool "cpu": could not parse "latest" as version`: func(row *hashed) {
			row.Pool.KubernetesVersion = new("latest")
		},
	} {
		t.Run(problem, func(t *testing.T) {
			row := minimalPool(mutate)
			row.Pool.UpdateStrategy = new(gardencorev1beta1.AutoInPlaceUpdate)
			_, err := poolHash(&row.Pool, &gardencorev1beta1.Shoot{}, &Machines{})
			assert.EqualError(t, err, problem)
		})
	}
}

func TestClassNames(t *testing.T) {
	row := minimalPool(func(row *hashed) { row.Pool.Zones = []string{"north-2", "north-1"} })
	hash, err := poolHash(&row.Pool, &gardencorev1beta1.Shoot{}, &Machines{})
	require.NoError(t, err)
	names, err := classNames("shoot--dev--one", &row.Pool, &gardencorev1beta1.Shoot{}, &Machines{})
	require.NoError(t, err)
	assert.Equal(t, []string{fmt.Sprintf("shoot--dev--one-cpu-z1-%s", hash), fmt.Sprintf("shoot--dev--one-cpu-z2-%s", hash)}, names)
}
