package network

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

const (
	stageTunnels = "bringing up tunnels on all nodes"
	stageLeave   = "sending packets without tunnels on all nodes, which keep them"
)

// gardenetParts is a shoot with our own network plugin: what its agents are told, not what they do.
func gardenetParts() []part {
	return []part{
		{"Create", testGardenetCreate},
		{"Again", testNoOp},
		{"OverlayOff", testGardenetOverlayOff},
		{"OverlayOn", testGardenetOverlayOn},
		{"KubeProxy", testGardenetKubeProxy},
		{"DualStack", testGardenetDualStack},
		{"Move", testGardenetMove},
		{"Hibernation", testGardenetHibernation},
		{"Delete", testGardenetDelete},
	}
}

// task is what the agents are told: a part of their configuration.
type task struct {
	Routes string `json:"routes"`
	Tunnel *struct {
		ID int `json:"id"`
	} `json:"tunnel"`
	PodRanges []string `json:"podRanges"`
}

// way describes how packets get to other nodes.
func (t task) way() string {
	if t.Tunnel != nil {
		return t.Routes + ", with a tunnel"
	}
	return t.Routes
}

// agents reads the DaemonSet, and the configuration that its pods mount.
func (env *environment) agents(t *testing.T) (*appsv1.DaemonSet, task) {
	t.Helper()
	agents := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "gardenet-agent", Namespace: metav1.NamespaceSystem}}
	require.True(t, clusterstest.Get(t, env.Cluster.Client, agents))
	for _, volume := range agents.Spec.Template.Spec.Volumes {
		if volume.ConfigMap == nil {
			continue
		}
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: volume.ConfigMap.Name, Namespace: metav1.NamespaceSystem}}
		require.True(t, clusterstest.Get(t, env.Cluster.Client, config))
		assert.True(t, *config.Immutable)
		var told task
		require.NoError(t, json.Unmarshal([]byte(config.Data["config.json"]), &told))
		return agents, told
	}
	require.Fail(t, "the pods mount no configuration")
	return nil, task{}
}

func (env *environment) way(t *testing.T) string {
	t.Helper()
	_, told := env.agents(t)
	return told.way()
}

// configureGardenet sets the overlay; routes are those of the nodes if it is off.
func (env *environment) configureGardenet(overlay bool) {
	settings := map[string]any{"enabled": overlay}
	if !overlay {
		settings["createPodRoutes"] = true
	}
	env.Shoot.NetworkConfig = map[string]any{
		"apiVersion": "gardenet.networking.extensions.gardener.cloud/v1alpha1", "kind": "NetworkConfig", "overlay": settings,
	}
}

func testGardenetCreate(t *testing.T, env *environment) {
	env.Shoot.NetworkType = "gardenet"
	env.configureGardenet(true)
	env.startController(t)
	env.reconcile(t)
	object := env.object(t)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeCreate, object.Status.LastOperation.Type)
	assert.Equal(t, []extensionsv1alpha1.IPFamily{extensionsv1alpha1.IPFamilyIPv4}, object.Status.IPFamilies)
	require.NotNil(t, object.Status.ProviderStatus)
	assert.Contains(t, string(object.Status.ProviderStatus.Raw), `"established":"recheck"`, "defaults are visible")
	env.awaitApplied(t)
	for _, name := range env.managedResources() {
		for _, object := range env.manifests(t, name) {
			assert.True(t, clusterstest.Get(t, env.clientOf(name), object.DeepCopy()), "%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())
		}
	}
	assert.Equal(t, "tunnel, with a tunnel", env.way(t))
	env.addNodes(t)
	env.awaitRolledOut(t)
	clusterstest.Eventually(t, "an agent is ready on each node", func() bool {
		agents, _ := env.agents(t)
		return agents.Status.NumberReady == 2
	})
	env.awaitCondition(t, systemHealthy, gardencorev1beta1.ConditionTrue)
	env.Shoot.LastOperationType, env.Shoot.LastOperationState = gardencorev1beta1.LastOperationTypeReconcile, gardencorev1beta1.LastOperationStateSucceeded
}

