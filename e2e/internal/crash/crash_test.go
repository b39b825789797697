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
	patient = 30 * time.Second
)

func TestAProcessIsToBeKilledAtTheWriteOfChoice(t *testing.T) {
	for sentence, tt := range map[string]struct {
		n      int
		moment Moment
		effect []string // what the API servers have seen of "first", "second" and "third"
	}{
		"before the first": {1, Before, nil},
		"after the first":  {1, After, []string{"first"}},
		"before the third": {3, Before, []string{"first", "second"}},
		"after the third":  {3, After, []string{"first", "second", "third"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			garden, seed := newServer(t), newServer(t)
			trap := newTrap(t)
			life := trap.Set(tt.n, tt.moment)
			p := newProcess(t)
			gardenFront, seedFront := front(t, trap, "garden", garden), front(t, trap, "seed", seed)
			for i, name := range []string{"first", "second", "third"} {
				to := gardenFront
				if i == 1 {
					to = seedFront // writes are counted over all API servers
				}
				assert.NoError(t, p.ask(http.MethodGet, to, objects+"/read"))
				assert.NoError(t, p.ask(http.MethodPost, to, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"))
				assert.NoError(t, p.ask(http.MethodPatch, to, objects+"/dry?dryRun=All"))
				assert.NoError(t, p.ask(http.MethodPut, to, "/apis/coordination.k8s.io/v1/namespaces/garden/leases/leader"))
				if i+1 == tt.n {
					p.askInTheBackground(http.MethodPatch, to, objects+"/"+name)
					break
				}
				require.NoError(t, p.ask(http.MethodPatch, to, objects+"/"+name))
			}
			await(t, life.Sprung(), "the trap has sprung")
			p.askInTheBackground(http.MethodPatch, seedFront, objects+"/too-late")
			assert.Len(t, life.Writes(), tt.n)
			p.kill()

			assert.ElementsMatch(t, tt.effect, slices.Concat(garden.written(objects), seed.written(objects)))
			assert.Zero(t, p.heard(), "of what it asked for last")
			trap.Set(0, Before)
			assert.NoError(t, newProcess(t).ask(http.MethodPatch, gardenFront, objects+"/next"), "another life")
		})
	}
}

func TestOfTwoWritesAtOnceOneIsTheLast(t *testing.T) {
	server := newServer(t)
	trap := newTrap(t)
	to, life, p := front(t, trap, "garden", server), trap.Set(1, After), newProcess(t)
	for i := range 20 {
		p.askInTheBackground(http.MethodPost, to, fmt.Sprintf("%s/%d", objects, i))
	}
	await(t, life.Sprung(), "the trap has sprung")
	p.kill()
	assert.Len(t, server.written(objects), 1)
	assert.Zero(t, p.heard())
}

func TestWhatADeadProcessHasLeftOnTheWayGetsNoFurther(t *testing.T) {
	server := newServer(t)
	trap := newTrap(t)
	to, dead := front(t, trap, "garden", server), newProcess(t)
	require.NoError(t, dead.ask(http.MethodPatch, to, objects+"/alive"))
	trap.Set(0, Before)
	require.Error(t, dead.ask(http.MethodGet, to, objects+"/ghost"))
	require.NoError(t, newProcess(t).ask(http.MethodPatch, to, objects+"/next"))
	assert.Equal(t, []string{"alive", "next"}, server.written(objects))
}

func TestAnAPIServerThatIsAwayIsNoEnd(t *testing.T) {
	server := newServer(t)
	trap := newTrap(t)
	to, life, p := front(t, trap, "garden", server), trap.Set(1, After), newProcess(t)
	server.Close()
	require.NoError(t, p.ask(http.MethodGet, to, objects), "it is said to be a bad gateway")
	p.askInTheBackground(http.MethodPatch, to, objects+"/lost")
	await(t, life.Sprung(), "the trap has sprung all the same")
	p.kill()
	assert.Zero(t, p.heard())
}

func TestWhatIsWatchedComesAtOnce(t *testing.T) {
	server := newServer(t)
	trap := newTrap(t)
	to, p := front(t, trap, "garden", server), newProcess(t)
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

// server is an API server that takes everything.
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

// written returns the names of what was written below a path, in order.
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

// way is a front as a process sees it.
type way struct {
	name   string
	config *rest.Config
}

func newTrap(t *testing.T) *Trap {
	t.Helper()
	trap := NewTrap()
	t.Cleanup(func() { assert.NoError(t, trap.Close()) })
	return trap
}

func front(t *testing.T, trap *Trap, name string, s *server) way {
	t.Helper()
	front, err := trap.Front(name, &rest.Config{Host: s.URL})
	require.NoError(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(front.Kubeconfig())
	require.NoError(t, err)
	return way{name, config}
}

// process is one as far as an API server can tell: what it has asked for is broken off when it is killed.
type process struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // it is the process's life

	end     context.CancelFunc
	running sync.WaitGroup
	mutex   sync.Mutex
	clients map[string]*http.Client
	answers int
}

func newProcess(t *testing.T) *process {
	t.Helper()
	p := &process{t: t, clients: map[string]*http.Client{}}
	p.ctx, p.end = context.WithTimeout(t.Context(), patient)
	t.Cleanup(p.kill)
	return p
}

func (p *process) clientOf(to way) *http.Client {
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

func (p *process) ask(method string, to way, path string) error {
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

// askInTheBackground asks for what is not answered.
func (p *process) askInTheBackground(method string, to way, path string) {
	p.running.Go(func() {
		if p.ask(method, to, path) == nil {
			p.mutex.Lock()
			defer p.mutex.Unlock()
			p.answers++
		}
	})
}

// kill breaks everything off.
func (p *process) kill() {
	p.end()
	p.running.Wait()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, client := range p.clients {
		client.CloseIdleConnections()
	}
}

func (p *process) heard() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.answers
}

func await(t *testing.T, what <-chan struct{}, sentence string) {
	t.Helper()
	select {
	case <-what:
	case <-time.After(patient):
		require.FailNow(t, "waited in vain until "+sentence)
	}
}
