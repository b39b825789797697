package shoot_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/utils/managedresources"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testManagedResourceForShoot applies a DaemonSet to the shoot, as a control plane does.
func testManagedResourceForShoot(t *testing.T, env *environment) {
	shoot := env.cluster.Client
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "bare"}}
	require.NoError(t, shoot.Create(t.Context(), node))
	daemon := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "daemon", Namespace: metav1.NamespaceSystem}}
	labels := map[string]string{"app": "daemon"}
	daemon.Spec = appsv1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: podTemplate(labels, "daemon", "system-node-critical"),
	}
	daemon.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	data, err := managedresources.NewRegistry(kubernetes.ShootScheme, kubernetes.ShootCodec, kubernetes.ShootSerializer).AddAllAndSerialize(
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "daemon", Namespace: metav1.NamespaceSystem}}, daemon,
	)
	require.NoError(t, err)
	require.NoError(t, managedresources.CreateForShoot(t.Context(), env.seed.Client, env.shoot.Namespace(), "daemons", "test", false, data))
	env.awaitRolledOut(t, "daemons")
	require.True(t, clusterstest.Get(t, shoot, daemon))
	assert.EqualValues(t, 1, daemon.Status.NumberReady, "one for the only node")
	assert.Equal(t, 1, clusterstest.Pods(t, shoot, metav1.NamespaceSystem, labels))

	env.cluster.Kubelets().Hold(metav1.NamespaceSystem, "daemon")
	env.awaitCondition(t, "daemons", resourcesv1alpha1.ResourcesHealthy, gardencorev1beta1.ConditionFalse)
	env.cluster.Kubelets().Release(metav1.NamespaceSystem, "daemon")
	env.awaitRolledOut(t, "daemons")

	require.NoError(t, managedresources.DeleteForShoot(t.Context(), env.seed.Client, env.shoot.Namespace(), "daemons"))
	env.awaitGone(t, "daemons")
	assert.False(t, clusterstest.Get(t, shoot, daemon))
	assert.Zero(t, clusterstest.Pods(t, shoot, metav1.NamespaceSystem, labels), "garbage is collected")
	require.NoError(t, shoot.Delete(t.Context(), node))
}

// testManagedResourceForSeed applies a component of a control plane to the seed.
func testManagedResourceForSeed(t *testing.T, env *environment) {
	namespace := env.shoot.Namespace()
	labels := map[string]string{"app": "component"}
	meta := metav1.ObjectMeta{Name: "component", Namespace: namespace}
	deployment := &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: podTemplate(labels, "component", v1beta1constants.PriorityClassNameShootControlPlane300),
	}}
	objects := []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta}, deployment,
		&policyv1.PodDisruptionBudget{ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
		}},
		ofKind(meta, "autoscaling.k8s.io/v1", "VerticalPodAutoscaler", map[string]any{
			"targetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "component"},
		}),
		ofKind(meta, "monitoring.coreos.com/v1", "ServiceMonitor", map[string]any{"selector": map[string]any{}, "endpoints": []any{}}),
		ofKind(meta, "monitoring.coreos.com/v1", "PrometheusRule", map[string]any{"groups": []any{}}),
	}
	data, err := managedresources.NewRegistry(kubernetes.SeedScheme, kubernetes.SeedCodec, kubernetes.SeedSerializer).AddAllAndSerialize(objects...)
	require.NoError(t, err)
	require.NoError(t, managedresources.CreateForSeed(t.Context(), env.seed.Client, namespace, "components", false, data))
	env.awaitRolledOut(t, "components")
	for _, object := range objects {
		assert.True(t, clusterstest.Get(t, env.seed.Client, object), "%T", object)
	}
	assert.False(t, clusterstest.Get(t, env.seed.Client, ofKind(meta, "druid.gardener.cloud/v1alpha1", "Etcd", nil)), "the kind is known, there is none")
	assert.EqualValues(t, 2, deployment.Status.AvailableReplicas)
	assert.Equal(t, 2, clusterstest.Pods(t, env.seed.Client, namespace, labels))

	env.seed.Kubelets().Hold(namespace, "component")
	env.awaitCondition(t, "components", resourcesv1alpha1.ResourcesHealthy, gardencorev1beta1.ConditionFalse)
	env.seed.Kubelets().Release(namespace, "component")
	env.awaitRolledOut(t, "components")

	require.NoError(t, managedresources.DeleteForSeed(t.Context(), env.seed.Client, namespace, "components"))
	env.awaitGone(t, "components")
	for _, object := range objects {
		assert.False(t, clusterstest.Get(t, env.seed.Client, object), "%T", object)
	}
}

