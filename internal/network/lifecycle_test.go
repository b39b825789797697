package network_test

import (
	"fmt"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/network"
)

func exampleDrivers(driver network.Driver) map[string]network.Driver {
	return map[string]network.Driver{"example-net": driver}
}

func TestReconcile_FromUpstream(t *testing.T) {
	t.Parallel()
	driver := exampleNet{stageGate: &network.Gate{}, retired: []string{"dashboards", "never-there"}, transitions: &transitionRecord{}}
	s := newSeed(t, exampleDrivers(driver))
	s.deployUpstream("example-net", exampleConfigMap("kube-system", "example-net"), exampleConfigMap("kube-system", "other"))
	dashboards := exampleConfigMap(s.namespace, "dashboards")
	require.NoError(t, s.Create(t.Context(), dashboards))

	shoot := s.requestNetwork("one", "example-net")
	shoot.waitReady()
	assert.False(t, s.exists(dashboards), "it goes with the first stage, which need not name it")
	first := driver.transitions.takeAll()
	require.Len(t, first, 2)
	assert.Empty(t, first[0].Form)
	require.Len(t, first[0].Objects, 2)
	assert.Equal(t, "example-net", first[0].Objects[0].GetName())
	assert.Equal(t, network.Deployed{Form: []byte(`"posts"`), RolledOut: true}, first[1])
	assert.Equal(t, []string{"deleted ConfigMap other"}, s.manager.Shoot().History(), "what both want stays as it is")

	dashboards = exampleConfigMap(s.namespace, "dashboards")
	require.NoError(t, s.Create(t.Context(), dashboards))
	shoot.reconcileAgain()
	assert.True(t, s.exists(dashboards), "the shoot is ours by now, and so is what is called like that")
	again := driver.transitions.takeAll()
	require.NotEmpty(t, again)
	assert.Equal(t, network.Deployed{Form: []byte(`"vxlan"`)}, again[0])
}

func TestReconcile_NewShoot(t *testing.T) {
	t.Parallel()
	driver := exampleNet{stageGate: &network.Gate{}, retired: []string{"dashboards"}, transitions: &transitionRecord{}}
	s := newSeed(t, exampleDrivers(driver), func(shoot *gardencorev1beta1.Shoot) {
		shoot.Status.LastOperation.Type = gardencorev1beta1.LastOperationTypeCreate
	})
	dashboards := exampleConfigMap(s.namespace, "dashboards")
	require.NoError(t, s.Create(t.Context(), dashboards))
	s.requestNetwork("one", "example-net").waitHealthy()
	assert.Empty(t, driver.transitions.takeAll())
	assert.True(t, s.exists(dashboards))
}

func TestReconcile_ServicesNotRouted(t *testing.T) {
	t.Parallel()
	s := newSeed(t, exampleDrivers(exampleNet{}), func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(false)}
	})
	lastError := s.requestNetwork("one", "example-net").waitFailed()
	assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorConfigurationProblem}, lastError.Codes)
	assert.Contains(t, lastError.Description, "spec.kubernetes.kubeProxy.enabled: Forbidden")
	assert.Empty(t, s.manager.Shoot().Keys())
}

func TestReconcile_RoutesNotReported(t *testing.T) {
	t.Parallel()
	s := newSeed(t, exampleDrivers(exampleNet{stageGate: &network.Gate{Routes: true}}))
	s.deployUpstream("example-net", exampleConfigMap("kube-system", "example-net"))
	object := s.requestNetwork("one", "example-net").waitReady()
	assert.Contains(t, object.Status.LastOperation.Description, "routes to pods were not waited for")
	assert.NotContains(t, string(object.Status.State.Raw), "stage")
}

func TestReconcile_ShootUnreachable(t *testing.T) {
	t.Parallel()
	gate := &network.Gate{Workloads: []network.Workload{{Kind: "DaemonSet", Namespace: "kube-system", Name: "example-net"}}}
	s := newSeed(t, exampleDrivers(exampleNet{stageGate: gate}))
	s.deployUpstream("example-net", exampleConfigMap("kube-system", "example-net"))
	lastError := s.requestNetwork("one", "example-net").waitFailed()
	assert.Contains(t, lastError.Description, "setting posts: reading the kubeconfig of the shoot from Secret gardener")
}

func TestReconcile_WaitsForAPIServerHost(t *testing.T) {
	t.Parallel()
	s := newSeed(t, exampleDrivers(exampleNet{needsHost: true}))
	shoot := s.requestNetwork("one", "example-net")
	_, err := shoot.WaitFor(t.Context(), func(object *extensionsv1alpha1.Network) error {
		if last := object.Status.LastOperation; last != nil && strings.Contains(last.Description, "status.advertisedAddresses of the Shoot") {
			return nil
		}
		return fmt.Errorf("%+v", object.Status)
	})
	require.NoError(t, err)

	s.changeShoot(func(shoot *gardencorev1beta1.Shoot) {
		shoot.Status.AdvertisedAddresses = []gardencorev1beta1.ShootAdvertisedAddress{{Name: "external", URL: "https://api.example.org"}}
	})
	assert.Nil(t, shoot.waitReady().Status.LastError)
	assert.NotNil(t, s.manager.Shoot().Get("ConfigMap", "example-net"))
}

func TestReconcile_ApplyFailed(t *testing.T) {
	t.Parallel()
	s := newSeed(t, exampleDrivers(exampleNet{}))
	s.manager.Reject("ConfigMap", "example-net", `no matches for kind "ConfigMap"`)
	shoot := s.requestNetwork("one", "example-net")
	assert.Contains(t, shoot.waitReady().Status.LastOperation.Description,
		`gardener-resource-manager has not applied extension-networking-example-net-config yet (Could not apply all new resources: `+
			`error during apply of object "ConfigMap example-net": no matches for kind "ConfigMap")`)

	s.manager.Reject("ConfigMap", "example-net", "")
	require.NoError(t, s.manager.ReconcileAll(t.Context()))
	assert.NotContains(t, shoot.reconcileAgain().Status.LastOperation.Description, "not applied")
}

func TestReconcile_ApplyPending(t *testing.T) {
	t.Parallel()
	s := newSeed(t, exampleDrivers(exampleNet{}))
	s.manager.Stop()
	assert.NotContains(t, s.requestNetwork("one", "example-net").waitReady().Status.LastOperation.Description, "not applied", "it would stay until the next operation")
}
