package shootmachines

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/utils/secrets"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

const testNamespace = "shoot--dev--one"

// apiServer answers as an API server: it asks for a client certificate, and accepts those of the CAs that it knows.
type apiServer struct {
	*httptest.Server
	lock  sync.Mutex
	known *x509.CertPool
}

func startAPIServer(t *testing.T, serving *corev1.Secret) *apiServer {
	t.Helper()
	issued, err := issue(serving, secrets.CertificateSecretConfig{CommonName: "kube-apiserver", DNSNames: []string{"kube-apiserver"}, CertType: secrets.ServerCert})
	require.NoError(t, err)
	pair, err := tls.X509KeyPair(issued.CertificatePEM, issued.PrivateKeyPEM)
	require.NoError(t, err)
	s := &apiServer{known: x509.NewCertPool()}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *apiServer) know(cas ...*corev1.Secret) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.known = x509.NewCertPool()
	for _, ca := range cas {
		s.known.AppendCertsFromPEM(ca.Data["ca.crt"])
	}
}

func (s *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	s.lock.Lock()
	defer s.lock.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, err := r.TLS.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: s.known, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	var answer any = metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "namespaces", Kind: "Namespace"}},
	}
	switch {
	case err != nil:
		w.WriteHeader(http.StatusUnauthorized)
		answer = metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonUnauthorized, Code: http.StatusUnauthorized}
	case r.URL.Path == "/api/v1/namespaces/kube-system":
		answer = corev1.Namespace{TypeMeta: metav1.TypeMeta{Kind: "Namespace", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}}
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func newCA(t *testing.T, of, name, issuedAt string) *corev1.Secret {
	t.Helper()
	ca, err := (&secrets.CertificateSecretConfig{Name: name, CommonName: name, CertType: secrets.CACert}).GenerateCertificate()
	require.NoError(t, err)
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: name, Labels: map[string]string{"name": of, "issued-at-time": issuedAt}}, Data: ca.SecretData(),
	}
}

func TestOpenAccess_RotationOfTheClientCA(t *testing.T) {
	serving, older, newer := newCA(t, "ca", "ca-1", "1"), newCA(t, "ca-client", "ca-client-1", "1"), newCA(t, "ca-client", "ca-client-2", "2")
	server := startAPIServer(t, serving)
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "kube-apiserver"},
		Spec:       corev1.ServiceSpec{ClusterIP: host, Ports: []corev1.ServicePort{{Port: int32(number), TargetPort: intstr.FromInt(number)}}},
	}
	seed := fake.NewClientBuilder().WithScheme(kubernetes.SeedScheme).WithObjects(serving, older, service).Build()
	s := &shoot{seed: seed, namespace: testNamespace, known: map[string]*access{}}
	open := func() *access {
		found, err := s.openAccess(t.Context())
		require.NoError(t, err)
		return found
	}

	_, err = s.openAccess(t.Context())
	require.ErrorContains(t, err, "by ca-client-1", "the API server knows no CA after its start")
	server.know(older)
	first := open()
	assert.Contains(t, first.name, "ca-client-1")
	assert.Same(t, first, open(), "nothing has changed")

	require.NoError(t, seed.Create(t.Context(), newer))
	assert.Same(t, first, open(), "the API server does not know the newer one")
	server.know(older, newer)
	second := open()
	assert.Contains(t, second.name, "ca-client-2")
	require.NoError(t, seed.Delete(t.Context(), older))
	server.know(newer)
	assert.Same(t, second, open())

	require.NoError(t, seed.Create(t.Context(), newCA(t, "ca", "ca-2", "2")))
	third := open()
	assert.NotSame(t, second, third, "the bundle for the server's certificate has another CA")
	server.know()
	_, err = s.openAccess(t.Context())
	require.ErrorContains(t, err, "provide credentials")
	require.NotErrorIs(t, err, errNoShoot, "an API server that refuses is there")

	require.NoError(t, seed.Delete(t.Context(), service))
	_, err = s.openAccess(t.Context())
	require.ErrorIs(t, err, errNoShoot)
}
