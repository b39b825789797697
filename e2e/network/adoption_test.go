package network

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/managedresources"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testAdoption adopts a shoot whose network upstream's extension has created: no object that is still needed is replaced, and nodes stay as they are.
func testAdoption(t *testing.T, env *environment) {
	env.Shoot.NetworkConfig, env.Shoot.LastOperationType = nil, gardencorev1beta1.LastOperationTypeReconcile
	require.NoError(t, env.seed.Gardenlet.Prepare(t.Context(), env.Shoot))
	env.addNodes(t)
	env.simulateUpstream(t)
	there := env.snapshot(t)
	env.startController(t)
	env.reconcile(t)
	assert.Empty(t, env.stage(t), "what is there is what is wanted")
	env.awaitRolledOut(t)
	assert.Equal(t, poolsIPIP(), env.pools(t), "the pool that calico-node has made is the one")

	now, namespace := env.snapshot(t), env.Shoot.Namespace()
	var lost []string
	for _, name := range now.RemovedSince(there) {
		if !strings.Contains(name, "Secret "+namespace+"/"+resourceShoot) { // which held upstream's manifests
			lost = append(lost, name)
		}
	}
	assert.Equal(t, []string{
		"seed: ConfigMap " + namespace + "/calico-monitoring-config",
		"seed: ScrapeConfig " + namespace + "/shoot-calico-bird",
		"shoot: Deployment kube-system/calico-typha-vertical-autoscaler", // which counted another one's pods as its own
	}, lost, "everything else is what it was")
	assert.Subset(t, now.ChangedSince(there), []string{
		"shoot: DaemonSet kube-system/" + daemonSet, "shoot: Deployment kube-system/" + typha, "shoot: IPPool /default-ipv4-ippool",
		"seed: ScrapeConfig " + namespace + "/shoot-calico-felix",
	})
	assert.Equal(t, map[string]string{"k8s-app": daemonSet}, env.daemons(t).Spec.Selector.MatchLabels)
}

// testDeleteAdopted deletes the shoot's network, with the pool that calico-node has created.
func testDeleteAdopted(t *testing.T, env *environment) {
	env.destroy(t)
	env.stopController(t)
	env.removeNodes(t)
	env.assertNothingLeft(t)
}

// simulateUpstream creates the objects of upstream's extension and of Calico for a reconciled Network.
func (env *environment) simulateUpstream(t *testing.T) {
	t.Helper()
	namespace := env.Shoot.Namespace()
	content := append(append(upstreamFile(t, "shoot"), upstreamRights()...), env.definitions...)
	require.NoError(t, managedresources.Create(t.Context(), env.seed.Client, namespace, resourceShoot, nil, false, "",
		map[string][]byte{"chart": content}, new(false), map[string]string{v1beta1constants.ShootNoCleanup: "true"}, new(false)))
	for _, object := range decode(t, upstreamFile(t, "seed")) {
		object.SetNamespace(namespace)
		require.NoError(t, env.seed.Client.Create(t.Context(), object))
	}
	clusterstest.Eventually(t, "upstream's objects are applied", func() bool { return env.isApplied(t, resourceShoot) })
	env.simulateStartup(t)
	for _, app := range []string{daemonSet, "calico-typha", "calico-kube-controllers"} {
		clusterstest.Eventually(t, app+" runs", func() bool {
			return clusterstest.Pods(t, env.Cluster.Client, metav1.NamespaceSystem, map[string]string{"k8s-app": app}) > 0
		})
	}
	env.simulateUpstreamStatus(t)
}

// simulateStartup creates the pool that calico-node creates if there is none.
func (env *environment) simulateStartup(t *testing.T) {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "crd.projectcalico.org/v1", "kind": "IPPool", "metadata": map[string]any{"name": "default-ipv4-ippool"},
		"spec": map[string]any{
			"allowedUses": []any{"Workload", "Tunnel"}, "blockSize": int64(26), "cidr": "100.96.0.0/11", "ipipMode": "Always",
			"natOutgoing": true, "nodeSelector": "all()", "vxlanMode": "Never",
		},
	}}
	require.NoError(t, env.Cluster.Client.Create(t.Context(), object))
}

// simulateUpstreamStatus creates the Network with a status of success.
func (env *environment) simulateUpstreamStatus(t *testing.T) {
	t.Helper()
	component := env.component(t)
	require.NoError(t, component.Deploy(t.Context()))
	object := env.object(t)
	patch := client.MergeFrom(object.DeepCopy())
	object.Finalizers = []string{"extensions.gardener.cloud/network"}
	delete(object.Annotations, v1beta1constants.GardenerOperation)
	require.NoError(t, env.seed.Client.Patch(t.Context(), object, patch))
	patch = client.MergeFrom(object.DeepCopy())
	object.Status.ObservedGeneration = object.Generation
	object.Status.IPFamilies = []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4}
	object.Status.LastOperation = &gardencorev1beta1.LastOperation{
		Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStateSucceeded, Progress: 100,
		Description: "Successfully reconciled network", LastUpdateTime: metav1.NewTime(time.Now()),
	}
	require.NoError(t, env.seed.Client.Status().Patch(t.Context(), object, patch))
	require.NoError(t, component.Wait(t.Context()), "gardenlet is content")
}

func upstreamFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "upstream", name+".yaml"))
	require.NoError(t, err)
	return content
}

// upstreamRights are the accounts of Calico's components, each with one right, which is enough for the adoption.
func upstreamRights() (all []byte) {
	const account = `
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: NAME, namespace: kube-system}
`
	const role = `
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME}
rules: [{apiGroups: [""], resources: [nodes], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME}
subjects: [SUBJECTS]
`
	for _, name := range []string{"calico-node", "calico-cni-plugin", "calico-kube-controllers", "calico-typha", "typha-cpha", "typha-cpva", "calico-node-cpva"} {
		all = append(all, strings.ReplaceAll(account, "NAME", name)...)
		subjects := []string{fmt.Sprintf("{kind: ServiceAccount, name: %s, namespace: kube-system}", name)}
		switch name {
		case "calico-typha":
			continue // it has the rights of calico-node
		case "calico-node":
			subjects = append(subjects, "{kind: ServiceAccount, name: calico-typha, namespace: kube-system}")
		}
		all = append(all, strings.NewReplacer("NAME", name, "SUBJECTS", strings.Join(subjects, ", ")).Replace(role)...)
	}
	return all
}
