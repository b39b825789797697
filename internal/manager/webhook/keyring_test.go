package webhook

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// issuer is a certificate authority of a test.
type issuer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newIssuer(t *testing.T, name string, notAfter time.Time) issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: notAfter.Add(-validity), NotAfter: notAfter,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return issuer{certificate: certificate, key: key}
}

func (i issuer) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.certificate.Raw})
}

// issue returns certificate and key in PEM form.
func (i issuer) issue(t *testing.T, host string, notAfter time.Time) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{host}, NotBefore: notAfter.Add(-validity), NotAfter: notAfter,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, i.certificate, private.Public(), i.key)
	require.NoError(t, err)
	privateDER, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: privateDER})
}

func (i issuer) server(t *testing.T, host string, notAfter time.Time) *serverCertificate {
	t.Helper()
	pair, err := tls.X509KeyPair(i.issue(t, host, notAfter))
	require.NoError(t, err)
	return &serverCertificate{Certificate: pair}
}

func TestKeyring_Usable(t *testing.T) {
	const host = "x.y.svc"
	now := time.Now()
	later, earlier := now.Add(time.Hour), now.Add(-time.Hour)
	known, unknown, expired := newIssuer(t, "known", later), newIssuer(t, "unknown", later), newIssuer(t, "expired", earlier)
	good := known.server(t, host, later)
	tests := map[string]struct {
		servers []*serverCertificate
		want    *serverCertificate
	}{
		"nothing when there is nothing":                {},
		"one that a known authority has signed":        {servers: []*serverCertificate{good}, want: good},
		"the newest of several":                        {servers: []*serverCertificate{good, known.server(t, host, later)}, want: good},
		"none for another host":                        {servers: []*serverCertificate{known.server(t, "x.z.svc", later)}},
		"none that has expired":                        {servers: []*serverCertificate{known.server(t, host, earlier)}},
		"none that a stranger has signed":              {servers: []*serverCertificate{unknown.server(t, host, later)}},
		"none whose authority has expired":             {servers: []*serverCertificate{expired.server(t, host, later)}},
		"an older one rather than one of another host": {servers: []*serverCertificate{known.server(t, "z", later), good}, want: good},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			k := &keyring{authorities: []*x509.Certificate{known.certificate, expired.certificate}, servers: test.servers}
			assert.Same(t, test.want, k.usable([]string{host}, now))
		})
	}
}

func TestKeyring_UsableForAllHosts(t *testing.T) {
	later := time.Now().Add(time.Hour)
	known := newIssuer(t, "known", later)
	k := &keyring{authorities: []*x509.Certificate{known.certificate}, servers: []*serverCertificate{known.server(t, "x.y", later)}}
	assert.NotNil(t, k.usable([]string{"x.y"}, time.Now()))
	assert.Nil(t, k.usable([]string{"x.y", "x.y.svc"}, time.Now()))
	assert.Nil(t, k.usable([]string{"x.y.svc", "x.y"}, time.Now()))
}

func TestKeyring_BundleWithoutExpired(t *testing.T) {
	now := time.Now()
	first, second := newIssuer(t, "first", now.Add(time.Hour)), newIssuer(t, "second", now.Add(2*time.Hour))
	k := &keyring{authorities: []*x509.Certificate{second.certificate, first.certificate}}
	assert.Equal(t, string(second.pem())+string(first.pem()), string(k.bundle(now)))
	assert.Equal(t, string(second.pem()), string(k.bundle(now.Add(90*time.Minute))))
}

func TestKeyring_HasSigned(t *testing.T) {
	later := time.Now().Add(time.Hour)
	first, second := newIssuer(t, "first", later), newIssuer(t, "second", later)
	k := &keyring{servers: []*serverCertificate{first.server(t, "x", later)}}
	assert.True(t, k.hasSigned(first.certificate))
	assert.False(t, k.hasSigned(second.certificate))
}

