package networktest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// kubeSystem is where the system components of a shoot are.
const kubeSystem = "kube-system"

// apiServerProxy presents a part of an API server as a shoot's: one namespace is served as kube-system, and only nodes with the namespace's label are
// listed.
type apiServerProxy struct {
	server    *httptest.Server
	namespace string

	mutex        sync.Mutex
	closed       bool
	requestCount int
}

func newAPIServerProxy(config *rest.Config, namespace string) (*apiServerProxy, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's address: %w", err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("reaching the API server: %w", err)
	}
	g := &apiServerProxy{namespace: namespace}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(request *httputil.ProxyRequest) {
			g.redirect(request.Out)
			request.SetURL(target)
		},
		// An error means that the client has disconnected.
		ErrorHandler: func(writer http.ResponseWriter, _ *http.Request, err error) {
			http.Error(writer, err.Error(), http.StatusBadGateway)
		},
	}
	g.server = httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		if g.accept() {
			proxy.ServeHTTP(writer, request)
			return
		}
		http.Error(writer, "nobody is here", http.StatusServiceUnavailable)
	}))
	return g, nil
}

func (g *apiServerProxy) redirect(request *http.Request) {
	path := request.URL.Path
	request.URL.Path = strings.Replace(path, "/namespaces/"+kubeSystem, "/namespaces/"+g.namespace, 1)
	if path == "/api/v1/nodes" {
		query := request.URL.Query()
		query.Set("labelSelector", labelShoot+"="+g.namespace)
		request.URL.RawQuery = query.Encode()
	}
}

func (g *apiServerProxy) accept() bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.requestCount++
	return !g.closed
}

// requests returns the number of requests.
func (g *apiServerProxy) requests() int {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.requestCount
}

// setClosed makes the API server unreachable, or reachable again.
func (g *apiServerProxy) setClosed(closed bool) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.closed = closed
}
