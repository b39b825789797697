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

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// testScaleUp adds a machine to a pool. Those that are there stay.
func testScaleUp(t *testing.T, env *environment) {
	there := ids(env.servers(""))
	pool := env.pool(t, cpu)
	pool.Minimum, pool.Maximum = 3, 3
	env.reconcile(t)
	env.assertMachines(t)
	assert.Subset(t, ids(env.servers("")), there)
}

// testRoll gives one pool of two another image, and another label. Its machines are replaced, the others are not touched.
func testRoll(t *testing.T, env *environment) {
	env.pool(t, memory).Machine.Image.Version = new(openstack.LatestImage)
	env.pool(t, cpu).Labels = map[string]string{"example.org/kind": "fast"}
	rolled, others, classes := ids(env.servers(memory)), ids(env.servers(cpu)), env.classes(t)
	component := env.requestReconcile(t)
	clusterstest.Eventually(t, "it is said what is waited for", func() bool {
		last := env.object(t).Status.LastOperation
		return last.State == gardencorev1beta1.LastOperationStateProcessing && last.Progress > 0 && last.Progress < 100
	})
	t.Log(env.object(t).Status.LastOperation.Description)
	env.await(t, component)

	env.assertMachines(t)
	assert.Equal(t, others, ids(env.servers(cpu)))
	assert.NotEqual(t, rolled, ids(env.servers(memory)))
	images := map[string]bool{}
	for _, server := range env.servers(memory) {
		images[server.ImageID] = true
	}
	for _, server := range env.servers(cpu) {
		assert.False(t, images[server.ImageID], "one image is another's")
	}
	now := env.classes(t)
	assert.Len(t, now, len(classes), "the former class is gone")
	assert.NotEqual(t, classes, now)
	clusterstest.Eventually(t, "the label is on the nodes that stayed", func() bool {
		for _, node := range env.listNodes(t, cpu) {
			if node.Labels["example.org/kind"] != "fast" {
				return false
			}
		}
		return true
	})
}

// testShrink takes a machine from a pool, and another pool away, and what is left of a third that went before its machines did.
func testShrink(t *testing.T, env *environment) {
	orphans := env.createOrphans(t)
	there := ids(env.servers(cpu))
	pool := env.pool(t, cpu)
	pool.Minimum, pool.Maximum = 2, 2
	env.Shoot.Workers = slices.DeleteFunc(env.Shoot.Workers, func(pool gardencorev1beta1.Worker) bool { return pool.Name == memory })
	env.reconcile(t) // a machine that goes because there is one too many is not waited for
	clusterstest.Eventually(t, "the machines are gone", func() bool { return len(env.listMachines(t)) == 2 })
	env.assertMachines(t)
	assert.Subset(t, there, ids(env.servers("")))
	assert.Len(t, env.classes(t), 1)
	for _, object := range orphans {
		assert.False(t, clusterstest.Get(t, env.seed.Client, object), "%T", object)
	}
}

// createOrphans makes a machine, and a set of machines, of a deployment that there is none of.
func (env *environment) createOrphans(t *testing.T) []client.Object {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "left-over", Namespace: env.Shoot.Namespace(), Labels: map[string]string{"name": env.deployment("former")}}
	machine := &machinev1alpha1.Machine{ObjectMeta: meta}
	machine.Spec.Class = machinev1alpha1.ClassSpec{Kind: "MachineClass", Name: env.classes(t)[0]}
	set := &machinev1alpha1.MachineSet{ObjectMeta: meta}
	labels := map[string]string{"nothing": "matches"}
	set.Spec = machinev1alpha1.MachineSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: machinev1alpha1.MachineTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: machine.Spec},
	}
	require.NoError(t, env.seed.Client.Create(t.Context(), set))
	require.NoError(t, env.seed.Client.Create(t.Context(), machine))
	return []client.Object{set, machine}
}
