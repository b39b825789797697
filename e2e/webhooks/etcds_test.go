package webhooks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/e2e/internal/components"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
)

// disk is where an etcd keeps its data. A class can be named, or be the seed's default by an empty name, or not be mentioned.
type disk struct {
	class    string
	hasClass bool
	capacity string
}

func (env *environment) disk(t *testing.T, namespace, name string) disk {
	t.Helper()
	etcd := env.stored(t, etcdNamed(namespace, name))
	var d disk
	var err error
	d.class, d.hasClass, err = unstructured.NestedString(etcd.Object, "spec", "storageClass")
	require.NoError(t, err)
	d.capacity, _, err = unstructured.NestedString(etcd.Object, "spec", "storageCapacity")
	require.NoError(t, err)
	return d
}

func etcdNamed(namespace, name string) *unstructured.Unstructured {
	etcd := &unstructured.Unstructured{}
	etcd.SetAPIVersion("druid.gardener.cloud/v1alpha1")
	etcd.SetKind("Etcd")
	etcd.SetNamespace(namespace)
	etcd.SetName(name)
	return etcd
}

// testEtcds lets Gardener's component deploy the etcds of shoots, which names no class, and knows better about the capacity only
// as long as an Etcd has none.
func testEtcds(t *testing.T, env *environment) {
	deploy := func(t *testing.T, namespace string) {
		t.Helper()
		require.NoError(t, components.DeployEtcds(t.Context(), env.Client, namespace, "1.36.3"))
	}
	fast, slow, plain := disk{"fast", true, "25Gi"}, disk{"", true, "15Gi"}, disk{"", false, "10Gi"}

	t.Run("on a seed of the type, also those of shoots of another one", func(t *testing.T) {
		shoot := gardenlet.NewShoot("foreign", "aws", "eu-central-1")
		shoot.SeedType = "openstack"
		env.prepare(t, shoot)
		deploy(t, shoot.Namespace())
		assert.Equal(t, fast, env.disk(t, shoot.Namespace(), "etcd-main"))
		assert.Equal(t, slow, env.disk(t, shoot.Namespace(), "etcd-events"))

		deploy(t, shoot.Namespace())
		assert.Equal(t, fast, env.disk(t, shoot.Namespace(), "etcd-main"), "gardenlet names no class, the API server takes no other")
		assert.Equal(t, slow, env.disk(t, shoot.Namespace(), "etcd-events"))
		etcd := env.stored(t, etcdNamed(shoot.Namespace(), "etcd-main"))
		assert.Equal(t, int64(1), etcd.GetGeneration(), "a second pass changes nothing")
		version := etcd.GetResourceVersion()
		require.NoError(t, env.Client.Update(t.Context(), etcd))
		assert.Equal(t, version, etcd.GetResourceVersion(), "an empty update changes nothing at all")
	})

	t.Run("on a seed of another type", func(t *testing.T) {
		shoot := newShoot("elsewhere")
		shoot.SeedType = "aws"
		env.prepare(t, shoot)
		deploy(t, shoot.Namespace())
		deploy(t, shoot.Namespace())
		assert.Equal(t, plain, env.disk(t, shoot.Namespace(), "etcd-main"))
		assert.Equal(t, plain, env.disk(t, shoot.Namespace(), "etcd-events"))
	})

	t.Run("those that were there before", func(t *testing.T) {
		deploy(t, env.probe.Namespace())
		assert.Equal(t, plain, env.disk(t, env.probe.Namespace(), "etcd-main"))
		assert.Equal(t, disk{"upstreams", true, "10Gi"}, env.disk(t, env.probe.Namespace(), "etcd-events"))
	})
}

// createEtcds makes etcds, before any webhook is called, that differ from what the webhooks would make of them.
func (env *environment) createEtcds(t *testing.T) {
	t.Helper()
	require.NoError(t, components.DeployEtcds(t.Context(), env.Client, env.probe.Namespace(), "1.36.3"))
	events := env.stored(t, etcdNamed(env.probe.Namespace(), "etcd-events"))
	require.NoError(t, env.Client.Delete(t.Context(), events.DeepCopy()))
	events.SetResourceVersion("")
	require.NoError(t, unstructured.SetNestedField(events.Object, "upstreams", "spec", "storageClass"))
	require.NoError(t, env.Client.Create(t.Context(), events))
}
