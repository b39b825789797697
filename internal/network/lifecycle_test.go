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

func fences(driver network.Driver) map[string]network.Driver {
	return map[string]network.Driver{"fence": driver}
}

func TestAShootThatComesFromAnotherExtension(t *testing.T) {
	t.Parallel()
	driver := fence{staged: &network.Gate{}, retired: []string{"dashboards", "never-there"}, told: &told{}}
	s := newSeed(t, fences(driver))
	s.upstreams("fence", posts("kube-system", "fence"), posts("kube-system", "wicket"))
	dashboards := posts(s.namespace, "dashboards")
	require.NoError(t, s.Create(t.Context(), dashboards))

	shoot := s.ask("one", "fence")
	shoot.ready()
	assert.False(t, s.has(dashboards), "it goes with the first stage, which need not name it")
	first := driver.told.take()
	require.Len(t, first, 2)
	assert.Empty(t, first[0].Form)
	require.Len(t, first[0].Objects, 2)
	assert.Equal(t, "fence", first[0].Objects[0].GetName())
	assert.Equal(t, network.Deployed{Form: []byte(`"posts"`), Settled: true}, first[1])
	assert.Equal(t, []string{"deleted ConfigMap wicket"}, s.manager.Shoot().History(), "what both want stays as it is")

	dashboards = posts(s.namespace, "dashboards")
	require.NoError(t, s.Create(t.Context(), dashboards))
	shoot.again()
	assert.True(t, s.has(dashboards), "the shoot is ours by now, and so is what is called like that")
	again := driver.told.take()
	require.NotEmpty(t, again)
	assert.Equal(t, network.Deployed{Form: []byte(`"wooden"`)}, again[0])
}

func TestANewShootComesFromNobody(t *testing.T) {
	t.Parallel()
	driver := fence{staged: &network.Gate{}, retired: []string{"dashboards"}, told: &told{}}
	s := newSeed(t, fences(driver), func(shoot *gardencorev1beta1.Shoot) {
		shoot.Status.LastOperation.Type = gardencorev1beta1.LastOperationTypeCreate
	})
	dashboards := posts(s.namespace, "dashboards")
	require.NoError(t, s.Create(t.Context(), dashboards))
	s.ask("one", "fence").healthy()
	assert.Empty(t, driver.told.take())
	assert.True(t, s.has(dashboards))
}

func TestAPluginThatCannotRouteServicesIsRefused(t *testing.T) {
	t.Parallel()
	s := newSeed(t, fences(fence{}), func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(false)}
	})
	lastError := s.ask("one", "fence").failed()
	assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorConfigurationProblem}, lastError.Codes)
	assert.Contains(t, lastError.Description, "spec.kubernetes.kubeProxy.enabled: Forbidden")
	assert.Empty(t, s.manager.Shoot().Keys())
}

func TestRoutesAreNotWaitedForWhereNobodyTellsOfThem(t *testing.T) {
	t.Parallel()
	s := newSeed(t, fences(fence{staged: &network.Gate{Routes: true}}))
	s.upstreams("fence", posts("kube-system", "fence"))
	object := s.ask("one", "fence").ready()
	assert.Contains(t, object.Status.LastOperation.Description, "routes to pods were not waited for")
	assert.NotContains(t, string(object.Status.State.Raw), "stage")
}

func TestAShootThatDoesNotAnswerIsNotTakenForOneThatIsReady(t *testing.T) {
	t.Parallel()
	gate := &network.Gate{Workloads: []network.Workload{{Kind: "DaemonSet", Namespace: "kube-system", Name: "fence"}}}
	s := newSeed(t, fences(fence{staged: gate}))
	s.upstreams("fence", posts("kube-system", "fence"))
	lastError := s.ask("one", "fence").failed()
	assert.Contains(t, lastError.Description, "setting posts: reading the kubeconfig of the shoot from Secret gardener")
}

func TestReconcile_WaitsForTheNameOfTheKubeAPIServer(t *testing.T) {
	t.Parallel()
	s := newSeed(t, fences(fence{needsHost: true}))
	shoot := s.ask("one", "fence")
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
	assert.Nil(t, shoot.ready().Status.LastError)
	assert.NotNil(t, s.manager.Shoot().Get("ConfigMap", "fence"))
}

func TestReconcile_ReportsWhatIsNotApplied(t *testing.T) {
	t.Parallel()
	s := newSeed(t, fences(fence{}))
	s.manager.Refuse("ConfigMap", "fence", `no matches for kind "ConfigMap"`)
	shoot := s.ask("one", "fence")
	assert.Contains(t, shoot.ready().Status.LastOperation.Description,
		`gardener-resource-manager has not applied extension-networking-fence-config yet (Could not apply all new resources: `+
			`error during apply of object "ConfigMap fence": no matches for kind "ConfigMap")`)

	s.manager.Refuse("ConfigMap", "fence", "")
	require.NoError(t, s.manager.ServeAll(t.Context()))
	assert.NotContains(t, shoot.again().Status.LastOperation.Description, "not applied")
}

func TestReconcile_SaysNothingOfWhatIsBeingApplied(t *testing.T) {
	t.Parallel()
	s := newSeed(t, fences(fence{}))
	s.manager.Leave()
	assert.NotContains(t, s.ask("one", "fence").ready().Status.LastOperation.Description, "not applied", "it would stay until the next operation")
}