// testGardenetOverlayOff makes all nodes send without the tunnel before any of them gives it up.
func testGardenetOverlayOff(t *testing.T, env *environment) {
	env.Cluster.Kubelets().HoldNode(second)
	env.configureGardenet(false)
	env.reconcile(t)
	env.assertWaits(t, stageLeave, "not on "+second)
	assert.Equal(t, "nodes, with a tunnel", env.way(t))
	env.Cluster.Kubelets().ReleaseNode(second)
	env.awaitTransitionDone(t)
	assert.Equal(t, "nodes", env.way(t))
	env.awaitRolledOut(t)
}

// testGardenetOverlayOn brings the tunnel up on all nodes before any of them sends through it. The controller ends by force meanwhile.
func testGardenetOverlayOn(t *testing.T, env *environment) {
	env.Cluster.Kubelets().HoldNode(second)
	env.configureGardenet(true)
	env.requestReconcile(t)
	env.awaitStage(t, stageTunnels)
	env.killController()
	env.startController(t)
	require.NoError(t, env.component(t).Wait(t.Context()))
	env.assertWaits(t, stageTunnels, "not on "+second)
	assert.Equal(t, "nodes, with a tunnel", env.way(t))
	env.Cluster.Kubelets().ReleaseNode(second)
	env.awaitTransitionDone(t)
	assert.Equal(t, "tunnel, with a tunnel", env.way(t))
	env.awaitRolledOut(t)
}

// testGardenetKubeProxy disables kube-proxy: nobody would route Services until gardenet does. Then it enables kube-proxy again.
func testGardenetKubeProxy(t *testing.T, env *environment) {
	config, ok := env.Shoot.NetworkConfig.(map[string]any)
	require.True(t, ok)
	env.Shoot.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(false)}
	problem := env.assertRefused(t)
	assert.Contains(t, problem, "without kube-proxy nobody routes Services")
	assert.Contains(t, problem, "set spec.networking.providerConfig.serviceRouting.enabled to true", "the remedy")

	routing := maps.Clone(config)
	routing["serviceRouting"] = map[string]any{"enabled": true}
	env.Shoot.NetworkConfig = routing
	env.reconcile(t)
	env.awaitTransitionDone(t)
	routers := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "gardenet-service-router", Namespace: metav1.NamespaceSystem}}
	require.True(t, clusterstest.Get(t, env.Cluster.Client, routers))
	container := routers.Spec.Template.Spec.Containers[0]
	assert.NotContains(t, container.Args, "--hand-over")
	assert.Contains(t, container.Env, corev1.EnvVar{Name: "KUBERNETES_SERVICE_HOST", Value: "api.one.dev.example.org"})
	env.awaitRolledOut(t)

	env.Cluster.Kubelets().HoldNode(second)
	env.Shoot.KubeProxy, env.Shoot.NetworkConfig = nil, config
	env.reconcile(t)
	env.assertWaits(t, "handing Services over to kube-proxy on all nodes", "not on "+second)
	require.True(t, clusterstest.Get(t, env.Cluster.Client, routers))
	assert.Contains(t, routers.Spec.Template.Spec.Containers[0].Args, "--hand-over")
	env.Cluster.Kubelets().ReleaseNode(second)
	env.awaitTransitionDone(t)
	assert.False(t, clusterstest.Get(t, env.Cluster.Client, routers))
	env.awaitRolledOut(t)
}

// testGardenetDualStack adds a second family, as gardenlet's flow does.
func testGardenetDualStack(t *testing.T, env *environment) {
	env.Shoot.IPFamilies = []gardencorev1beta1.IPFamily{ipv4, ipv6}
	env.Shoot.Networking = gardencorev1beta1.NetworkingStatus{
		Pods: []string{"100.96.0.0/11", podsIPv6}, Services: []string{"100.64.0.0/13", "2001:db8:2::/112"}, Nodes: []string{"10.250.0.0/16", "2001:db8:3::/64"},
	}
	env.updateMigrationConstraint(t)
	env.reconcile(t)
	env.awaitTransitionDone(t)
	_, told := env.agents(t)
	assert.Equal(t, []string{"100.96.0.0/11"}, told.PodRanges, "nodes have no range of the other")

	env.replaceNodes(t, func(i int) []string {
		return []string{fmt.Sprintf("100.96.%d.0/24", i), fmt.Sprintf("2001:db8:1:%d::/64", i)}
	})
	env.updateMigrationConstraint(t)
	require.Equal(t, gardencorev1beta1.ConditionTrue, env.Shoot.Constraints[0].Status)
	env.reconcile(t)
	env.awaitTransitionDone(t)
	assert.Equal(t, []extensionsv1alpha1.IPFamily{"IPv4", "IPv6"}, env.object(t).Status.IPFamilies)
	_, told = env.agents(t)
	assert.Equal(t, []string{"100.96.0.0/11", "2001:db8:1::/56"}, told.PodRanges)
	env.updateMigrationConstraint(t)
	require.Empty(t, env.Shoot.Constraints, "the migration is over")
	env.awaitRolledOut(t)
}

