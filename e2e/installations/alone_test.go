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

// testAlone is about a seed whose gardenlet comes late and goes early.
func testAlone(t *testing.T, g *ground) {
	const name = "alone"
	registration := everywhere(name, forAlone)
	registration.Custom = custom(t, withChart(t))
	require.NoError(t, g.Register(t.Context(), registration))
	s := g.bare

	// Nobody else says how it is.
	installation := g.installed(t, s.name, name)
	healthy := map[gardencorev1beta1.ConditionType]string{
		gardencorev1beta1.ControllerInstallationInstalled:   "InstallationSuccessful",
		gardencorev1beta1.ControllerInstallationHealthy:     "ControllerHealthy",
		gardencorev1beta1.ControllerInstallationProgressing: "ControllerRolledOut",
	}
	for condition, reason := range healthy {
		assert.Equal(t, reason, conditionOf(installation, condition).Reason)
	}
	g.assertBroken(t, s, name)
	g.assertRolling(t, s, name)
	testNoAccess(t, g)

	// A gardenlet comes, and says the same.
	gardenlet, err := g.StartGardenlet(t.Context(), s.name, s.Config)
	require.NoError(t, err)
	require.NoError(t, g.ReportGardenlet(t.Context(), s.name))
	g.await(t, s.name, name, "is looked after by gardenlet", func(i *gardencorev1beta1.ControllerInstallation) bool {
		return conditionOf(i, gardencorev1beta1.ControllerInstallationRequired).Status != ""
	})
	since := time.Now()
	g.assertBroken(t, s, name)
	assert.Zero(t, g.careWrites(t, installation.Name, since), "the conditions are gardenlet's now")
	g.installed(t, s.name, "token")

	// It goes, and nobody takes it for gone at once.
	require.NoError(t, gardenlet.Stop())
	since = time.Now()
	namespace := namespaceOf(installation).Name
	s.Kubelets().Hold(namespace, "workload")
	g.phase(t, s.name, name, installationv1alpha1.PhaseUnhealthy)
	s.Kubelets().Release(namespace, "workload")
	installation = g.phase(t, s.name, name, installationv1alpha1.PhaseHealthy)
	assert.True(t, isWell(installation), "what gardenlet has said stands")
	assert.Zero(t, g.careWrites(t, installation.Name, since))

	// What it says has been wrong for longer than it needs to say something else: the ManagedResource has been what it is for long, too.
	claim(t, g, installation)
	g.await(t, s.name, name, "is said to be what it is", func(i *gardencorev1beta1.ControllerInstallation) bool {
		makeOld(t, s, i.Name)                                  // once more, should gardener-resource-manager have had more to say
		return isWell(i) && g.careWrites(t, i.Name, since) > 0 // and it was not gardenlet who said so
	})
}

