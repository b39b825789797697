package worker

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/worker/machinestatus"
)

func TestInPlaceHashes(t *testing.T) {
	const auto, manual = gardencorev1beta1.AutoInPlaceUpdate, gardencorev1beta1.ManualInPlaceUpdate
	hash := func() string {
		row := minimalPool(func(*hashed) {})
		hash, err := inPlaceHash(&row.Pool, &gardencorev1beta1.Shoot{})
		require.NoError(t, err)
		return hash
	}()
	poolOf := func(name string, strategy *gardencorev1beta1.MachineUpdateStrategy) extensionsv1alpha1.WorkerPool {
		row := minimalPool(func(row *hashed) { row.Pool.Name, row.Pool.UpdateStrategy = name, strategy })
		return row.Pool
	}
	deploymentWith := func(name string, replicas, updated int32) machinev1alpha1.MachineDeployment {
		return machinev1alpha1.MachineDeployment{
			ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--one-" + name + "-z1", Labels: map[string]string{"worker.gardener.cloud/pool": name}},
			Spec: machinev1alpha1.MachineDeploymentSpec{Template: machinev1alpha1.MachineTemplateSpec{
				Spec: machinev1alpha1.MachineSpec{Class: machinev1alpha1.ClassSpec{Name: "new"}},
			}},
			Status: machinev1alpha1.MachineDeploymentStatus{Replicas: replicas, UpdatedReplicas: updated},
		}
	}
	setOf := func(deployment, class string, replicas int32) machinev1alpha1.MachineSet {
		return machinev1alpha1.MachineSet{
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: "MachineDeployment", Name: deployment}}},
			Spec: machinev1alpha1.MachineSetSpec{Template: machinev1alpha1.MachineTemplateSpec{
				Spec: machinev1alpha1.MachineSpec{Class: machinev1alpha1.ClassSpec{Name: class}},
			}},
			Status: machinev1alpha1.MachineSetStatus{Replicas: replicas},
		}
	}
	for sentence, tc := range map[string]struct {
		pools    []extensionsv1alpha1.WorkerPool
		recorded map[string]string
		now      machinestatus.Observed
		want     map[string]string
		changed  bool
		pending  bool
	}{
		"a rolling update has no hash": {
			pools: []extensionsv1alpha1.WorkerPool{poolOf("cpu", nil), poolOf("gpu", new(gardencorev1beta1.AutoRollingUpdate))},
			now:   machinestatus.Observed{Deployments: []machinev1alpha1.MachineDeployment{deploymentWith("cpu", 3, 1)}},
			want:  map[string]string{},
		},
		"records the hash of an auto in-place update": {
			pools: []extensionsv1alpha1.WorkerPool{poolOf("cpu", new(auto))}, want: map[string]string{"cpu": hash}, changed: true,
		},
		"keeps the recorded hash": {
			pools: []extensionsv1alpha1.WorkerPool{poolOf("cpu", new(auto))}, recorded: map[string]string{"cpu": hash}, want: map[string]string{"cpu": hash},
		},
		"removes the hash of a removed pool": {
			pools:    []extensionsv1alpha1.WorkerPool{poolOf("cpu", new(auto))},
			recorded: map[string]string{"cpu": hash, "gone": "1"}, want: map[string]string{"cpu": hash}, changed: true,
		},
		"removes the hash of the last removed pool": {
			recorded: map[string]string{"gone": "1"}, want: map[string]string{}, changed: true,
		},
		"keeps the hash while a manual update is pending": {
			pools:    []extensionsv1alpha1.WorkerPool{poolOf("cpu", new(manual)), poolOf("gpu", new(auto))},
			recorded: map[string]string{"cpu": "1", "gpu": "1"},
			now:      machinestatus.Observed{Deployments: []machinev1alpha1.MachineDeployment{deploymentWith("cpu", 3, 3), deploymentWith("cpu", 3, 2)}},
			want:     map[string]string{"cpu": "1", "gpu": hash}, changed: true, pending: true,
		},
		"records no first hash while a manual update is pending": {
			pools: []extensionsv1alpha1.WorkerPool{poolOf("cpu", new(manual))},
			now:   machinestatus.Observed{Deployments: []machinev1alpha1.MachineDeployment{deploymentWith("cpu", 3, 0)}},
			want:  map[string]string{}, pending: true,
		},
		"ignores an outdated MachineDeployment status": {
			pools:    []extensionsv1alpha1.WorkerPool{poolOf("cpu", new(manual))},
			recorded: map[string]string{"cpu": "1"},
			now: machinestatus.Observed{
				Deployments: []machinev1alpha1.MachineDeployment{deploymentWith("cpu", 3, 3)},
				Sets:        []machinev1alpha1.MachineSet{setOf("shoot--dev--one-cpu-z1", "old", 3)},
			},
			want: map[string]string{"cpu": "1"}, pending: true,
		},
		"records the hash after the last manual update": {
			pools:    []extensionsv1alpha1.WorkerPool{poolOf("cpu", new(manual))},
			recorded: map[string]string{"cpu": "1"},
			now: machinestatus.Observed{
				Deployments: []machinev1alpha1.MachineDeployment{deploymentWith("cpu", 3, 3), deploymentWith("gpu", 3, 0)},
				Sets: []machinev1alpha1.MachineSet{
					setOf("shoot--dev--one-cpu-z1", "old", 0), setOf("shoot--dev--one-cpu-z1", "new", 3), setOf("shoot--dev--one-gpu-z1", "old", 3),
				},
			},
			want: map[string]string{"cpu": hash}, changed: true,
		},
		"records the hash of a hibernated shoot": {
			pools:    []extensionsv1alpha1.WorkerPool{poolOf("cpu", new(manual))},
			recorded: map[string]string{"cpu": "1"},
			now: machinestatus.Observed{
				Deployments: []machinev1alpha1.MachineDeployment{deploymentWith("cpu", 0, 0)},
				Sets:        []machinev1alpha1.MachineSet{setOf("shoot--dev--one-cpu-z1", "old", 0)},
			},
			want: map[string]string{"cpu": hash}, changed: true,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := &extensionsv1alpha1.Worker{Spec: extensionsv1alpha1.WorkerSpec{Pools: tc.pools}}
			if tc.recorded != nil {
				w.Status.InPlaceUpdates = &extensionsv1alpha1.InPlaceUpdatesWorkerStatus{WorkerPoolToHashMap: tc.recorded}
			}
			before := w.DeepCopy()
			hashes, changed, err := inPlaceHashes(w, &gardencorev1beta1.Shoot{}, tc.now)
			require.NoError(t, err)
			assert.Equal(t, tc.want, hashes)
			assert.Equal(t, tc.changed, changed)
			assert.Equal(t, tc.pending, manualUpdatesPending(w, tc.now))
			assert.Equal(t, before, w, "the Worker is not changed")
		})
	}
	t.Run("fails if an input is missing", func(t *testing.T) {
		w := &extensionsv1alpha1.Worker{Spec: extensionsv1alpha1.WorkerSpec{Pools: []extensionsv1alpha1.WorkerPool{poolOf("cpu", new(auto))}}}
		w.Spec.Pools[0].KubernetesVersion = nil
		_, _, err := inPlaceHashes(w, &gardencorev1beta1.Shoot{}, machinestatus.Observed{})
		assert.EqualError(t, err, `pool "cpu" has no kubernetesVersion, which its hash requires`)
	})
}