// testGardenetMove migrates the control plane between two stages. The shoot keeps everything as it is.
func testGardenetMove(t *testing.T, env *environment) {
	env.Cluster.Kubelets().HoldNode(second)
	env.configureGardenet(false)
	env.reconcile(t)
	env.assertWaits(t, stageLeave, "not on "+second)
	there := env.snapshot(t)
	state, err := env.seed.Gardenlet.ShootState(t.Context(), env.Shoot)
	require.NoError(t, err)
	component := env.component(t)
	require.NoError(t, component.Migrate(t.Context()))
	require.NoError(t, component.WaitMigrate(t.Context()))
	env.destroy(t)
	env.stopController(t)
	left := env.snapshot(t)
	assert.Empty(t, clusterstest.InShoot(left.RemovedSince(there)), "everything in the shoot stays")
	assert.Empty(t, clusterstest.InShoot(left.ChangedSince(there)), "as it is")
	assert.Empty(t, clusterstest.InSeed(left.AddedSince(env.initial)), "nothing stays in the seed")
	env.seed.StopShootManager(env.Shoot)

	env.restore(t, state)
	env.awaitStage(t, stageLeave)
	env.Cluster.Kubelets().ReleaseNode(second)
	require.NoError(t, env.component(t).Wait(t.Context()))
	env.awaitTransitionDone(t)
	assert.Equal(t, "nodes", env.way(t))
	env.awaitRolledOut(t)
	assert.Empty(t, withoutConfigurations(clusterstest.InShoot(env.snapshot(t).RemovedSince(there))), "nothing in the shoot was deleted or made anew")
	env.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
}

// testGardenetHibernation hibernates the shoot and wakes it up, in gardenlet's order. A change in between needs no stages: there are no nodes.
func testGardenetHibernation(t *testing.T, env *environment) {
	env.removeNodes(t)
	env.Shoot.Hibernated = true
	env.reconcile(t)
	env.seed.StopShootManager(env.Shoot)
	require.NoError(t, env.seed.Gardenlet.ScaleAPIServer(t.Context(), env.Shoot, 0))
	require.NoError(t, env.Cluster.Hibernate())
	env.configureGardenet(true)
	env.reconcile(t)
	assert.Empty(t, env.stage(t), "no node has to be waited for")

	env.Shoot.Hibernated = false
	require.NoError(t, env.Cluster.WakeUp(t.Context()))
	require.NoError(t, env.seed.Gardenlet.ScaleAPIServer(t.Context(), env.Shoot, 1))
	require.NoError(t, env.seed.StartShootManager(t.Context(), env.Shoot, env.Cluster))
	env.reconcile(t)
	env.awaitTransitionDone(t)
	assert.Equal(t, "tunnel, with a tunnel", env.way(t))
}

func testGardenetDelete(t *testing.T, env *environment) {
	env.destroy(t)
	env.stopController(t)
	// gardener-resource-manager deletes configurations later, when nothing has referred to them for a while.
	assert.Empty(t, withoutConfigurations(withoutNodes(env.snapshot(t).AddedSince(env.initial))))
}

func withoutNodes(names []string) (others []string) {
	for _, name := range names {
		if !strings.HasPrefix(name, "shoot: Node /") {
			others = append(others, name)
		}
	}
	return others
}

// withoutConfigurations leaves out the configurations of agents, each of which is replaced, and what belongs to one node.
func withoutConfigurations(names []string) (others []string) {
	for _, name := range names {
		if !strings.HasPrefix(name, "shoot: ConfigMap kube-system/gardenet-") {
			others = append(others, name)
		}
	}
	return others
}
