package garden

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

const (
	// secondary is the registration of a secondary controller, and primary that of its primary.
	secondary, primary = "worker-secondary", "worker"
	// observedLabel is the label of seeds that it is installed on.
	observedLabel = "observed"
)

// observedConditions are the conditions of the observations that are switched on.
func observedConditions() []gardencorev1beta1.ConditionType {
	return []gardencorev1beta1.ConditionType{"WorkerMachineImagesSupported", "WorkerMachineTypesAvailable", "WorkerMachinesHaveNodes"}
}

// observed is a seed with a secondary controller beside its primary. Its pods are simulated; one of them runs as a process.
type observed struct {
	*environment
	namespace string // of the installation
	binary    string
	process   *process.Process
	worker    *extensionsv1alpha1.Worker
}

// testSecondary registers a secondary controller beside its primary for seeds with a label, and removes it from a seed by the label. Then the registration
// is deleted.
func testSecondary(t *testing.T, env *environment) {
	before := env.leftovers(t)
	env.registerSecondary(t)
	testSeedSelector(t, env)

	env.label(t, "one", true)
	o := &observed{environment: env, namespace: namespaceOf(env.installed(t, secondary)).Name, worker: env.createObservedWorker(t)}
	o.start(t)
	o.waitObserved(t)
	testHeartbeat(t, o)
	unobserved := o.worker.Status.DefaultStatus.DeepCopy()

	env.label(t, "one", false)
	eventually(t, "the installation has gone", func() bool { return len(env.installations(t, secondary)) == 0 })
	o.process.Kill()
	eventually(t, "its namespace has gone, and its Leases with it", func() bool {
		return !exists(t, env.cluster.Client, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.namespace}})
	})
	require.True(t, exists(t, env.cluster.Client, o.worker))
	assert.Equal(t, slices.DeleteFunc(unobserved.Conditions, isObserved), o.worker.Status.Conditions, "the primary's condition is as it was")
	assert.Equal(t, unobserved.LastOperation, o.worker.Status.LastOperation)
	assert.Empty(t, o.worker.Finalizers)
	for _, object := range []client.Object{controllerRegistration(secondary), deployment(secondary)} {
		require.NoError(t, env.Client.Delete(t.Context(), object))
		eventually(t, "the registration has gone", func() bool { return !exists(t, env.Client, object) })
	}
	var after map[string][]string
	defer func() { assert.Equal(t, before, after) }()
	eventually(t, "the seed is as it was", func() bool {
		after = env.leftovers(t)
		return assert.ObjectsAreEqual(before, after)
	})
}

// registerSecondary registers it as docs/operations/secondaries.md says, with an interval that tests can wait for.
func (env *environment) registerSecondary(t *testing.T) {
	t.Helper()
	for _, object := range objectsOf(t, secondary, "rawchart") {
		if object.GetKind() == "ControllerRegistration" {
			require.NoError(t, unstructured.SetNestedField(object.Object, "true", "spec", "deployment", "seedSelector", "matchLabels", observedLabel))
		} else {
			require.NoError(t, unstructured.SetNestedField(object.Object, "10s", "helm", "values", "observationInterval"))
			require.NoError(t, unstructured.SetNestedStringSlice(object.Object, []string{"images", "machine-types", "machines"}, "helm", "values", "observations"))
		}
		require.NoError(t, apply(t, env.Client, object))
	}
}

// testSeedSelector adds a second seed, which has the label. It has no gardenlet: gardener-controller-manager alone decides what is installed.
func testSeedSelector(t *testing.T, env *environment) {
	t.Helper()
	two, err := env.AddSeed(t.Context(), "two", garden.SeedOptions{DNS: "openstack-designate", Labels: map[string]string{observedLabel: "true"}})
	require.NoError(t, err)
	eventually(t, "the labelled seed has primary and secondary", func() bool {
		names := env.installedOn(t, two.Name)
		return slices.Contains(names, secondary) && slices.Contains(names, primary)
	})
	names := env.installedOn(t, "one")
	assert.Contains(t, names, primary)
	assert.NotContains(t, names, secondary, "the other seed has no such label")
	env.label(t, two.Name, false)
	eventually(t, "the seed without label has no secondary any more", func() bool { return !slices.Contains(env.installedOn(t, two.Name), secondary) })
	assert.Contains(t, env.installedOn(t, two.Name), primary)
	require.NoError(t, env.Client.Delete(t.Context(), two))
	eventually(t, "the second seed has gone", func() bool { return !exists(t, env.Client, two) && len(env.installedOn(t, two.Name)) == 0 })
}

