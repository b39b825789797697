package chart

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func TestPull_UntrustedCertificate(t *testing.T) {
	registry, other := newRegistry(t), expired(t)
	const distrusted = " cannot be pulled: the certificate of the registry is not trusted: "
	host := strings.TrimPrefix(other.URL, "https://")
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.TLS.Certificates[0].Certificate[0]})

	for name, test := range map[string]struct {
		artifact Artifact
		message  string
	}{
		"by the system's certificates": {
			Artifact{Reference: registry.host() + "/example:good"}, distrusted + "x509: certificate signed by unknown authority",
		},
		"by others": {
			Artifact{Reference: registry.host() + "/example:good", CABundle: bundle}, distrusted + "x509: certificate signed by unknown authority",
		},
		"by a certificate that has expired": {
			Artifact{Reference: host + "/example:good", CABundle: bundle}, distrusted + "it has expired, or is not valid yet",
		},
		"by a bundle that is none": {
			Artifact{Reference: registry.host() + "/example:good", CABundle: []byte("-----BEGIN")},
			" cannot be pulled: the CA bundle holds no certificate in PEM",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := (&Puller{}).Pull(t.Context(), test.artifact)
			assertProblem(t, err, problem.OCIChartCannotBePulled, "chart "+test.artifact.Reference+test.message)
		})
	}

	_, port, err := net.SplitHostPort(registry.host())
	require.NoError(t, err)
	elsewhere := Artifact{Reference: "localhost:" + port + "/example:good", CABundle: registry.bundle()}
	_, err = (&Puller{}).Pull(t.Context(), elsewhere)
	found, is := problem.In(err)
	require.True(t, is, "%v", err)
	assert.Contains(t, found.Message, distrusted+"x509: certificate is valid for ")
}

// expired serves with a certificate of yesterday.
func expired(t *testing.T) *httptest.Server {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = newRegistry(t).Config.ErrorLog
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func TestPull_ReusesConnections(t *testing.T) {
	const timeout, interval = 30 * time.Second, 10 * time.Millisecond
	registry := newRegistry(t)
	registry.push(t, "example", "good", []byte("archive"))
	registry.Client().CloseIdleConnections()
	isClosed := func() bool { return registry.connections() == 0 }
	require.Eventually(t, isClosed, timeout, interval)
	puller := &Puller{}

	mustPull(t, puller, registry.artifact("example:good"))
	assert.Eventually(t, isClosed, timeout, interval, "what was opened for a bundle is closed after a pull")
	registry.respondWith(http.StatusServiceUnavailable, "down")
	_, err := puller.Pull(t.Context(), registry.artifact("example:good"))
	require.Error(t, err)
	assert.Eventually(t, isClosed, timeout, interval, "after one that failed, too")

	registry.intercept(nil)
	roots := x509.NewCertPool()
	roots.AddCert(registry.Certificate())
	puller.system = newTransport(roots)
	t.Cleanup(puller.system.CloseIdleConnections)
	artifact := Artifact{Reference: registry.host() + "/example:good"}
	for range 3 {
		mustPull(t, puller, artifact)
	}
	assert.Equal(t, 1, registry.connections(), "those who trust the system share connections")
}
