package installations

import (
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// onBoth plays a part on both seeds at the same time, and returns when it is over.
func (g *ground) onBoth(t *testing.T, play func(*testing.T, *site)) {
	t.Helper()
	t.Run("On", func(t *testing.T) {
		for _, s := range g.served() {
			t.Run(s.mode, func(t *testing.T) {
				t.Parallel()
				play(t, s)
			})
		}
	})
}

// furnish registers what shoots need, makes seeds of the clusters, and puts a shoot on each that somebody is to need.
func (g *ground) furnish(t *testing.T) {
	t.Helper()
	for _, each := range trellis() {
		require.NoError(t, g.Register(t.Context(), each.registration(t, g)))
	}
	for _, each := range others() {
		require.NoError(t, g.Register(t.Context(), each))
	}
	labels := map[string]map[string]string{
		g.outer.name: labelled(forEqual, forDrift, forForsaken), g.inner.name: labelled(forEqual, forDrift, forForsaken),
		g.bare.name: labelled(forAlone),
		broken:      labelled(forBroken), enclosed: labelled(forBroken),
	}
	labels[g.outer.name][servedBy], labels[g.bare.name][servedBy], labels[broken][servedBy] = byGarden, byGarden, broken
	for name := range labels {
		_, err := g.AddSeed(t.Context(), name, garden.SeedOptions{Provider: "local", Labels: labels[name]})
		require.NoError(t, err)
	}
	for _, namespace := range []string{"garden", "seed-" + g.inner.name, "seed-" + enclosed} {
		for _, secret := range g.registrySecrets(namespace) {
			require.NoError(t, g.Client.Create(t.Context(), secret))
		}
	}
	for _, s := range g.sites() {
		require.NoError(t, s.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: "garden", Labels: map[string]string{"gardener.cloud/role": "garden"},
		}}))
	}
	for _, s := range g.served() {
		configureGardenlet(t, s)
		_, err := g.StartGardenlet(t.Context(), s.name, s.Config)
		require.NoError(t, err)
		require.NoError(t, g.ReportGardenlet(t.Context(), s.name))
		_, err = g.CreateShoot(t.Context(), garden.ShootOptions{Name: "on-" + s.name, Seed: s.name})
		require.NoError(t, err)
		createExtensions(t, s)
	}
	g.access(t, g.outer.name, g.outer)
	g.access(t, g.bare.name, g.bare)
	g.access(t, broken, g.bare)
	g.startOperators(t)
}

// access gives the operator in the garden a way into a seed.
func (g *ground) access(t *testing.T, seedName string, cluster *site) {
	t.Helper()
	require.NoError(t, g.Client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "installation-access-" + seedName, Namespace: "garden"},
		Data:       map[string][]byte{"kubeconfig": contentOf(t, cluster.Kubeconfig)},
	}))
}

// createExtensions creates what gardenlet orders for a shoot: as long as it is there, its controllers are needed.
func createExtensions(t *testing.T, s *site) {
	t.Helper()
	for _, object := range append([]client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: shootNamespace}}}, extensions()...) {
		require.NoError(t, s.Client.Create(t.Context(), object))
	}
}

func extensions() []client.Object {
	meta := metav1.ObjectMeta{Name: "first", Namespace: shootNamespace}
	openstack, secret := extensionsv1alpha1.DefaultSpec{Type: "openstack"}, corev1.SecretReference{Name: "cloudprovider", Namespace: shootNamespace}
	return []client.Object{
		infrastructure(),
		&extensionsv1alpha1.ControlPlane{ObjectMeta: meta, Spec: extensionsv1alpha1.ControlPlaneSpec{
			DefaultSpec: openstack, Region: "RegionOne", SecretRef: secret,
		}},
		&extensionsv1alpha1.Worker{ObjectMeta: meta, Spec: extensionsv1alpha1.WorkerSpec{
			DefaultSpec: openstack, Region: "RegionOne", SecretRef: secret, Pools: []extensionsv1alpha1.WorkerPool{},
		}},
		&extensionsv1alpha1.Network{ObjectMeta: meta, Spec: extensionsv1alpha1.NetworkSpec{
			DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: "calico"}, PodCIDR: "100.96.0.0/11", ServiceCIDR: "100.64.0.0/13",
		}},
	}
}

func infrastructure() *extensionsv1alpha1.Infrastructure {
	return &extensionsv1alpha1.Infrastructure{
		ObjectMeta: metav1.ObjectMeta{Name: "first", Namespace: shootNamespace},
		Spec: extensionsv1alpha1.InfrastructureSpec{
			DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: "openstack"}, Region: "RegionOne",
			SecretRef: corev1.SecretReference{Name: "cloudprovider", Namespace: shootNamespace},
		},
	}
}
