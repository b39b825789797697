package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"time"

	secretsutils "github.com/gardener/gardener/pkg/utils/secrets"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// secretNames are the names of the Secrets of one binary.
type secretNames struct {
	namespace, identity, authority, server string
}

func secretNamesOf(binary, namespace string) secretNames {
	return secretNames{
		namespace: namespace,
		identity:  binary + "-webhook",
		authority: "ca-" + binary + "-webhook",
		server:    binary + "-webhook-server",
	}
}

// keyring contains all certificates that have a Secret, the newest first. During a renewal there are several of a kind.
type keyring struct {
	authorities []*x509.Certificate
	servers     []*serverCertificate
}

// serverCertificate is a certificate with its key, as stored in a Secret.
type serverCertificate struct {
	tls.Certificate // with its Leaf
	secret          string
	created         time.Time
}

// readKeyring reads the Secrets. An invalid Secret is treated as missing: the secrets manager reports it.
func readKeyring(ctx context.Context, reader client.Reader, names secretNames) (*keyring, error) {
	secrets := &corev1.SecretList{}
	err := reader.List(ctx, secrets, client.InNamespace(names.namespace), client.MatchingLabels{
		secretsmanager.LabelKeyManagedBy:       secretsmanager.LabelValueSecretsManager,
		secretsmanager.LabelKeyManagerIdentity: names.identity,
	})
	if err != nil {
		return nil, fmt.Errorf("listing certificates of webhooks: %w", err)
	}
	slices.SortFunc(secrets.Items, func(a, b corev1.Secret) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	k := &keyring{}
	for _, secret := range secrets.Items {
		switch secret.Labels[secretsmanager.LabelKeyName] {
		case names.authority:
			k.authorities = append(k.authorities, parseBundle(secret.Data[secretsutils.DataKeyCertificateCA])...)
		case names.server:
			pair, err := tls.X509KeyPair(secret.Data[secretsutils.DataKeyCertificate], secret.Data[secretsutils.DataKeyPrivateKey])
			if err == nil {
				k.servers = append(k.servers, &serverCertificate{Certificate: pair, secret: secret.Name, created: secret.CreationTimestamp.Time})
			}
		}
	}
	return k, nil
}

// bundle returns the CA bundle that API servers must trust now.
func (k *keyring) bundle(now time.Time) []byte {
	var bundle bytes.Buffer
	for _, authority := range k.authorities {
		if now.Before(authority.NotAfter) {
			bundle.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw}))
		}
	}
	return bundle.Bytes()
}

// usable returns the newest server certificate that is valid for all hosts and signed by an authority of the bundle, or nil.
func (k *keyring) usable(hosts []string, now time.Time) *serverCertificate {
	roots := x509.NewCertPool()
	for _, authority := range k.authorities {
		roots.AddCert(authority)
	}
	for _, server := range k.servers {
		if !slices.ContainsFunc(hosts, func(host string) bool {
			_, err := server.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, DNSName: host})
			return err != nil
		}) {
			return server
		}
	}
	return nil
}

// hasSigned reports whether the authority has signed a server certificate of the keyring.
func (k *keyring) hasSigned(authority *x509.Certificate) bool {
	return slices.ContainsFunc(k.servers, func(server *serverCertificate) bool {
		return server.Leaf.CheckSignatureFrom(authority) == nil
	})
}

// parseBundle returns the certificates of PEM blocks and skips invalid ones.
func parseBundle(bundle []byte) []*x509.Certificate {
	var certificates []*x509.Certificate
	for {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return certificates
		}
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
			certificates = append(certificates, certificate)
		}
	}
}

// trustedByAll returns the certificates that are in every bundle.
func trustedByAll(bundles [][]byte) []*x509.Certificate {
	if len(bundles) == 0 {
		return nil
	}
	trusted := parseBundle(bundles[0])
	for _, bundle := range bundles[1:] {
		others := parseBundle(bundle)
		trusted = slices.DeleteFunc(trusted, func(c *x509.Certificate) bool {
			return !slices.ContainsFunc(others, c.Equal)
		})
	}
	return trusted
}
