package seeds

import (
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

func TestAProcessReachesTheSeedItRunsIn(t *testing.T) {
	env := start(t)
	registry := prometheus.NewRegistry()
	lines, err := Own("a", env.config, Options{Scheme: gardenScheme(), Registerer: registry})
	require.NoError(t, err)

	cluster, err := lines.To(t.Context(), seedOf("a"))
	require.NoError(t, err)
	asking, err := discovery.NewDiscoveryClientForConfig(env.config)
	require.NoError(t, err)
	want, err := asking.ServerVersion()
	require.NoError(t, err)
	assert.Equal(t, want.GitVersion, cluster.KubernetesVersion)
	require.NoError(t, listNodes(t.Context(), cluster))
	assert.Equal(t, map[string]float64{"a": 1}, gauges(t, registry))

	_, err = lines.To(t.Context(), seedOf("b"))
	assert.EqualError(t, unreachable(t, err, "b"), "reaching seed b: this process serves seed a alone")
	_, err = lines.To(t.Context(), seedOf("a"))
	require.NoError(t, err)
}

func TestTheOwnAPIServerMayBeAwayWhenTheProcessStarts(t *testing.T) {
	env := start(t)
	clock := newClock()
	f := newFront(t, env.config, nil)
	f.answer(code(http.StatusBadGateway))
	config := frontConfig(t, env, f)
	lines, err := Own("a", config, Options{Clock: clock})
	require.NoError(t, err)
	_, err = lines.To(t.Context(), seedOf("a"))
	unreachable(t, err, "a")

	f.answer(nil)
	_, err = lines.To(t.Context(), seedOf("a"))
	unreachable(t, err, "a")
	step(clock, longestPause)
	_, err = lines.To(t.Context(), seedOf("a"))
	require.NoError(t, err)
}

func TestKindsThatAppearLaterAreFound(t *testing.T) {
	env := start(t)
	lines, err := Own("a", env.config, Options{Scheme: gardenScheme()})
	require.NoError(t, err)
	cluster, err := lines.To(t.Context(), seedOf("a"))
	require.NoError(t, err)

	things := &unstructured.UnstructuredList{}
	things.SetGroupVersionKind(schema.GroupVersionKind{Group: "later.example.com", Version: "v1", Kind: "ThingList"})
	err = cluster.Client.List(t.Context(), things)
	require.True(t, meta.IsNoMatchError(err), "%v", err)

	definition := kind("later.example.com", "v1", "things", "Thing")
	require.NoError(t, cluster.Client.Create(t.Context(), definition))
	t.Cleanup(func() { assert.NoError(t, env.client.Delete(detached(t), definition)) })
	require.Eventually(t, func() bool { return cluster.Client.List(t.Context(), things) == nil }, patience, pauseOfTests)
}

func TestTheVersionIsAskedForNowAndThen(t *testing.T) {
	env := start(t)
	clock := newClock()
	version := make(chan string, 1)
	f := newFront(t, env.config, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/version" {
			return false
		}
		v := <-version
		version <- v
		_, _ = w.Write([]byte(v))
		return true
	})
	lines, err := Own("a", frontConfig(t, env, f), Options{Clock: clock})
	require.NoError(t, err)
	ask := func() string {
		t.Helper()
		cluster, err := lines.To(t.Context(), seedOf("a"))
		require.NoError(t, err)
		return cluster.KubernetesVersion
	}

	version <- `{"gitVersion": "v1.35.1"}`
	assert.Equal(t, "v1.35.1", ask())
	<-version
	version <- `{"gitVersion": "v1.36.0"}`
	step(clock, versionEvery-1)
	assert.Equal(t, "v1.35.1", ask())
	step(clock, 1)
	assert.Equal(t, "v1.36.0", ask())
	assert.Equal(t, 2, f.count("/version"))

	<-version
	version <- `<html>Please log in</html>`
	step(clock, versionEvery)
	_, err = lines.To(t.Context(), seedOf("a"))
	assert.EqualError(t, unreachable(t, err, "a"), "reaching seed a: what answers there is no API server")
}

func TestAnAPIServerWithTooMuchToDoKeepsItsVersion(t *testing.T) {
	env := start(t)
	clock := newClock()
	f := newFront(t, env.config, nil)
	lines, err := Own("a", frontConfig(t, env, f), Options{Clock: clock})
	require.NoError(t, err)
	first, err := lines.To(t.Context(), seedOf("a"))
	require.NoError(t, err)

	f.answer(code(http.StatusTooManyRequests))
	step(clock, versionEvery)
	second, err := lines.To(t.Context(), seedOf("a"))
	require.NoError(t, err)
	assert.Same(t, first, second)
	_, err = lines.To(t.Context(), seedOf("a"))
	require.NoError(t, err)
	assert.Equal(t, 2, f.count("/version"), "it is not asked again at once")
}
