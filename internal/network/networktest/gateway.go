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

// gateway makes a part of an API server look like a shoot's: one namespace stands for kube-system, and only nodes with the
// namespace's label are there.
type gateway struct {
	server    *httptest.Server
	namespace string

	mutex  sync.Mutex
	closed bool
	looks  map[string]int
}

func newGateway(config *rest.Config, namespace string) (*gateway, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's address: %w", err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("reaching the API server: %w", err)
	}
	g := &gateway{namespace: namespace, looks: map[string]int{}}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(request *httputil.ProxyRequest) {
			g.redirect(request.Out)
			request.SetURL(target)
		},
		// Whoever has gone away in the meantime is of no interest.
		ErrorHandler: func(writer http.ResponseWriter, _ *http.Request, err error) {
			http.Error(writer, err.Error(), http.StatusBadGateway)
		},
	}
	g.server = httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		if g.admits(request) {
			proxy.ServeHTTP(writer, request)
			return
		}
		http.Error(writer, "nobody is here", http.StatusServiceUnavailable)
	}))
	return g, nil
}

func (g *gateway) redirect(request *http.Request) {
	path := request.URL.Path
	request.URL.Path = strings.Replace(path, "/namespaces/"+kubeSystem, "/namespaces/"+g.namespace, 1)
	if path == "/api/v1/nodes" {
		query := request.URL.Query()
		query.Set("labelSelector", labelShoot+"="+g.namespace)
		request.URL.RawQuery = query.Encode()
	}
}

func (g *gateway) admits(request *http.Request) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.looks[request.URL.Path]++
	return !g.closed
}

// looksAt returns how often somebody has asked for a path; for an empty one, how often for anything.
func (g *gateway) looksAt(path string) int {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if path != "" {
		return g.looks[path]
	}
	sum := 0
	for _, n := range g.looks {
		sum += n
	}
	return sum
}

// shut makes nobody answer, or somebody again.
func (g *gateway) shut(closed bool) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.closed = closed
}
