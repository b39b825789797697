package installations

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// testWithoutGardenlet tests a seed whose gardenlet is started late and stopped early.
func testWithoutGardenlet(t *testing.T, env *environment) {
	const name = "alone"
	registration := everywhere(name, forWithoutGardenlet)
	registration.Custom = custom(t, withChart(t))
	require.NoError(t, env.Register(t.Context(), registration))
	s := env.bare

	// No other controller reports its health.
	installation := env.installed(t, s.name, name)
	healthy := map[gardencorev1beta1.ConditionType]string{
		gardencorev1beta1.ControllerInstallationInstalled:   "InstallationSuccessful",
		gardencorev1beta1.ControllerInstallationHealthy:     "ControllerHealthy",
		gardencorev1beta1.ControllerInstallationProgressing: "ControllerRolledOut",
	}
	for condition, reason := range healthy {
		assert.Equal(t, reason, conditionOf(installation, condition).Reason)
	}
	env.assertBroken(t, s, name)
	env.assertRolling(t, s, name)
	testNoAccess(t, env)

	// A gardenlet is started, and reports the same.
	gardenlet, err := env.StartGardenlet(t.Context(), s.name, s.Config)
	require.NoError(t, err)
	require.NoError(t, env.ReportGardenlet(t.Context(), s.name))
	env.waitFor(t, s.name, name, "is looked after by gardenlet", func(i *gardencorev1beta1.ControllerInstallation) bool {
		return conditionOf(i, gardencorev1beta1.ControllerInstallationRequired).Status != ""
	})
	since := time.Now()
	env.assertBroken(t, s, name)
	assert.Zero(t, env.conditionWrites(t, installation.Name, since), "the conditions are gardenlet's now")
	env.installed(t, s.name, "token")

	// It is stopped, which is not assumed at once.
	require.NoError(t, gardenlet.Stop())
	since = time.Now()
	namespace := namespaceOf(installation).Name
	s.Kubelets().Hold(namespace, "workload")
	env.phase(t, s.name, name, installationv1alpha1.PhaseUnhealthy)
	s.Kubelets().Release(namespace, "workload")
	installation = env.phase(t, s.name, name, installationv1alpha1.PhaseHealthy)
	assert.True(t, isReady(installation), "what gardenlet has said stands")
	assert.Zero(t, env.conditionWrites(t, installation.Name, since))

	// Its report has been outdated for longer than gardenlet needs to write: the ManagedResource has been unchanged for long, too.
	reportUnhealthy(t, env, installation)
	env.waitFor(t, s.name, name, "is said to be what it is", func(i *gardencorev1beta1.ControllerInstallation) bool {
		makeOld(t, s, i.Name)                                          // once more, should gardener-resource-manager have had more to say
		return isReady(i) && env.conditionWrites(t, i.Name, since) > 0 // and it was not gardenlet who said so
	})
}

// makeOld makes a ManagedResource one that has not changed for long.
func makeOld(t *testing.T, s *site, name string) {
	t.Helper()
	editInEtcd(t, s, "resources.gardener.cloud/managedresources/garden/"+name, func(managed map[string]any) {
		long := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		require.NoError(t, unstructured.SetNestedField(managed, long, "metadata", "creationTimestamp"))
		conditions, found, err := unstructured.NestedSlice(managed, "status", "conditions")
		require.NoError(t, err)
		require.True(t, found)
		for _, condition := range conditions {
			fields, ok := condition.(map[string]any)
			require.True(t, ok)
			fields["lastTransitionTime"], fields["lastUpdateTime"] = long, long
		}
		require.NoError(t, unstructured.SetNestedSlice(managed, conditions, "status", "conditions"))
	})
}

// assertBroken breaks an installed object, and repairs it. The reports are Gardener's for such a ManagedResource.
func (env *environment) assertBroken(t *testing.T, s *site, name string) {
	t.Helper()
	namespace := namespaceOf(env.installed(t, s.name, name)).Name
	s.Kubelets().Hold(namespace, "workload")
	broken := env.waitFor(t, s.name, name, "is not healthy", func(i *gardencorev1beta1.ControllerInstallation) bool {
		return is(i, gardencorev1beta1.ControllerInstallationHealthy, gardencorev1beta1.ConditionFalse)
	})
	assert.Equal(t, "ControllerNotHealthy", conditionOf(broken, gardencorev1beta1.ControllerInstallationHealthy).Reason)
	env.assertMessage(t, s, name, gardencorev1beta1.ControllerInstallationHealthy, health.CheckManagedResourceHealthy)
	s.Kubelets().Release(namespace, "workload")
	env.installed(t, s.name, name)
}

