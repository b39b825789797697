package installations

import (
	"testing"

	"github.com/gardener/gardener/pkg/utils/secrets"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// testManaged connects to a seed that is a shoot, through the garden: gardener-apiserver issues a kubeconfig.
func testManaged(t *testing.T, env *environment) {
	const name, registered = "managed", "on-managed"
	authority := newAuthority(t)
	require.NoError(t, env.bare.TrustClients(authority.CertificatePEM))
	// gardenlet grants this in shoots (gardener/pkg/component/gardener/access): to an operator that cannot read all Secrets of the garden, and to one
	// that can.
	for _, group := range []string{"gardener.cloud:project:admins", "gardener.cloud:system:admins"} {
		require.NoError(t, env.bare.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: group},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		}))
	}
	registration := everywhere(registered, forManaged)
	registration.Custom = custom(t, withChart(t))
	require.NoError(t, env.Register(t.Context(), registration))
	labels := labelled(forManaged)
	labels[servedBy] = "garden"
	_, err := env.AddManagedSeed(t.Context(), name, garden.ManagedSeedOptions{
		URL: env.bare.Config.Host, CABundle: env.bare.Config.CAData, ClientCA: authority, Labels: labels,
	})
	require.NoError(t, err)
	env.installed(t, name, registered)

	// The types of its own provider are needed there, too.
	for _, each := range trellis()[:3] {
		env.installed(t, name, each.name)
	}
}

func newAuthority(t *testing.T) *secrets.Certificate {
	t.Helper()
	config := &secrets.CertificateSecretConfig{Name: "ca-client", CommonName: "kubernetes-client", CertType: secrets.CACert}
	authority, err := config.GenerateCertificate()
	require.NoError(t, err)
	return authority
}
