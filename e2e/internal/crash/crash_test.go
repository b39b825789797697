package crash

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	objects = "/api/v1/namespaces/garden/secrets"
	timeout = 30 * time.Second
)

func TestInjector_KillAtWrite(t *testing.T) {
	for description, tt := range map[string]struct {
		n      int
		moment Phase
		effect []string // what the API servers have seen of "first", "second" and "third"
	}{
		"before the first": {1, Before, nil},
		"after the first":  {1, After, []string{"first"}},
		"before the third": {3, Before, []string{"first", "second"}},
		"after the third":  {3, After, []string{"first", "second", "third"}},
	} {
		t.Run(description, func(t *testing.T) {
			garden, seed := newServer(t), newServer(t)
			injector := newInjector(t)
			run := injector.Set(tt.n, tt.moment)
			p := newProcess(t)
			gardenFront, seedFront := startProxy(t, injector, "garden", garden), startProxy(t, injector, "seed", seed)
			for i, name := range []string{"first", "second", "third"} {
				to := gardenFront
				if i == 1 {
					to = seedFront // writes are counted over all API servers
				}
				assert.NoError(t, p.request(http.MethodGet, to, objects+"/read"))
				assert.NoError(t, p.request(http.MethodPost, to, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"))
				assert.NoError(t, p.request(http.MethodPatch, to, objects+"/dry?dryRun=All"))
				assert.NoError(t, p.request(http.MethodPut, to, "/apis/coordination.k8s.io/v1/namespaces/garden/leases/leader"))
				if i+1 == tt.n {
					p.requestInBackground(http.MethodPatch, to, objects+"/"+name)
					break
				}
				require.NoError(t, p.request(http.MethodPatch, to, objects+"/"+name))
			}
			await(t, run.Reached(), "the trap has sprung")
			p.requestInBackground(http.MethodPatch, seedFront, objects+"/too-late")
			assert.Len(t, run.Writes(), tt.n)
			p.kill()

			assert.ElementsMatch(t, tt.effect, slices.Concat(garden.written(objects), seed.written(objects)))
			assert.Zero(t, p.responses(), "of what it asked for last")
			injector.Set(0, Before)
			assert.NoError(t, newProcess(t).request(http.MethodPatch, gardenFront, objects+"/next"), "another life")
		})
	}
}

func TestInjector_ConcurrentWrites(t *testing.T) {
	server := newServer(t)
	injector := newInjector(t)
	to, run, p := startProxy(t, injector, "garden", server), injector.Set(1, After), newProcess(t)
	for i := range 20 {
		p.requestInBackground(http.MethodPost, to, fmt.Sprintf("%s/%d", objects, i))
	}
	await(t, run.Reached(), "the trap has sprung")
	p.kill()
	assert.Len(t, server.written(objects), 1)
	assert.Zero(t, p.responses())
}

func TestInjector_RequestsOfKilledProcess(t *testing.T) {
	server := newServer(t)
	injector := newInjector(t)
	to, dead := startProxy(t, injector, "garden", server), newProcess(t)
	require.NoError(t, dead.request(http.MethodPatch, to, objects+"/alive"))
	injector.Set(0, Before)
	require.Error(t, dead.request(http.MethodGet, to, objects+"/ghost"))
	require.NoError(t, newProcess(t).request(http.MethodPatch, to, objects+"/next"))
	assert.Equal(t, []string{"alive", "next"}, server.written(objects))
}

func TestProxy_APIServerUnavailable(t *testing.T) {
	server := newServer(t)
	injector := newInjector(t)
	to, run, p := startProxy(t, injector, "garden", server), injector.Set(1, After), newProcess(t)
	server.Close()
	require.NoError(t, p.request(http.MethodGet, to, objects), "it is said to be a bad gateway")
	p.requestInBackground(http.MethodPatch, to, objects+"/lost")
	await(t, run.Reached(), "the trap has sprung all the same")
	p.kill()
	assert.Zero(t, p.responses())
}

func TestProxy_Watch(t *testing.T) {
	server := newServer(t)
	injector := newInjector(t)
	to, p := startProxy(t, injector, "garden", server), newProcess(t)
	request, err := http.NewRequestWithContext(p.ctx, http.MethodGet, to.config.Host+"/watch", nil)
	require.NoError(t, err)
	response, err := p.clientOf(to).Do(request)
	require.NoError(t, err)
	defer func() { assert.NoError(t, response.Body.Close()) }()
	event := make([]byte, 5)
	_, err = io.ReadFull(response.Body, event) // the server goes on and says nothing more
	require.NoError(t, err)
	assert.Equal(t, "event", string(event))
}

// server is an API server that accepts all requests.
type server struct {
	*httptest.Server
	mutex  sync.Mutex
	writes []string
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if request.URL.Path == "/watch" {
			_, _ = io.WriteString(response, "event")
			assert.NoError(t, http.NewResponseController(response).Flush())
			<-request.Context().Done()
			return
		}
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if request.Method != http.MethodGet && !request.URL.Query().Has("dryRun") {
			s.writes = append(s.writes, request.URL.Path)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// written returns the names of the objects that were written below a path, in order.
func (s *server) written(path string) []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var names []string
	for _, write := range s.writes {
		if name, below := strings.CutPrefix(write, path+"/"); below {
			names = append(names, name)
		}
	}
	return names
}

// endpoint is a proxy from the view of a process.
type endpoint struct {
	name   string
	config *rest.Config
}

func newInjector(t *testing.T) *Injector {
	t.Helper()
	injector := NewInjector()
	t.Cleanup(func() { assert.NoError(t, injector.Close()) })
	return injector
}

func startProxy(t *testing.T, injector *Injector, name string, s *server) endpoint {
	t.Helper()
	front, err := injector.Proxy(name, &rest.Config{Host: s.URL})
	require.NoError(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(front.Kubeconfig())
	require.NoError(t, err)
	return endpoint{name, config}
}

// process simulates a process: its requests are canceled when it is killed.
type process struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // it is the process's life

	end      context.CancelFunc
	running  sync.WaitGroup
	mutex    sync.Mutex
	clients  map[string]*http.Client
	received int
}

func newProcess(t *testing.T) *process {
	t.Helper()
	p := &process{t: t, clients: map[string]*http.Client{}}
	p.ctx, p.end = context.WithTimeout(t.Context(), timeout)
	t.Cleanup(p.kill)
	return p
}

func (p *process) clientOf(to endpoint) *http.Client {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.clients[to.name] == nil {
		config, err := rest.TLSConfigFor(to.config)
		if assert.NoError(p.t, err) {
			config.NextProtos = []string{"h2", "http/1.1"}
			p.clients[to.name] = &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}}
		}
	}
	return p.clients[to.name]
}

func (p *process) request(method string, to endpoint, path string) error {
	request, err := http.NewRequestWithContext(p.ctx, method, to.config.Host+path, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	response, err := p.clientOf(to).Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// requestInBackground makes a request that gets no response.
func (p *process) requestInBackground(method string, to endpoint, path string) {
	p.running.Go(func() {
		if p.request(method, to, path) == nil {
			p.mutex.Lock()
			defer p.mutex.Unlock()
			p.received++
		}
	})
}

// kill cancels all requests.
func (p *process) kill() {
	p.end()
	p.running.Wait()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, client := range p.clients {
		client.CloseIdleConnections()
	}
}

func (p *process) responses() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.received
}

func await(t *testing.T, what <-chan struct{}, description string) {
	t.Helper()
	select {
	case <-what:
	case <-time.After(timeout):
		require.FailNow(t, "waited in vain until "+description)
	}
}