func (env *environment) label(t *testing.T, seed string, observed bool) {
	t.Helper()
	require.NoError(t, change(t, env.Client, &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: seed}}, func(s *gardencorev1beta1.Seed) {
		if delete(s.Labels, observedLabel); observed {
			metav1.SetMetaDataLabel(&s.ObjectMeta, observedLabel, "true")
		}
	}))
}

// createObservedWorker gives the shoot's Worker the status that the primary leaves after a success.
func (env *environment) createObservedWorker(t *testing.T) *extensionsv1alpha1.Worker {
	t.Helper()
	shoot := gardenlet.NewShoot("first", "openstack", "RegionOne")
	require.NoError(t, env.cluster.Gardenlet.Prepare(t.Context(), shoot))
	worker := &extensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Name: shoot.Name, Namespace: shoot.Namespace()}}
	require.NoError(t, env.cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(worker), worker))
	before := worker.DeepCopy()
	worker.Status.LastOperation = &gardencorev1beta1.LastOperation{
		Type: gardencorev1beta1.LastOperationTypeReconcile, State: gardencorev1beta1.LastOperationStateSucceeded, Progress: 100, LastUpdateTime: metav1.Now(),
	}
	worker.Status.Conditions = []gardencorev1beta1.Condition{{
		Type: gardencorev1beta1.ShootEveryNodeReady, Status: gardencorev1beta1.ConditionTrue, Reason: "HealthCheckSuccessful", Message: "All nodes are ready.",
		LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
	}}
	require.NoError(t, env.cluster.Client.Status().Patch(t.Context(), worker, client.MergeFrom(before)))
	return worker
}

// start starts a process with the arguments and the ServiceAccount of the pods.
func (o *observed) start(t *testing.T) {
	t.Helper()
	var err error
	if o.binary == "" {
		o.binary, err = controller.Worker().Build(t.Context())
		require.NoError(t, err)
	}
	name := "gardener-extension-" + secondary
	workload := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: o.namespace}}
	require.True(t, exists(t, o.cluster.Client, workload))
	kubeconfig, err := o.cluster.KubeconfigOf(t.Context(), o.namespace, name)
	require.NoError(t, err)
	health, err := process.FreeAddress()
	require.NoError(t, err)
	args := slices.DeleteFunc(slices.Clone(workload.Spec.Template.Spec.Containers[0].Args), func(arg string) bool {
		flag, _, _ := strings.Cut(arg, "=")
		return slices.Contains([]string{"--health-bind-address", "--metrics-bind-address", "--heartbeat-renew-interval-seconds"}, flag)
	})
	args = append(args, "--kubeconfig="+kubeconfig, "--health-bind-address="+health, "--metrics-bind-address=0", "--heartbeat-renew-interval-seconds=1")
	o.process, err = process.Start(o.binary, args, nil, filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	t.Cleanup(func() {
		o.process.Kill()
		if output, err := o.process.Output(); t.Failed() {
			t.Log(output, err)
		}
	})
	require.NoError(t, o.process.WaitForOK(t.Context(), "http://"+health+"/readyz"))
}

func (o *observed) waitObserved(t *testing.T) {
	t.Helper()
	eventually(t, "the Worker has all conditions of the secondary", func() bool {
		require.True(t, exists(t, o.cluster.Client, o.worker))
		return !slices.ContainsFunc(observedConditions(), func(kind gardencorev1beta1.ConditionType) bool {
			return v1beta1helper.GetCondition(o.worker.Status.Conditions, kind) == nil
		})
	})
}

func isObserved(condition gardencorev1beta1.Condition) bool {
	return slices.Contains(observedConditions(), condition.Type)
}

// leftovers are the names of all objects in the seed that an installation could leave: cluster-scoped ones, and those in Gardener's own namespace. Names of
// Secrets of ManagedResources have checksums.
func (env *environment) leftovers(t *testing.T) map[string][]string {
	t.Helper()
	found := env.namesByKind(t)
	leases := &coordinationv1.LeaseList{}
	require.NoError(t, env.cluster.Client.List(t.Context(), leases))
	for _, lease := range leases.Items {
		found["Lease"] = append(found["Lease"], lease.Namespace+"/"+lease.Name)
	}
	managed := &metav1.PartialObjectMetadataList{}
	managed.SetGroupVersionKind(managedResources())
	require.NoError(t, env.cluster.Client.List(t.Context(), managed))
	for _, item := range managed.Items {
		found["ManagedResource"] = append(found["ManagedResource"], item.Namespace+"/"+item.Name)
	}
	return found
}