// testPodRequirements checks that a pod needs the objects that it refers to, as in a real seed.
func testPodRequirements(t *testing.T, env *environment) {
	for description, template := range map[string]corev1.PodTemplateSpec{
		"a ServiceAccount that nobody made": podTemplate(nil, "nobody", v1beta1constants.PriorityClassNameShootControlPlane300),
		"a priority that Gardener has not":  podTemplate(nil, "default", "gardener-system-1000"),
	} {
		t.Run(description, func(t *testing.T) {
			labels := map[string]string{"app": "demanding"}
			template.Labels = labels
			deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "demanding", Namespace: env.shoot.Namespace()}}
			deployment.Spec = appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template}
			require.NoError(t, env.seed.Client.Create(t.Context(), deployment))
			clusterstest.Eventually(t, "it is said that no pod can be made", func() bool {
				require.True(t, clusterstest.Get(t, env.seed.Client, deployment))
				for _, condition := range deployment.Status.Conditions {
					if condition.Type == appsv1.DeploymentReplicaFailure {
						return condition.Status == corev1.ConditionTrue
					}
				}
				return false
			})
			require.NoError(t, env.seed.Client.Delete(t.Context(), deployment, client.PropagationPolicy(metav1.DeletePropagationForeground)))
			clusterstest.Eventually(t, "it is gone", func() bool { return !clusterstest.Get(t, env.seed.Client, deployment) })
		})
	}
}

func podTemplate(labels map[string]string, serviceAccount, priority string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
		ServiceAccountName: serviceAccount, PriorityClassName: priority,
		Containers: []corev1.Container{{Name: "main", Image: "registry.k8s.io/pause:3.10"}},
	}}
}

func ofKind(meta metav1.ObjectMeta, version, kind string, spec map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind, "spec": spec}}
	object.SetName(meta.Name)
	object.SetNamespace(meta.Namespace)
	return object
}

func (env *environment) awaitRolledOut(t *testing.T, name string) {
	t.Helper()
	env.awaitCondition(t, name, resourcesv1alpha1.ResourcesApplied, gardencorev1beta1.ConditionTrue)
	env.awaitCondition(t, name, resourcesv1alpha1.ResourcesHealthy, gardencorev1beta1.ConditionTrue)
	env.awaitCondition(t, name, resourcesv1alpha1.ResourcesProgressing, gardencorev1beta1.ConditionFalse)
}

func (env *environment) awaitCondition(t *testing.T, name string, kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) {
	t.Helper()
	resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: env.shoot.Namespace()}}
	clusterstest.Eventually(t, "ManagedResource "+name+" says "+string(kind)+"="+string(status), func() bool {
		require.True(t, clusterstest.Get(t, env.seed.Client, resource))
		condition := helper.GetCondition(resource.Status.Conditions, kind)
		return condition != nil && condition.Status == status
	})
}

func (env *environment) awaitGone(t *testing.T, name string) {
	t.Helper()
	resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: env.shoot.Namespace()}}
	clusterstest.Eventually(t, "ManagedResource "+name+" is gone", func() bool { return !clusterstest.Get(t, env.seed.Client, resource) })
}
