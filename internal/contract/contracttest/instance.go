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

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Transport wraps the transport of a process under test.
type Transport func(http.RoundTripper) http.RoundTripper

// Program is the process under test: it adds controllers to a manager. It is called for each instance and MUST build
// everything anew, including sessions and drivers; every request to the cloud MUST use the transport. The manager's scheme has no
// types: the program registers those that its binary registers, by the same function.
type Program func(mgr manager.Manager, cloud Transport) error

// Host is the environment of processes: an API server, one namespace of it, and the faults of requests.
type Host struct {
	Server    *APIServer
	Namespace string
	Faults    *Faults
	Journal   *Journal
	// CacheTransform is that of the binary; nil for none.
	CacheTransform toolscache.TransformFunc
	// OnWrite may be nil. It is called with each write to the API server that has taken effect, before the process gets the
	// response, and simulates other components that react immediately. Calls are concurrent.
	OnWrite func(Call)
}

// Instance is one instance of a process, from its start until its manager ends or it is killed.
type Instance struct {
	faults  *Faults
	journal *Journal
	onWrite func(Call)

	cancel  context.CancelFunc
	killed  chan struct{}
	stopped chan struct{}
	failure error // of the manager; valid once stopped is closed

	mu         sync.Mutex
	terminated bool
	requests   int // under way
	inFlight   sync.WaitGroup
}

// Start starts an instance of the program. Its manager watches the namespace only.
func (h Host) Start(ctx context.Context, program Program) (*Instance, error) {
	ctx, cancel := context.WithCancel(ctx)
	instance := newInstance(h.Faults, h.Journal, cancel)
	instance.onWrite = h.OnWrite
	mgr, err := h.newManager(instance)
	if err == nil {
		err = program(mgr, instance.transport(Cloud))
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("starting the process: %w", err)
	}
	go func() {
		defer close(instance.stopped)
		if err := mgr.Start(ctx); err != nil {
			instance.failure = fmt.Errorf("running the manager: %w", err)
		}
	}()
	return instance, nil
}

func newInstance(faults *Faults, journal *Journal, cancel context.CancelFunc) *Instance {
	return &Instance{faults: faults, journal: journal, cancel: cancel, killed: make(chan struct{}), stopped: make(chan struct{})}
}

func (h Host) newManager(instance *Instance) (manager.Manager, error) {
	restConfig := rest.CopyConfig(h.Server.Config)
	restConfig.Wrap(func(base http.RoundTripper) http.RoundTripper { return instance.transport(KubeAPI)(base) })
	return manager.New(restConfig, manager.Options{
		Scheme:                  runtime.NewScheme(),
		MapperProvider:          h.Server.restMapper,
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{h.Namespace: {}}, DefaultTransform: h.CacheTransform},
		NewClient:               newUncachedClient,
		Logger:                  h.Journal.Logger(),
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:  "0",
		GracefulShutdownTimeout: new(stopTimeout),
		// controller-runtime keeps the names of all controllers of a process.
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
}

// newUncachedClient reads from the API server only, as in all of our binaries.
func newUncachedClient(config *rest.Config, options client.Options) (client.Client, error) {
	options.Cache = nil
	return client.New(config, options)
}

// stopTimeout bounds the end of a process.
const stopTimeout = 20 * time.Second

// Stop terminates the process and waits for its end.
func (l *Instance) Stop() error {
	l.cancel()
	select {
	case <-l.stopped:
		return l.failure
	case <-time.After(stopTimeout + time.Second):
		return errors.New("the process did not end when it was told to")
	}
}

// Killed is closed when the process was killed.
func (l *Instance) Killed() <-chan struct{} { return l.killed }

// WaitIdle waits until a killed process has no running requests.
func (l *Instance) WaitIdle() { l.inFlight.Wait() }

// IsIdle reports whether no write is running, including OnWrite and the response.
func (l *Instance) IsIdle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests == 0
}

// kill ends the process: no further requests are sent, and no responses arrive.
func (l *Instance) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.terminated {
		return
	}
	l.terminated = true
	close(l.killed)
	l.cancel()
}

// beginRequest admits a request unless the process was killed.
func (l *Instance) beginRequest() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.terminated {
		return false
	}
	l.inFlight.Add(1)
	l.requests++
	return true
}

func (l *Instance) endRequest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests--
	l.inFlight.Done()
}

func (l *Instance) transport(target Target) Transport {
	return func(base http.RoundTripper) http.RoundTripper {
		return &targetTransport{instance: l, target: target, base: base}
	}
}

// targetTransport is an instance's transport to one target.
type targetTransport struct {
	instance *Instance
	target   Target
	base     http.RoundTripper
}

type roundTripResult struct {
	response *http.Response
	err      error
}

// RoundTrip sends a tracked request detached from its caller: a request that was sent takes effect as a whole, even if the
// caller is killed or cancels, and only then the next instance starts.
func (l *targetTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if !isTracked(l.target, request) {
		return l.roundTripUntracked(request)
	}
	sent, body, err := detach(request)
	if err != nil {
		return nil, err
	}
	if !l.instance.beginRequest() {
		return nil, errKilled
	}
	call := callOf(l.target, request, body)
	fault := l.instance.faults.match(call)
	results := make(chan roundTripResult, 1)
	go func() {
		defer l.instance.endRequest()
		var a roundTripResult
		a.response, a.err = l.roundTripWithFault(sent, call, fault) //nolint:bodyclose // the caller closes it
		l.instance.journal.record(l.target, sent, fault, a)
		results <- a
	}()
	select {
	case <-l.instance.killed:
		return nil, errKilled
	case <-request.Context().Done():
		return nil, request.Context().Err()
	case a := <-results:
		return a.response, a.err
	}
}

func (l *targetTransport) roundTripUntracked(request *http.Request) (*http.Response, error) {
	select {
	case <-l.instance.killed:
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, errKilled
	default:
		return l.base.RoundTrip(request)
	}
}

func (l *targetTransport) roundTripWithFault(request *http.Request, call Call, fault *Fault) (*http.Response, error) {
	if fault == nil {
		return l.forward(request, call)
	}
	switch fault.Type {
	case ReturnError:
		return fault.Response(request), nil
	case ReturnErrorAfterEffect:
		if _, err := l.forward(request, call); err != nil {
			return nil, err
		}
		return fault.Response(request), nil
	case DropBefore:
		return nil, errDropped
	case DropAfter:
		if _, err := l.forward(request, call); err != nil {
			return nil, err
		}
		return nil, errDropped
	case KillBefore:
		l.instance.kill()
		return nil, errKilled
	case KillAfter:
		_, err := l.forward(request, call)
		l.instance.kill()
		return nil, errors.Join(errKilled, err)
	}
	return nil, fmt.Errorf("unknown action %v", fault.Type)
}

// forward sends the request and reads the whole response, so that the effect is complete when it returns.
func (l *targetTransport) forward(request *http.Request, call Call) (*http.Response, error) {
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
	if l.target == KubeAPI && l.instance.onWrite != nil && response.StatusCode < http.StatusMultipleChoices {
		l.instance.onWrite(call)
	}
	return response, nil
}

// detach returns a copy of the request that is independent of its caller's context, and the body.
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
