package seeds

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	authenticationv1alpha1 "github.com/gardener/gardener/pkg/apis/authentication/v1alpha1"
	seedmanagementv1alpha1 "github.com/gardener/gardener/pkg/apis/seedmanagement/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// testProxy is a proxy in front of the API server that speaks HTTPS with a certificate of its own. It lets credentials pass.
type testProxy struct {
	*httptest.Server

	// handler answers in place of the API server, if there is something.
	handler atomic.Pointer[http.HandlerFunc]
	// revoked are tokens that the API server is not to know any more.
	revoked sync.Map
	// connections counts those that were accepted, open those that have not been closed.
	connections, open atomic.Int64

	mu    sync.Mutex
	calls []string
}

// newTestProxy starts a front. Whatever special returns true for, it has answered.
func newTestProxy(t *testing.T, to *rest.Config, special func(http.ResponseWriter, *http.Request) bool) *testProxy {
	t.Helper()
	target, err := url.Parse(to.Host)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(to.CAData))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	quiet := log.New(io.Discard, "", 0)
	reverseProxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport, ErrorLog: quiet,
	}
	f := &testProxy{}
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.record(r.Method + " " + r.URL.Path)
		if instead := f.handler.Load(); instead != nil {
			(*instead)(w, r)
			return
		}
		if special != nil && special(w, r) {
			return
		}
		if _, revoked := f.revoked.Load(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")); revoked {
			r.Header.Set("Authorization", "Bearer revoked")
		}
		reverseProxy.ServeHTTP(w, r)
	}))
	f.EnableHTTP2 = true
	f.Config.ErrorLog = quiet
	f.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			f.connections.Add(1)
			f.open.Add(1)
		case http.StateClosed:
			f.open.Add(-1)
		}
	}
	f.StartTLS()
	t.Cleanup(f.Close)
	return f
}

func (f *testProxy) record(call string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
}

// count returns how many of the calls so far contain a text.
func (f *testProxy) count(text string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, call := range f.calls {
		if strings.Contains(call, text) {
			n++
		}
	}
	return n
}

// respondWith makes it answer itself from now on; nil makes it a proxy again.
func (f *testProxy) respondWith(instead http.HandlerFunc) {
	if instead == nil {
		f.handler.Store(nil)
		return
	}
	f.handler.Store(&instead)
}

// respondStatus answers with a code and a page, as proxies do.
func respondStatus(respondStatus int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "nobody home", respondStatus) }
}

// noResponse takes requests and never answers.
func noResponse(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// writeStatus answers as API servers do.
func writeStatus(w http.ResponseWriter, failure apierrors.APIStatus) {
	status := failure.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status) //nolint:errchkjson // nobody could be told
}

func (f *testProxy) certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.Certificate().Raw})
}

// kubeconfig leads to the front.
func (f *testProxy) kubeconfig(t *testing.T, token string) []byte {
	t.Helper()
	return kubeconfig(t, f.URL, f.certificate(), token)
}

func kubeconfig(t *testing.T, server string, authority []byte, token string) []byte {
	t.Helper()
	return encodeKubeconfig(t, parsedKubeconfig(server, authority, token))
}

func parsedKubeconfig(server string, authority []byte, token string) *clientcmdapi.Config {
	config := clientcmdapi.NewConfig()
	config.Clusters["seed"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: authority}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["seed"] = &clientcmdapi.Context{Cluster: "seed", AuthInfo: "admin"}
	config.CurrentContext = "seed"
	return config
}

type grant = func(shoot string, request *authenticationv1alpha1.AdminKubeconfigRequest) error

// testGarden is the API server with Gardener's subresource for admin kubeconfigs in front of it.
type testGarden struct {
	*testProxy

	env    *environment
	client client.Client
	// grant fills the status of what is asked of the subresource; grants counts how often that was.
	grant  atomic.Pointer[grant]
	grants atomic.Int64
}

func newTestGarden(t *testing.T) *testGarden {
	t.Helper()
	g := &testGarden{env: start(t)}
	g.testProxy = newTestProxy(t, g.env.config, g.serveSubresource)
	config := &rest.Config{
		Host: g.URL, BearerToken: g.env.token(t), QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: g.certificate()},
	}
	var err error
	g.client, err = client.New(config, client.Options{Scheme: gardenScheme()})
	require.NoError(t, err)
	return g
}

// connections returns the garden's access to its seeds.
func (g *testGarden) connections(t *testing.T, options Options) *Connections {
	t.Helper()
	connections, err := FromGarden(g.client, options)
	require.NoError(t, err)
	return connections
}

func (g *testGarden) serveSubresource(w http.ResponseWriter, r *http.Request) bool {
	const shoots = "/apis/core.gardener.cloud/v1beta1/namespaces/garden/shoots/"
	shoot, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, shoots), "/adminkubeconfig")
	if !ok || r.Method != http.MethodPost || !strings.HasPrefix(r.URL.Path, shoots) {
		return false
	}
	g.grants.Add(1)
	request := &authenticationv1alpha1.AdminKubeconfigRequest{}
	err := json.NewDecoder(r.Body).Decode(request)
	if err == nil && (request.Kind != "AdminKubeconfigRequest" || request.APIVersion != authenticationv1alpha1.SchemeGroupVersion.String()) {
		err = apierrors.NewBadRequest("not an AdminKubeconfigRequest: " + request.APIVersion + " " + request.Kind)
	}
	if err == nil {
		err = (*g.grant.Load())(shoot, request)
	}
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status):
		writeStatus(w, status)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(request) //nolint:errchkjson // nobody could be told
	}
	return true
}

// setGrant simulates the subresource from now on.
func (g *testGarden) setGrant(grant grant) { g.grant.Store(&grant) }

// createSecret creates or replaces the Secret for a seed.
func (g *testGarden) createSecret(t *testing.T, seed string, content []byte) {
	t.Helper()
	g.deleteSecret(t, seed)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "installation-access-" + seed},
		Data:       map[string][]byte{"kubeconfig": content},
	}
	require.NoError(t, g.env.client.Create(t.Context(), secret))
	t.Cleanup(func() { assert.NoError(t, client.IgnoreNotFound(g.env.client.Delete(detached(t), secret))) })
}

func (g *testGarden) deleteSecret(t *testing.T, seed string) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "installation-access-" + seed}}
	require.NoError(t, client.IgnoreNotFound(g.env.client.Delete(t.Context(), secret)))
}

// createManagedSeed creates a ManagedSeed. Its Shoot has the seed's name and a prefix.
func (g *testGarden) createManagedSeed(t *testing.T, seed string) {
	t.Helper()
	managed := &seedmanagementv1alpha1.ManagedSeed{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: seed},
		Spec:       seedmanagementv1alpha1.ManagedSeedSpec{Shoot: &seedmanagementv1alpha1.Shoot{Name: "shoot-of-" + seed}},
	}
	require.NoError(t, g.env.client.Create(t.Context(), managed))
	t.Cleanup(func() { assert.NoError(t, g.env.client.Delete(detached(t), managed)) })
}