func TestTrustedByAll(t *testing.T) {
	later := time.Now().Add(time.Hour)
	a, b := newIssuer(t, "a", later), newIssuer(t, "b", later)
	both := append(a.pem(), b.pem()...)
	tests := map[string]struct {
		bundles [][]byte
		want    []*x509.Certificate
	}{
		"nothing without webhooks":            {},
		"all of a single webhook":             {bundles: [][]byte{both}, want: []*x509.Certificate{a.certificate, b.certificate}},
		"only what all webhooks have":         {bundles: [][]byte{both, b.pem()}, want: []*x509.Certificate{b.certificate}},
		"nothing when one webhook has none":   {bundles: [][]byte{both, nil}},
		"nothing when one webhook has rubble": {bundles: [][]byte{both, []byte("rubble")}},
		"what is whole beside rubble": {
			bundles: [][]byte{append([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), a.pem()...)},
			want:    []*x509.Certificate{a.certificate},
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			got := trustedByAll(test.bundles)
			require.Len(t, got, len(test.want))
			for i := range got {
				assert.True(t, test.want[i].Equal(got[i]))
			}
		})
	}
}

func TestReadKeyring(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	later := now.Add(time.Hour)
	first, second, other := newIssuer(t, "first", later), newIssuer(t, "second", later), newIssuer(t, "foreign", later)
	names := secretNamesOf("x", "extension-x")
	secret := func(name, config, identity string, age time.Duration, data map[string][]byte) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: names.namespace, Name: name, CreationTimestamp: metav1.NewTime(now.Add(-age)),
				Labels: map[string]string{"name": config, "managed-by": "secrets-manager", "manager-identity": identity},
			},
			Data: data,
		}
	}
	authority := func(i issuer) map[string][]byte { return map[string][]byte{"ca.crt": i.pem()} }
	server := func(i issuer) map[string][]byte {
		certificate, key := i.issue(t, "x", later)
		return map[string][]byte{"tls.crt": certificate, "tls.key": key}
	}
	c := fake.NewClientBuilder().WithObjects([]client.Object{
		secret("a", names.authority, names.identity, time.Hour, authority(first)),
		secret("b", names.authority, names.identity, time.Minute, authority(second)),
		secret("c", names.authority, "another-webhook", time.Second, authority(other)),
		secret("d", names.authority+"-bundle", names.identity, time.Second, map[string][]byte{"bundle.crt": other.pem()}),
		secret("e", names.server, names.identity, time.Hour, server(first)),
		secret("f", names.server, names.identity, time.Minute, server(second)),
		secret("g", names.server, names.identity, time.Second, map[string][]byte{"tls.crt": []byte("rubble")}),
	}...).Build()

	k, err := readKeyring(t.Context(), c, names)

	require.NoError(t, err)
	require.Len(t, k.authorities, 2)
	assert.True(t, k.authorities[0].Equal(second.certificate), "the newest comes first")
	require.Len(t, k.servers, 2)
	assert.Equal(t, []string{"f", "e"}, []string{k.servers[0].secret, k.servers[1].secret}, "the newest comes first")
	assert.Equal(t, now.Add(-time.Minute).UTC(), k.servers[0].created.UTC())
}

func TestTrustedSince(t *testing.T) {
	start := time.Now()
	a, b := newIssuer(t, "a", start.Add(time.Hour)).certificate, newIssuer(t, "b", start.Add(time.Hour)).certificate
	known := trustedSince{}
	known.observe([]*x509.Certificate{a}, start)
	known.observe([]*x509.Certificate{b, a}, start.Add(time.Minute))

	now := start.Add(3 * time.Minute)
	assert.True(t, known.trustedFor(a, 3*time.Minute, now))
	assert.True(t, known.trustedFor(b, 2*time.Minute, now))
	assert.False(t, known.trustedFor(b, 3*time.Minute, now), "it was not there at the start")

	known.observe([]*x509.Certificate{b}, now)
	known.observe([]*x509.Certificate{a, b}, now.Add(time.Minute))
	assert.False(t, known.trustedFor(a, 2*time.Minute, now.Add(2*time.Minute)), "a break lets the time begin anew")
	assert.True(t, known.trustedFor(b, 4*time.Minute, now.Add(2*time.Minute)))
}
