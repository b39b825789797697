package network

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

const (
	resourceShoot = "extension-networking-calico-config"
	resourceSeed  = "extension-networking-calico-seed"

	systemHealthy        = gardencorev1beta1.ShootSystemComponentsHealthy
	observabilityHealthy = gardencorev1beta1.ShootObservabilityComponentsHealthy
)

// managedResources are a Network's: that of the shoot, and that of the seed.
func (env *environment) managedResources() []string {
	prefix := "extension-networking-" + cmp.Or(env.Shoot.NetworkType, "calico")
	return []string{prefix + "-config", prefix + "-seed"}
}

// clientOf returns the client for the cluster of a ManagedResource's objects.
func (env *environment) clientOf(resource string) client.Client {
	if strings.HasSuffix(resource, "-seed") {
		return env.seed.Client
	}
	return env.Cluster.Client
}

// awaitApplied waits until gardener-resource-manager has applied the present content of all.
func (env *environment) awaitApplied(t *testing.T) {
	t.Helper()
	for _, name := range env.managedResources() {
		env.awaitResource(t, name, resourcesv1alpha1.ResourcesApplied, gardencorev1beta1.ConditionTrue)
	}
}

// awaitRolledOut waits until gardener-resource-manager reports all objects as applied, healthy and not progressing.
func (env *environment) awaitRolledOut(t *testing.T) {
	t.Helper()
	env.awaitApplied(t)
	for _, name := range env.managedResources() {
		env.awaitResource(t, name, resourcesv1alpha1.ResourcesHealthy, gardencorev1beta1.ConditionTrue)
		env.awaitResource(t, name, resourcesv1alpha1.ResourcesProgressing, gardencorev1beta1.ConditionFalse)
	}
}

func (env *environment) awaitResource(t *testing.T, name string, kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) {
	t.Helper()
	resource, last := managedResource(name), ""
	defer func() {
		if t.Failed() {
			t.Logf("%s: %s", name, last)
		}
	}()
	clusterstest.Eventually(t, "ManagedResource "+name+" says "+string(kind)+"="+string(status), func() bool {
		require.True(t, env.get(t, resource), name)
		condition := helper.GetCondition(resource.Status.Conditions, kind)
		if condition != nil {
			last = condition.Message
		}
		return condition != nil && condition.Status == status && resource.Status.ObservedGeneration == resource.Generation
	})
}

// awaitCondition waits for a condition of the Network, and returns it.
func (env *environment) awaitCondition(t *testing.T, kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) gardencorev1beta1.Condition {
	t.Helper()
	var condition *gardencorev1beta1.Condition
	clusterstest.Eventually(t, string(kind)+" is "+string(status), func() bool {
		condition = helper.GetCondition(env.object(t).Status.Conditions, kind)
		return condition != nil && condition.Status == status
	})
	return *condition
}

// manifests returns the content of a ManagedResource.
func (env *environment) manifests(t *testing.T, name string) (objects []*unstructured.Unstructured) {
	t.Helper()
	resource := managedResource(name)
	require.True(t, env.get(t, resource), name)
	for _, ref := range resource.Spec.SecretRefs {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: ref.Name}}
		require.True(t, env.get(t, secret), ref.Name)
		for _, content := range secret.Data {
			objects = append(objects, decode(t, content)...)
		}
	}
	require.NotEmpty(t, objects)
	return objects
}

// decode reads all objects of a file.
func decode(t *testing.T, content []byte) (objects []*unstructured.Unstructured) {
	t.Helper()
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		require.NoError(t, err)
		if object.GetKind() != "" {
			objects = append(objects, object)
		}
	}
}
