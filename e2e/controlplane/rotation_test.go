package controlplane

import (
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
	"time"

	extensionssecretsmanager "github.com/gardener/gardener/extensions/pkg/util/secret/manager"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/extensions"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	identity    = "provider-openstack-controlplane"
	authority   = "ca-" + identity
	certificate = "cloud-controller-manager-server"
)

// testSameRotation rotates the shoot's CAs. In each phase the controller must have done the same as Gardener's library for extensions in another
// namespace.
func testSameRotation(t *testing.T, env *environment) {
	twin := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "twin"}}
	require.NoError(t, env.seed.Client.Create(t.Context(), twin))
	initiated := metav1.NewTime(time.Now().Add(time.Second).Truncate(time.Second))
	var seen []issued
	for _, phase := range []gardencorev1beta1.CredentialsRotationPhase{
		"", gardencorev1beta1.RotationPreparing, gardencorev1beta1.RotationPreparing, gardencorev1beta1.RotationPrepared,
		gardencorev1beta1.RotationCompleting, gardencorev1beta1.RotationCompleted,
	} {
		if phase != "" {
			env.Shoot.CARotation = &gardencorev1beta1.CARotation{Phase: phase, LastInitiationTime: &initiated}
		}
		env.reconcile(t)
		env.issueByLibrary(t, twin.Name)
		got, want := env.issuedIn(t, env.Shoot.Namespace()), env.issuedIn(t, twin.Name)
		assert.Equal(t, want, got, "phase %q", phase)
		seen = append(seen, got)
	}
	var authorities, trusted []int
	for _, state := range seen {
		authorities, trusted = append(authorities, state.Authorities), append(trusted, state.Trusted)
	}
	assert.Equal(t, []int{1, 2, 2, 2, 1, 1}, authorities, "the rotation has taken place")
	assert.Equal(t, []int{1, 2, 2, 2, 1, 1}, trusted)
	env.awaitRolledOut(t)
	require.NoError(t, env.seed.Client.Delete(t.Context(), twin))
}

// issueByLibrary issues upstream's certificates, by the library that upstream uses.
func (env *environment) issueByLibrary(t *testing.T, namespace string) {
	t.Helper()
	cluster, err := extensions.GetCluster(t.Context(), env.seed.Client, env.Shoot.Namespace())
	require.NoError(t, err)
	cluster.ObjectMeta.Name = namespace
	configs := env.upstream.certificates(namespace)
	manager, err := extensionssecretsmanager.SecretsManagerForCluster(
		t.Context(), logr.Discard(), clock.RealClock{}, env.seed.Client, cluster, env.upstream.identity(), configs)
	require.NoError(t, err)
	_, err = extensionssecretsmanager.GenerateAllSecrets(t.Context(), manager, configs)
	require.NoError(t, err)
	require.NoError(t, manager.Cleanup(t.Context()))
}

// issued are a secrets manager's Secrets, without random content.
type issued struct {
	// Authorities are the CAs, Trusted those in the newest bundle. Signer is the index of the CA, by age, that has signed the server's certificate.
	Authorities, Trusted, Signer int
	// Labels are those of all Secrets, Keys their keys.
	Labels, Keys []string
	// Subject and Names are the server certificate's, without the namespace.
	Subject string
	Names   []string
}

func (env *environment) issuedIn(t *testing.T, namespace string) issued {
	t.Helper()
	list := &corev1.SecretList{}
	require.NoError(t, env.seed.Client.List(t.Context(), list, client.InNamespace(namespace), client.MatchingLabels{
		secretsmanager.LabelKeyManagedBy: secretsmanager.LabelValueSecretsManager, secretsmanager.LabelKeyManagerIdentity: identity,
	}))
	slices.SortFunc(list.Items, func(a, b corev1.Secret) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	var found issued
	var authorities []*x509.Certificate
	var server *x509.Certificate
	for _, secret := range list.Items {
		found.Labels = append(found.Labels, describeLabels(secret))
		for key := range secret.Data {
			found.Keys = append(found.Keys, secret.Labels[secretsmanager.LabelKeyName]+" "+key)
		}
		switch secret.Labels[secretsmanager.LabelKeyName] {
		case authority:
			authorities = append(authorities, certificatesIn(t, secret.Data["ca.crt"])...)
		case authority + "-bundle":
			found.Trusted = len(certificatesIn(t, secret.Data["bundle.crt"]))
		case certificate:
			server = certificatesIn(t, secret.Data["tls.crt"])[0]
		}
	}
	slices.Sort(found.Labels)
	slices.Sort(found.Keys)
	require.NotNil(t, server)
	found.Authorities = len(authorities)
	found.Signer = slices.IndexFunc(authorities, func(ca *x509.Certificate) bool { return server.CheckSignatureFrom(ca) == nil })
	found.Subject = server.Subject.String()
	for _, name := range server.DNSNames {
		found.Names = append(found.Names, strings.ReplaceAll(name, namespace, "NAMESPACE"))
	}
	return found
}

// describeLabels formats the labels of a Secret, without checksums and times.
func describeLabels(secret corev1.Secret) string {
	var labels []string
	for key, value := range secret.Labels {
		if strings.HasPrefix(key, "checksum-") || strings.HasPrefix(key, "issued-") || strings.HasPrefix(key, "valid-") {
			value = "..."
		}
		labels = append(labels, key+"="+value)
	}
	slices.Sort(labels)
	return strings.Join(labels, " ")
}

func certificatesIn(t *testing.T, content []byte) (certificates []*x509.Certificate) {
	t.Helper()
	for {
		block, rest := pem.Decode(content)
		if block == nil {
			return certificates
		}
		parsed, err := x509.ParseCertificate(block.Bytes)
		require.NoError(t, err)
		certificates, content = append(certificates, parsed), rest
	}
}
