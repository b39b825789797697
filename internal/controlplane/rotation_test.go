package controlplane_test

import (
	"crypto/x509"
	"encoding/pem"
	"maps"
	"slices"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	secretsutils "github.com/gardener/gardener/pkg/utils/secrets"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/controlplane/controlplanetest"
)

// certificates are those of a control plane at one time.
type certificates struct {
	// authorities are the CAs whose keys are there, by their Secrets' names.
	authorities map[string]*x509.Certificate
	// trusted are those in the bundle, server is what serves.
	trusted []*x509.Certificate
	server  *x509.Certificate
	// mounted is the Secret that the component serves.
	mounted string
}

func readCertificates(t *testing.T, h *controlplanetest.Harness) certificates {
	t.Helper()
	list := &corev1.SecretList{}
	require.NoError(t, h.Client.List(t.Context(), list, client.InNamespace(h.Namespace),
		client.MatchingLabels{secretsmanager.LabelKeyManagerIdentity: "provider-example-controlplane"}))
	found := certificates{authorities: map[string]*x509.Certificate{}, mounted: mounted(t, h, "Deployment", ccmName, ccmCertificate)}
	bundles := 0
	for _, secret := range list.Items {
		switch {
		case secret.Labels[secretsmanager.LabelKeyBundleFor] != "":
			bundles++
			found.trusted = parse(t, secret.Data[secretsutils.DataKeyCertificateBundle])
		case secret.Data[secretsutils.DataKeyCertificateCA] != nil && secret.Data[secretsutils.DataKeyPrivateKeyCA] != nil:
			found.authorities[secret.Name] = parse(t, secret.Data[secretsutils.DataKeyCertificateCA])[0]
		default:
			require.Equal(t, found.mounted, secret.Name, "there is another certificate")
			found.server = parse(t, secret.Data[secretsutils.DataKeyCertificate])[0]
		}
	}
	require.Equal(t, 1, bundles)
	require.NotNil(t, found.server)
	return found
}

func parse(t *testing.T, content []byte) []*x509.Certificate {
	t.Helper()
	var parsed []*x509.Certificate
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		require.NoError(t, err)
		parsed = append(parsed, certificate)
	}
	return parsed
}

// signedBy reports whether one certificate is signed by another.
func signedBy(certificate, ca *x509.Certificate) bool {
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	_, err := certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: ccmName, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	return err == nil
}

func TestAuthority_Rotation(t *testing.T) {
	h := newHarness(t, &driver{}).Start()
	h.Create()
	first := readCertificates(t, h)
	require.Len(t, first.authorities, 1)
	oldName := slices.Collect(maps.Keys(first.authorities))[0]
	oldCA := first.authorities[oldName]
	assert.Equal(t, []*x509.Certificate{oldCA}, first.trusted)
	assert.True(t, signedBy(first.server, oldCA))

	started := metav1.NewTime(time.Now().Truncate(time.Second))
	enter := func(phase gardencorev1beta1.CredentialsRotationPhase) certificates {
		t.Helper()
		h.ChangeShoot(func(shoot *gardencorev1beta1.Shoot) {
			shoot.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
				CertificateAuthorities: &gardencorev1beta1.CARotation{Phase: phase, LastInitiationTime: &started},
			}}
		})
		h.Writes()
		h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
		h.Succeeded()
		assert.Empty(t, h.Manager.Violations())
		return readCertificates(t, h)
	}

	preparing := enter(gardencorev1beta1.RotationPreparing)
	require.Len(t, preparing.authorities, 2)
	require.Contains(t, preparing.authorities, oldName)
	var newCA *x509.Certificate
	for name, ca := range preparing.authorities {
		if name != oldName {
			newCA = ca
		}
	}
	assert.ElementsMatch(t, []*x509.Certificate{oldCA, newCA}, preparing.trusted, "clients learn to trust the new CA")
	assert.True(t, signedBy(preparing.server, oldCA), "while those that have not learned yet are served as before")

	prepared := enter(gardencorev1beta1.RotationPrepared)
	assert.Equal(t, preparing, prepared)
	assert.Equal(t, []string{"PATCH /controlplanes/one", "PATCH /controlplanes/one/status"}, contracttest.WithoutProgress(h.Writes()))

	completing := enter(gardencorev1beta1.RotationCompleting)
	require.Len(t, completing.authorities, 1)
	assert.Equal(t, []*x509.Certificate{newCA}, completing.trusted)
	assert.True(t, signedBy(completing.server, newCA))
	assert.False(t, signedBy(completing.server, oldCA))
	assert.NotEqual(t, prepared.mounted, completing.mounted, "the component serves what it served before")

	completed := enter(gardencorev1beta1.RotationCompleted)
	assert.Equal(t, completing, completed)
	assert.Equal(t, []string{"PATCH /controlplanes/one", "PATCH /controlplanes/one/status"}, contracttest.WithoutProgress(h.Writes()))
	h.Delete()
}

func TestAuthority_RotationDuringMigration(t *testing.T) {
	h := newHarness(t, &driver{}).Start()
	h.Create()
	started := metav1.NewTime(time.Now().Truncate(time.Second))
	h.ChangeShoot(func(shoot *gardencorev1beta1.Shoot) {
		shoot.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
			CertificateAuthorities: &gardencorev1beta1.CARotation{Phase: gardencorev1beta1.RotationPrepared, LastInitiationTime: &started},
		}}
	})
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	before := readCertificates(t, h)
	h.Stop()

	other := h.OtherSeed().Start()
	other.Deploy(v1beta1constants.GardenerOperationWaitForState)
	require.NoError(t, other.Request(t.Context(), v1beta1constants.GardenerOperationRestore))
	other.Succeeded()
	after := readCertificates(t, other)
	assert.Equal(t, before.authorities, after.authorities)
	assert.ElementsMatch(t, before.trusted, after.trusted)
}