// makeOld makes a ManagedResource one that has not changed for long.
func makeOld(t *testing.T, s *site, name string) {
	t.Helper()
	rewrite(t, s, "resources.gardener.cloud/managedresources/garden/"+name, func(managed map[string]any) {
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

// assertBroken breaks what runs, and mends it. What is said of it is what Gardener says of such a ManagedResource.
func (g *ground) assertBroken(t *testing.T, s *site, name string) {
	t.Helper()
	namespace := namespaceOf(g.installed(t, s.name, name)).Name
	s.Kubelets().Hold(namespace, "workload")
	broken := g.await(t, s.name, name, "is not healthy", func(i *gardencorev1beta1.ControllerInstallation) bool {
		return is(i, gardencorev1beta1.ControllerInstallationHealthy, gardencorev1beta1.ConditionFalse)
	})
	assert.Equal(t, "ControllerNotHealthy", conditionOf(broken, gardencorev1beta1.ControllerInstallationHealthy).Reason)
	g.assertSaid(t, s, name, gardencorev1beta1.ControllerInstallationHealthy, health.CheckManagedResourceHealthy)
	s.Kubelets().Release(namespace, "workload")
	g.installed(t, s.name, name)
}

// assertRolling changes what runs while it cannot become ready.
func (g *ground) assertRolling(t *testing.T, s *site, name string) {
	t.Helper()
	namespace := namespaceOf(g.installed(t, s.name, name)).Name
	s.Kubelets().Hold(namespace, "workload")
	registration := everywhere(name, forAlone)
	config := withChart(t)
	config.Values = rawOf(t, map[string]any{"image": "second"})
	registration.Custom = custom(t, config)
	require.NoError(t, g.Deploy(t.Context(), registration))
	rolling := g.await(t, s.name, name, "is progressing", func(i *gardencorev1beta1.ControllerInstallation) bool {
		return is(i, gardencorev1beta1.ControllerInstallationProgressing, gardencorev1beta1.ConditionTrue)
	})
	assert.Equal(t, "ControllerNotRolledOut", conditionOf(rolling, gardencorev1beta1.ControllerInstallationProgressing).Reason)
	g.assertSaid(t, s, name, gardencorev1beta1.ControllerInstallationProgressing, health.CheckManagedResourceProgressing)
	s.Kubelets().Release(namespace, "workload")
	g.installed(t, s.name, name)
}

// assertSaid waits until the message of a condition is what Gardener says of the ManagedResource, which may take turns.
func (g *ground) assertSaid(
	t *testing.T, s *site, name string, condition gardencorev1beta1.ConditionType, check func(*resourcesv1alpha1.ManagedResource) error,
) {
	t.Helper()
	g.await(t, s.name, name, "says what Gardener says", func(i *gardencorev1beta1.ControllerInstallation) bool {
		managed := managedResourceOf(i)
		require.True(t, exists(t, s.Client, managed))
		err := check(managed)
		return err != nil && conditionOf(i, condition).Message == err.Error()
	})
}

// testNoAccess asks for access to the garden on a seed on which nobody would give it. It is installed once somebody does.
func testNoAccess(t *testing.T, g *ground) {
	t.Helper()
	registration := everywhere("token", forAlone)
	registration.InjectGardenKubeconfig = true
	registration.Custom = custom(t, withChart(t))
	require.NoError(t, g.Register(t.Context(), registration))
	installation := g.invalid(t, g.bare.name, registration.Name, "GardenAccessNeedsGardenlet", mistake{
		what: "a kubeconfig for the garden", says: []string{"injectGardenKubeconfig", g.bare.name, "gardenlet"},
	})
	g.assertNothingInstalled(t, installation)
}

// claim has gardenlet say, long ago, that an installation is not healthy.
func claim(t *testing.T, g *ground, installation *gardencorev1beta1.ControllerInstallation) {
	t.Helper()
	long := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	content, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []gardencorev1beta1.Condition{{
		Type: gardencorev1beta1.ControllerInstallationHealthy, Status: gardencorev1beta1.ConditionFalse, Reason: "ControllerNotHealthy",
		Message: "it was not", LastTransitionTime: long, LastUpdateTime: long,
	}}}})
	require.NoError(t, err)
	require.NoError(t, g.Client.Status().Patch(t.Context(), installation, client.RawPatch(types.StrategicMergePatchType, content)))
}

// rewrite edits an object where the API server of a site keeps it, for what no API server lets anybody edit.
func rewrite(t *testing.T, s *site, key string, edit func(map[string]any)) {
	t.Helper()
	encoded := base64.StdEncoding.EncodeToString([]byte("/registry/" + key))
	var found struct {
		Kvs []struct {
			Value []byte `json:"value"`
		} `json:"kvs"`
	}
	ask(t, s.Etcd()+"/v3/kv/range", map[string]any{"key": encoded}, &found)
	require.Len(t, found.Kvs, 1)
	object := map[string]any{}
	require.NoError(t, json.Unmarshal(found.Kvs[0].Value, &object))
	edit(object)
	content, err := json.Marshal(object)
	require.NoError(t, err)
	ask(t, s.Etcd()+"/v3/kv/put", map[string]any{"key": encoded, "value": content}, &struct{}{})
}

// ask puts a question to etcd's gateway.
func ask(t *testing.T, url string, question, answer any) {
	t.Helper()
	content, err := json.Marshal(question)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(content))
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { assert.NoError(t, response.Body.Close()) }()
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.NoError(t, json.NewDecoder(response.Body).Decode(answer))
}

// careWrites counts what the operator wrote of conditions. Of its own, Valid, nothing changes in this part.
func (g *ground) careWrites(t *testing.T, installation string, since time.Time) int {
	t.Helper()
	writes, err := g.InstallationWrites().WritesOf(g.operators[byGarden].user())
	require.NoError(t, err)
	count := 0
	for _, write := range writes {
		if write.Name == installation && write.Time.After(since) && strings.Contains(string(write.Body), `"conditions"`) {
			count++
		}
	}
	return count
}
