package worker

import (
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// testScaleUp adds a machine to a pool. Those that are there stay.
func testScaleUp(t *testing.T, w *world) {
	there := ids(w.servers(""))
	pool := w.pool(t, cpu)
	pool.Minimum, pool.Maximum = 3, 3
	w.fulfil(t)
	w.assertMachines(t)
	assert.Subset(t, ids(w.servers("")), there)
}

// testRoll gives one pool of two another image, and another label. Its machines are replaced, the others are not touched.
func testRoll(t *testing.T, w *world) {
	w.pool(t, memory).Machine.Image.Version = new(openstack.LatestImage)
	w.pool(t, cpu).Labels = map[string]string{"example.org/kind": "fast"}
	rolled, others, classes := ids(w.servers(memory)), ids(w.servers(cpu)), w.classes(t)
	component := w.order(t)
	groundtest.Eventually(t, "it is said what is waited for", func() bool {
		last := w.object(t).Status.LastOperation
		return last.State == gardencorev1beta1.LastOperationStateProcessing && last.Progress > 0 && last.Progress < 100
	})
	t.Log(w.object(t).Status.LastOperation.Description)
	w.await(t, component)

	w.assertMachines(t)
	assert.Equal(t, others, ids(w.servers(cpu)))
	assert.NotEqual(t, rolled, ids(w.servers(memory)))
	images := map[string]bool{}
	for _, server := range w.servers(memory) {
		images[server.ImageID] = true
	}
	for _, server := range w.servers(cpu) {
		assert.False(t, images[server.ImageID], "one image is another's")
	}
	now := w.classes(t)
	assert.Len(t, now, len(classes), "the former class is gone")
	assert.NotEqual(t, classes, now)
	groundtest.Eventually(t, "the label is on the nodes that stayed", func() bool {
		for _, node := range w.listNodes(t, cpu) {
			if node.Labels["example.org/kind"] != "fast" {
				return false
			}
		}
		return true
	})
}

// testShrink takes a machine from a pool, and another pool away, and what is left of a third that went before its machines did.
func testShrink(t *testing.T, w *world) {
	leftOvers := w.leaveOver(t)
	there := ids(w.servers(cpu))
	pool := w.pool(t, cpu)
	pool.Minimum, pool.Maximum = 2, 2
	w.Shoot.Workers = slices.DeleteFunc(w.Shoot.Workers, func(pool gardencorev1beta1.Worker) bool { return pool.Name == memory })
	w.fulfil(t) // a machine that goes because there is one too many is not waited for
	groundtest.Eventually(t, "the machines are gone", func() bool { return len(w.listMachines(t)) == 2 })
	w.assertMachines(t)
	assert.Subset(t, there, ids(w.servers("")))
	assert.Len(t, w.classes(t), 1)
	for _, object := range leftOvers {
		assert.False(t, groundtest.Get(t, w.seed.Client, object), "%T", object)
	}
}

// leaveOver makes a machine, and a set of machines, of a deployment that there is none of.
func (w *world) leaveOver(t *testing.T) []client.Object {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "left-over", Namespace: w.Shoot.Namespace(), Labels: map[string]string{"name": w.deployment("former")}}
	machine := &machinev1alpha1.Machine{ObjectMeta: meta}
	machine.Spec.Class = machinev1alpha1.ClassSpec{Kind: "MachineClass", Name: w.classes(t)[0]}
	set := &machinev1alpha1.MachineSet{ObjectMeta: meta}
	labels := map[string]string{"nothing": "matches"}
	set.Spec = machinev1alpha1.MachineSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: machinev1alpha1.MachineTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: machine.Spec},
	}
	require.NoError(t, w.seed.Client.Create(t.Context(), set))
	require.NoError(t, w.seed.Client.Create(t.Context(), machine))
	return []client.Object{set, machine}
}
