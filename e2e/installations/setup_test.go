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

// onBoth runs a part on both seeds concurrently, and returns when both are done.
func (env *environment) onBoth(t *testing.T, run func(*testing.T, *site)) {
	t.Helper()
	t.Run("On", func(t *testing.T) {
		for _, s := range env.sitesWithGardenlet() {
			t.Run(s.mode, func(t *testing.T) {
				t.Parallel()
				run(t, s)
			})
		}
	})
}

// setUp registers what shoots need, makes seeds of the clusters, and creates a shoot on each that others need.
func (env *environment) setUp(t *testing.T) {
	t.Helper()
	for _, each := range trellis() {
		require.NoError(t, env.Register(t.Context(), each.registration(t, env)))
	}
	for _, each := range others() {
		require.NoError(t, env.Register(t.Context(), each))
	}
	labels := map[string]map[string]string{
		env.outer.name: labelled(forEqual, forDrift, forMovedWithoutOperator), env.inner.name: labelled(forEqual, forDrift, forMovedWithoutOperator),
		env.bare.name: labelled(forWithoutGardenlet),
		broken:        labelled(forBroken), enclosed: labelled(forBroken),
	}
	labels[env.outer.name][servedBy], labels[env.bare.name][servedBy], labels[broken][servedBy] = byGarden, byGarden, broken
	for name := range labels {
		_, err := env.AddSeed(t.Context(), name, garden.SeedOptions{Provider: "local", Labels: labels[name]})
		require.NoError(t, err)
	}
	for _, namespace := range []string{"garden", "seed-" + env.inner.name, "seed-" + enclosed} {
		for _, secret := range env.registrySecrets(namespace) {
			require.NoError(t, env.Client.Create(t.Context(), secret))
		}
	}
	for _, s := range env.sites() {
		require.NoError(t, s.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: "garden", Labels: map[string]string{"gardener.cloud/role": "garden"},
		}}))
	}
	for _, s := range env.sitesWithGardenlet() {
		configureGardenlet(t, s)
		_, err := env.StartGardenlet(t.Context(), s.name, s.Config)
		require.NoError(t, err)
		require.NoError(t, env.ReportGardenlet(t.Context(), s.name))
		_, err = env.CreateShoot(t.Context(), garden.ShootOptions{Name: "on-" + s.name, Seed: s.name})
		require.NoError(t, err)
		createExtensions(t, s)
	}
	env.access(t, env.outer.name, env.outer)
	env.access(t, env.bare.name, env.bare)
	env.access(t, broken, env.bare)
	env.startOperators(t)
}

// access gives the operator in the garden a kubeconfig for a seed.
func (env *environment) access(t *testing.T, seedName string, cluster *site) {
	t.Helper()
	require.NoError(t, env.Client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "installation-access-" + seedName, Namespace: "garden"},
		Data:       map[string][]byte{"kubeconfig": contentOf(t, cluster.Kubeconfig)},
	}))
}

// createExtensions creates gardenlet's extension objects of a shoot: while they exist, their controllers are needed.
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
