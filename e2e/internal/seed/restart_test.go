package seed

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
)

func TestSeed_Restart(t *testing.T) {
	t.Parallel()
	programs, err := assets.Ensure(t.Context(), os.Stderr, assets.APIServer()...)
	require.NoError(t, err)
	s, err := Start(t.Context(), programs, t.TempDir(), WithRestarts(), WithAuditOfMetadata())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	kept := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}
	require.NoError(t, s.Client.Create(t.Context(), kept))
	uid := kept.UID

	for range 2 {
		require.NoError(t, s.KillAPIServer())
		require.Error(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(kept), kept))
		require.NoError(t, s.StartAPIServer())
		require.NoError(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(kept), kept), "the address, the certificates and the credentials are the same")
		assert.Equal(t, uid, kept.UID)
	}
}
