package controlplane

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

func TestSecrets_RemoveShootAccess(t *testing.T) {
	const namespace = "shoot--dev--one"
	access := func(name string, labels map[string]string) client.Object {
		secret := component.ShootAccessSecret(name, namespace)
		secret.Labels = merged(secret.Labels, labels)
		return secret
	}
	ours := map[string]string{labelOwner: "one"}
	other := component.ShootAccessSecret("foreign", namespace)
	other.Labels = nil // a user's, which only has the name
	c := fake.NewClientBuilder().WithObjects(
		access("used", ours), access("unused", ours), access("retired", nil), access("retired-and-used", nil), access("unknown", nil), other,
	).Build()
	secrets := secrets{client: c, namespace: namespace, owner: "one"}
	for range 2 {
		require.NoError(t, secrets.removeShootAccess(t.Context(), []string{"used", "retired-and-used"}, []string{"retired", "retired-and-used", "foreign", "gone"}))
	}
	list := &corev1.SecretList{}
	require.NoError(t, c.List(t.Context(), list))
	var left []string
	for _, secret := range list.Items {
		left = append(left, secret.Name)
	}
	assert.Equal(t, []string{"shoot-access-foreign", "shoot-access-retired-and-used", "shoot-access-unknown", "shoot-access-used"}, left)
}