// assertRolling changes an installed Deployment while it cannot become ready.
func (env *environment) assertRolling(t *testing.T, s *site, name string) {
	t.Helper()
	namespace := namespaceOf(env.installed(t, s.name, name)).Name
	s.Kubelets().Hold(namespace, "workload")
	registration := everywhere(name, forWithoutGardenlet)
	config := withChart(t)
	config.Values = rawOf(t, map[string]any{"image": "second"})
	registration.Custom = custom(t, config)
	require.NoError(t, env.Deploy(t.Context(), registration))
	rolling := env.waitFor(t, s.name, name, "is progressing", func(i *gardencorev1beta1.ControllerInstallation) bool {
		return is(i, gardencorev1beta1.ControllerInstallationProgressing, gardencorev1beta1.ConditionTrue)
	})
	assert.Equal(t, "ControllerNotRolledOut", conditionOf(rolling, gardencorev1beta1.ControllerInstallationProgressing).Reason)
	env.assertMessage(t, s, name, gardencorev1beta1.ControllerInstallationProgressing, health.CheckManagedResourceProgressing)
	s.Kubelets().Release(namespace, "workload")
	env.installed(t, s.name, name)
}

// assertMessage waits until the message of a condition is Gardener's for the ManagedResource, which may change meanwhile.
func (env *environment) assertMessage(
	t *testing.T, s *site, name string, condition gardencorev1beta1.ConditionType, check func(*resourcesv1alpha1.ManagedResource) error,
) {
	t.Helper()
	env.waitFor(t, s.name, name, "says what Gardener says", func(i *gardencorev1beta1.ControllerInstallation) bool {
		managed := managedResourceOf(i)
		require.True(t, exists(t, s.Client, managed))
		err := check(managed)
		return err != nil && conditionOf(i, condition).Message == err.Error()
	})
}

// testNoAccess needs access to the garden on a seed that does not provide it. It is installed once it does.
func testNoAccess(t *testing.T, env *environment) {
	t.Helper()
	registration := everywhere("token", forWithoutGardenlet)
	registration.InjectGardenKubeconfig = true
	registration.Custom = custom(t, withChart(t))
	require.NoError(t, env.Register(t.Context(), registration))
	installation := env.invalid(t, env.bare.name, registration.Name, "GardenAccessNeedsGardenlet", failureCase{
		what: "a kubeconfig for the garden", messages: []string{"injectGardenKubeconfig", env.bare.name, "gardenlet"},
	})
	env.assertNothingInstalled(t, installation)
}

// reportUnhealthy writes a condition of gardenlet, with an old time, that an installation is not healthy.
func reportUnhealthy(t *testing.T, env *environment, installation *gardencorev1beta1.ControllerInstallation) {
	t.Helper()
	long := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	content, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []gardencorev1beta1.Condition{{
		Type: gardencorev1beta1.ControllerInstallationHealthy, Status: gardencorev1beta1.ConditionFalse, Reason: "ControllerNotHealthy",
		Message: "it was not", LastTransitionTime: long, LastUpdateTime: long,
	}}}})
	require.NoError(t, err)
	require.NoError(t, env.Client.Status().Patch(t.Context(), installation, client.RawPatch(types.StrategicMergePatchType, content)))
}

// editInEtcd edits an object in the etcd of a site, for fields that no API server changes.
func editInEtcd(t *testing.T, s *site, key string, edit func(map[string]any)) {
	t.Helper()
	encoded := base64.StdEncoding.EncodeToString([]byte("/registry/" + key))
	var found struct {
		Kvs []struct {
			Value []byte `json:"value"`
		} `json:"kvs"`
	}
	postJSON(t, s.Etcd()+"/v3/kv/range", map[string]any{"key": encoded}, &found)
	require.Len(t, found.Kvs, 1)
	object := map[string]any{}
	require.NoError(t, json.Unmarshal(found.Kvs[0].Value, &object))
	edit(object)
	content, err := json.Marshal(object)
	require.NoError(t, err)
	postJSON(t, s.Etcd()+"/v3/kv/put", map[string]any{"key": encoded, "value": content}, &struct{}{})
}

// postJSON makes a request to etcd's gateway.
func postJSON(t *testing.T, url string, input, output any) {
	t.Helper()
	content, err := json.Marshal(input)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(content))
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { assert.NoError(t, response.Body.Close()) }()
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.NoError(t, json.NewDecoder(response.Body).Decode(output))
}

// conditionWrites counts the operator's writes of conditions. Its own, Valid, does not change in this part.
func (env *environment) conditionWrites(t *testing.T, installation string, since time.Time) int {
	t.Helper()
	writes, err := env.InstallationWrites().WritesOf(env.operators[byGarden].user())
	require.NoError(t, err)
	count := 0
	for _, write := range writes {
		if write.Name == installation && write.Time.After(since) && strings.Contains(string(write.Body), `"conditions"`) {
			count++
		}
	}
	return count
}
