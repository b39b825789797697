package contracttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Transport wraps the transport of a process under test.
type Transport func(http.RoundTripper) http.RoundTripper

// Program is the process under test: it adds controllers to a manager. It is called for each life anew and MUST build
// everything anew, sessions and drivers included; every request to the cloud goes through the transport. The manager's scheme has the core
// types alone: the program registers those that its binary registers, by the same function.
type Program func(mgr manager.Manager, cloud Transport) error

// Host is where processes run: an API server, one namespace of it, and what can go wrong between them.
type Host struct {
	Server    *APIServer
	Namespace string
	Faults    *Faults
	Journal   *Journal
	// Bystander may be nil. It is called with each write to the API server that has taken effect, before the process hears of
	// it, and plays somebody who acts upon such writes so fast that nobody ever waits for them. Calls come side by side.
	Bystander func(Call)
}

// Life is one life of a process, from its start to the end of its manager or to its violent end.
type Life struct {
	faults    *Faults
	journal   *Journal
	bystander func(Call)

	cancel  context.CancelFunc
	killed  chan struct{}
	stopped chan struct{}
	failure error // of the manager; valid once stopped is closed

	mu       sync.Mutex
	dead     bool
	requests int // under way
	underWay sync.WaitGroup
}

// Start starts a life of the program. Its manager sees nothing but the namespace.
func (h Host) Start(ctx context.Context, program Program) (*Life, error) {
	ctx, cancel := context.WithCancel(ctx)
	life := newLife(h.Faults, h.Journal, cancel)
	life.bystander = h.Bystander
	mgr, err := h.newManager(life)
	if err == nil {
		err = program(mgr, life.transport(Cloud))
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("starting the process: %w", err)
	}
	go func() {
		defer close(life.stopped)
		if err := mgr.Start(ctx); err != nil {
			life.failure = fmt.Errorf("running the manager: %w", err)
		}
	}()
	return life, nil
}

func newLife(faults *Faults, journal *Journal, cancel context.CancelFunc) *Life {
	return &Life{faults: faults, journal: journal, cancel: cancel, killed: make(chan struct{}), stopped: make(chan struct{})}
}

func (h Host) newManager(life *Life) (manager.Manager, error) {
	restConfig := rest.CopyConfig(h.Server.Config)
	restConfig.Wrap(func(base http.RoundTripper) http.RoundTripper { return life.transport(KubeAPI)(base) })
	scheme := runtime.NewScheme()
	// As in each of our binaries; all else is the program's.
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("building scheme: %w", err)
	}
	return manager.New(restConfig, manager.Options{
		Scheme:                  scheme,
		MapperProvider:          h.Server.restMapper,
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{h.Namespace: {}}},
		NewClient:               newUncachedClient,
		Logger:                  h.Journal.Logger(),
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:  "0",
		GracefulShutdownTimeout: new(stopTimeout),
		// controller-runtime keeps the names of all controllers that a process ever had.
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
}

// newUncachedClient makes all reads go to the API server, as in all of our binaries.
func newUncachedClient(config *rest.Config, options client.Options) (client.Client, error) {
	options.Cache = nil
	return client.New(config, options)
}

// stopTimeout is how long a process may take to end.
const stopTimeout = 20 * time.Second

// Stop ends the process in order and waits for its end.
func (l *Life) Stop() error {
	l.cancel()
	select {
	case <-l.stopped:
		return l.failure
	case <-time.After(stopTimeout + time.Second):
		return errors.New("the process did not end when it was told to")
	}
}

// Killed is closed when the process was killed.
func (l *Life) Killed() <-chan struct{} { return l.killed }

// WaitSilent waits until no request of a killed process is under way any more.
func (l *Life) WaitSilent() { l.underWay.Wait() }

// Rests reports whether no write is under way: neither on its way, nor among those who act upon it, nor its answer.
func (l *Life) Rests() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests == 0
}

// kill ends the process: none of its requests is sent any more, and no answer arrives.
func (l *Life) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return
	}
	l.dead = true
	close(l.killed)
	l.cancel()
}

// begin admits a request unless the process is dead.
func (l *Life) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return false
	}
	l.underWay.Add(1)
	l.requests++
	return true
}

func (l *Life) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests--
	l.underWay.Done()
}

func (l *Life) transport(target Target) Transport {
	return func(base http.RoundTripper) http.RoundTripper { return &line{life: l, target: target, base: base} }
}

// line is a life's transport to one target.
type line struct {
	life   *Life
	target Target
	base   http.RoundTripper
}

type answer struct {
	response *http.Response
	err      error
}

// RoundTrip sends a request of interest detached from its caller: what has been sent takes effect as a whole, even if the
// caller dies or gives up meanwhile, and only then does the next life begin.
func (l *line) RoundTrip(request *http.Request) (*http.Response, error) {
	if !isOfInterest(l.target, request) {
		return l.pass(request)
	}
	sent, body, err := detach(request)
	if err != nil {
		return nil, err
	}
	if !l.life.begin() {
		return nil, errKilled
	}
	call := callOf(l.target, request, body)
	fault := l.life.faults.next(call)
	answers := make(chan answer, 1)
	go func() {
		defer l.life.end()
		var a answer
		a.response, a.err = l.perform(sent, call, fault) //nolint:bodyclose // the caller closes it
		l.life.journal.note(l.target, sent, fault, a)
		answers <- a
	}()
	select {
	case <-l.life.killed:
		return nil, errKilled
	case <-request.Context().Done():
		return nil, request.Context().Err()
	case a := <-answers:
		return a.response, a.err
	}
}

func (l *line) pass(request *http.Request) (*http.Response, error) {
	select {
	case <-l.life.killed:
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, errKilled
	default:
		return l.base.RoundTrip(request)
	}
}

func (l *line) perform(request *http.Request, call Call, fault *Fault) (*http.Response, error) {
	if fault == nil {
		return l.forward(request, call)
	}
	switch fault.Action {
	case Refuse:
		return fault.Answer(request), nil
	case LoseAnswer:
		if _, err := l.forward(request, call); err != nil {
			return nil, err
		}
		return fault.Answer(request), nil
	case DropBefore:
		return nil, errDropped
	case DropAfter:
		if _, err := l.forward(request, call); err != nil {
			return nil, err
		}
		return nil, errDropped
	case KillBefore:
		l.life.kill()
		return nil, errKilled
	case KillAfter:
		_, err := l.forward(request, call)
		l.life.kill()
		return nil, errors.Join(errKilled, err)
	}
	return nil, fmt.Errorf("unknown action %v", fault.Action)
}

// forward sends the request and reads the whole answer, so that "answered" means that the effect is complete.
func (l *line) forward(request *http.Request, call Call) (*http.Response, error) {
	response, err := l.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	if l.target == KubeAPI && l.life.bystander != nil && response.StatusCode < http.StatusMultipleChoices {
		l.life.bystander(call)
	}
	return response, nil
}

// detach returns a copy of the request that does not end with its caller's context, and the body.
func detach(request *http.Request) (*http.Request, []byte, error) {
	sent := request.Clone(context.WithoutCancel(request.Context()))
	if request.Body == nil {
		return sent, nil, nil
	}
	body, err := io.ReadAll(request.Body)
	_ = request.Body.Close()
	if err != nil {
		return nil, nil, fmt.Errorf("reading the request's body: %w", err)
	}
	sent.Body = io.NopCloser(bytes.NewReader(body))
	return sent, body, nil
}
