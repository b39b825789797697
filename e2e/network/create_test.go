package network

import (
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testCreate creates the network of a shoot without nodes, as gardenlet does for a new shoot.
func testCreate(t *testing.T, env *environment) {
	env.startController(t)
	before := time.Now()
	env.reconcile(t)
	assert.Less(t, time.Since(before), 10*time.Second, "nobody is waited for")
	object := env.object(t)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeCreate, object.Status.LastOperation.Type)
	assert.EqualValues(t, 100, object.Status.LastOperation.Progress)
	assert.Equal(t, []string{"extensions.gardener.cloud/network"}, object.Finalizers)
	assert.Equal(t, []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4}, object.Status.IPFamilies)
	assert.Empty(t, env.stage(t))

	env.awaitApplied(t)
	for _, name := range env.managedResources() {
		for _, object := range env.manifests(t, name) {
			assert.True(t, clusterstest.Get(t, env.clientOf(name), object.DeepCopy()), "%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())
		}
	}
	env.assertDefined(t)
	assert.Equal(t, map[string]pool{"default-ipv4-ippool": {"100.96.0.0/11", "Always", "Never", false}}, env.pools(t))
	env.Shoot.LastOperationType, env.Shoot.LastOperationState = gardencorev1beta1.LastOperationTypeReconcile, gardencorev1beta1.LastOperationStateSucceeded
}

// assertDefined asserts that the shoot has Calico's CRDs.
func (env *environment) assertDefined(t *testing.T) {
	t.Helper()
	definitions := &apiextensionsv1.CustomResourceDefinitionList{}
	require.NoError(t, env.Cluster.Client.List(t.Context(), definitions))
	established := 0
	for _, definition := range definitions.Items {
		if definition.Spec.Group != "crd.projectcalico.org" {
			continue
		}
		for _, condition := range definition.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				established++
			}
			assert.False(t, condition.Type == apiextensionsv1.NonStructuralSchema && condition.Status == apiextensionsv1.ConditionTrue,
				"%s: %s", definition.Name, condition.Message)
		}
	}
	assert.GreaterOrEqual(t, established, 18)
}

// testNoOp counts the requests and writes of a reconciliation without changes.
func testNoOp(t *testing.T, env *environment) {
	env.stopController(t)
	before := len(env.writes(t))
	there := env.snapshot(t)
	env.startController(t)
	env.reconcile(t)
	env.stopController(t)

	writes := audit.WithoutProgress(env.writes(t)[before:])
	if assert.Len(t, writes, 2, "order taken, result reported; no third write, and no Event") {
		assert.Equal(t, "patch networks", writes[0].Verb+" "+writes[0].Resource)
		assert.Equal(t, "patch networks/status", writes[1].Verb+" "+writes[1].Resource)
	}
	now := env.snapshot(t)
	assert.Empty(t, now.AddedSince(there), "the Secrets are the same")
	assert.Empty(t, now.RemovedSince(there))
	namespace := env.Shoot.Namespace()
	changed := slices.DeleteFunc(now.ChangedSince(there), func(object string) bool {
		// gardener-resource-manager may write the state of the shoot at any time; that the controller does not is asserted above.
		return strings.HasPrefix(object, "seed: ManagedResource ")
	})
	assert.Equal(t, []string{
		"seed: Cluster /" + namespace, // gardenlet's
		"seed: Network " + namespace + "/one",
	}, changed)
	env.startController(t)
}

func managedResource(name string) *resourcesv1alpha1.ManagedResource {
	resource := &resourcesv1alpha1.ManagedResource{}
	resource.Name = name
	return resource
}
