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

func TestInCluster(t *testing.T) {
	env := start(t)
	registry := prometheus.NewRegistry()
	connections, err := InCluster("a", env.config, Options{Scheme: gardenScheme(), Registerer: registry})
	require.NoError(t, err)

	cluster, err := connections.Connect(t.Context(), seedOf("a"))
	require.NoError(t, err)
	discoveryClient, err := discovery.NewDiscoveryClientForConfig(env.config)
	require.NoError(t, err)
	want, err := discoveryClient.ServerVersion()
	require.NoError(t, err)
	assert.Equal(t, want.GitVersion, cluster.KubernetesVersion)
	require.NoError(t, listNodes(t.Context(), cluster))
	assert.Equal(t, map[string]float64{"a": 1}, gauges(t, registry))

	_, err = connections.Connect(t.Context(), seedOf("b"))
	assert.EqualError(t, unreachable(t, err, "b"), "reaching seed b: this process serves seed a alone")
	_, err = connections.Connect(t.Context(), seedOf("a"))
	require.NoError(t, err)
}

func TestInCluster_APIServerUnreachableAtStart(t *testing.T) {
	env := start(t)
	clock := newClock()
	f := newTestProxy(t, env.config, nil)
	f.respondWith(respondStatus(http.StatusBadGateway))
	config := testProxyConfig(t, env, f)
	connections, err := InCluster("a", config, Options{Clock: clock})
	require.NoError(t, err)
	_, err = connections.Connect(t.Context(), seedOf("a"))
	unreachable(t, err, "a")

	f.respondWith(nil)
	_, err = connections.Connect(t.Context(), seedOf("a"))
	unreachable(t, err, "a")
	advance(clock, maxBackoff)
	_, err = connections.Connect(t.Context(), seedOf("a"))
	require.NoError(t, err)
}

func TestInCluster_KindAddedLater(t *testing.T) {
	env := start(t)
	connections, err := InCluster("a", env.config, Options{Scheme: gardenScheme()})
	require.NoError(t, err)
	cluster, err := connections.Connect(t.Context(), seedOf("a"))
	require.NoError(t, err)

	things := &unstructured.UnstructuredList{}
	things.SetGroupVersionKind(schema.GroupVersionKind{Group: "later.example.com", Version: "v1", Kind: "ThingList"})
	err = cluster.Client.List(t.Context(), things)
	require.True(t, meta.IsNoMatchError(err), "%v", err)

	definition := kind("later.example.com", "v1", "things", "Thing")
	require.NoError(t, cluster.Client.Create(t.Context(), definition))
	t.Cleanup(func() { assert.NoError(t, env.client.Delete(detached(t), definition)) })
	require.Eventually(t, func() bool { return cluster.Client.List(t.Context(), things) == nil }, timeout, interval)
}

func TestInCluster_VersionRefresh(t *testing.T) {
	env := start(t)
	clock := newClock()
	version := make(chan string, 1)
	f := newTestProxy(t, env.config, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/version" {
			return false
		}
		v := <-version
		version <- v
		_, _ = w.Write([]byte(v))
		return true
	})
	connections, err := InCluster("a", testProxyConfig(t, env, f), Options{Clock: clock})
	require.NoError(t, err)
	readVersion := func() string {
		t.Helper()
		cluster, err := connections.Connect(t.Context(), seedOf("a"))
		require.NoError(t, err)
		return cluster.KubernetesVersion
	}

	version <- `{"gitVersion": "v1.35.1"}`
	assert.Equal(t, "v1.35.1", readVersion())
	<-version
	version <- `{"gitVersion": "v1.36.0"}`
	advance(clock, versionCheckInterval-1)
	assert.Equal(t, "v1.35.1", readVersion())
	advance(clock, 1)
	assert.Equal(t, "v1.36.0", readVersion())
	assert.Equal(t, 2, f.count("/version"))

	<-version
	version <- `<html>Please log in</html>`
	advance(clock, versionCheckInterval)
	_, err = connections.Connect(t.Context(), seedOf("a"))
	assert.EqualError(t, unreachable(t, err, "a"), "reaching seed a: what answers there is no API server")
}

func TestInCluster_VersionKeptOnTooManyRequests(t *testing.T) {
	env := start(t)
	clock := newClock()
	f := newTestProxy(t, env.config, nil)
	connections, err := InCluster("a", testProxyConfig(t, env, f), Options{Clock: clock})
	require.NoError(t, err)
	first, err := connections.Connect(t.Context(), seedOf("a"))
	require.NoError(t, err)

	f.respondWith(respondStatus(http.StatusTooManyRequests))
	advance(clock, versionCheckInterval)
	second, err := connections.Connect(t.Context(), seedOf("a"))
	require.NoError(t, err)
	assert.Same(t, first, second)
	_, err = connections.Connect(t.Context(), seedOf("a"))
	require.NoError(t, err)
	assert.Equal(t, 2, f.count("/version"), "it is not asked again at once")
}
