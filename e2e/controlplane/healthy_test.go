package controlplane

import (
	"testing"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

const (
	resourceSeed           = "extension-controlplane-seed"
	resourceShoot          = "extension-controlplane-shoot"
	resourceShootCRDs      = "extension-controlplane-shoot-crds"
	resourceStorageClasses = "extension-controlplane-storageclasses"
)

// managedResources are a ControlPlane's.
func managedResources() []string {
	return []string{resourceSeed, resourceShoot, resourceShootCRDs, resourceStorageClasses}
}

// awaitRolledOut waits until gardener-resource-manager reports all objects as applied, healthy and not progressing.
func (env *environment) awaitRolledOut(t *testing.T) {
	t.Helper()
	env.awaitResources(t, managedResources()...)
}

func (env *environment) awaitResources(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		for kind, status := range map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus{
			resourcesv1alpha1.ResourcesApplied:     gardencorev1beta1.ConditionTrue,
			resourcesv1alpha1.ResourcesHealthy:     gardencorev1beta1.ConditionTrue,
			resourcesv1alpha1.ResourcesProgressing: gardencorev1beta1.ConditionFalse,
		} {
			resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Name: name}}
			clusterstest.Eventually(t, "ManagedResource "+name+" says "+string(kind)+"="+string(status), func() bool {
				require.True(t, env.get(t, resource), name)
				condition := helper.GetCondition(resource.Status.Conditions, kind)
				return condition != nil && condition.Status == status && resource.Status.ObservedGeneration == resource.Generation
			})
		}
	}
}

// awaitHealthy waits until the ControlPlane's own conditions are healthy.
func (env *environment) awaitHealthy(t *testing.T) {
	t.Helper()
	for _, kind := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ShootControlPlaneHealthy, gardencorev1beta1.ShootSystemComponentsHealthy,
	} {
		var condition *gardencorev1beta1.Condition
		clusterstest.Eventually(t, string(kind)+" is said", func() bool {
			condition = helper.GetCondition(env.object(t).Status.Conditions, kind)
			return condition != nil && condition.Status == gardencorev1beta1.ConditionTrue
		})
	}
}

// deployments returns the control plane's own Deployments in the seed, by name.
func (env *environment) deployments(t *testing.T) map[string]*appsv1.Deployment {
	t.Helper()
	list := &appsv1.DeploymentList{}
	require.NoError(t, env.seed.Client.List(t.Context(), list, client.InNamespace(env.Shoot.Namespace())))
	deployments := map[string]*appsv1.Deployment{}
	for i := range list.Items {
		if name := list.Items[i].Name; name != "kube-apiserver" {
			deployments[name] = &list.Items[i]
		}
	}
	return deployments
}

// assertRunning asserts that exactly the Deployments of these names have running pods.
func (env *environment) assertRunning(t *testing.T, names ...string) {
	t.Helper()
	var found []string
	for name, deployment := range env.deployments(t) {
		found = append(found, name)
		assert.EqualValues(t, 1, deployment.Status.AvailableReplicas, name)
		pods := clusterstest.Pods(t, env.seed.Client, deployment.Namespace, deployment.Spec.Selector.MatchLabels)
		assert.Equal(t, 1, pods, name)
	}
	assert.ElementsMatch(t, names, found)
}

// pods returns the names of the pods of the Deployment.
func (env *environment) pods(t *testing.T, deployment *appsv1.Deployment) (names []string) {
	t.Helper()
	list := &corev1.PodList{}
	require.NoError(t, env.seed.Client.List(t.Context(), list,
		client.InNamespace(deployment.Namespace), client.MatchingLabels(deployment.Spec.Selector.MatchLabels)))
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			names = append(names, pod.Name)
		}
	}
	return names
}

// assertTokens asserts that the named components can connect to the shoot.
func (env *environment) assertTokens(t *testing.T, accounts ...string) {
	t.Helper()
	for _, account := range accounts {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "shoot-access-" + account}}
		clusterstest.Eventually(t, account+" has a token", func() bool { return env.get(t, secret) && len(secret.Data["token"]) > 0 })
	}
}
