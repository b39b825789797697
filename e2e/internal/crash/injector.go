// Package crash provides proxies between a process and its API servers, and reports when the process is to be killed: at its n-th write, counted
// over all API servers, either before the write has reached the API server, or after it took effect and before the process gets the response.
// From then on no request or response passes, so the caller may kill the process at any later time. The package must not depend on the
// process or its objects.
package crash

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Phase is when a process is to be killed.
type Phase string

const (
	// Before the write has reached the API server.
	Before Phase = "before"
	// After the write took effect, without a response.
	After Phase = "after"
)

// Write is a request that changes an object, except Leases and Events, whose number depends on time, reviews, which are creations without an
// object, and dry runs.
type Write struct {
	// Server is the name of the API server's proxy.
	Server, Method, Path string
}

// String describes the write in one line.
func (w Write) String() string { return w.Server + ": " + w.Method + " " + w.Path }

// Injector counts the writes of one process at a time. Unless it is set, all requests pass.
type Injector struct {
	closed chan struct{}

	mutex   sync.Mutex
	proxies []*Proxy
	run     *Run
}

// NewInjector returns an injector without proxies. Close closes all of its proxies.
func NewInjector() *Injector {
	return &Injector{closed: make(chan struct{}), run: newRun(0, Before)}
}

// Set begins a run: the process that is started next is to be killed at its n-th write, counted from 1, or never if n is 0. Pending requests of
// earlier processes are blocked.
func (t *Injector) Set(n int, phase Phase) *Run {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.run = newRun(n, phase)
	return t.run
}

// Close closes all proxies.
func (t *Injector) Close() error {
	close(t.closed)
	t.mutex.Lock()
	proxies := t.proxies
	t.mutex.Unlock()
	var failures []error
	for _, front := range proxies { // who connects meanwhile still asks for the present life
		if err := front.server.Close(); err != nil && !errors.Is(err, http.ErrServerClosed) {
			failures = append(failures, fmt.Errorf("ending the front of %s: %w", front.name, err))
		}
	}
	return errors.Join(failures...)
}

func (t *Injector) currentRun() *Run {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.run
}

// Run is the run of one process.
type Run struct {
	last    int // write
	phase   Phase
	reached chan struct{}

	mutex  sync.Mutex
	writes []Write
}

func newRun(last int, phase Phase) *Run {
	return &Run{last: last, phase: phase, reached: make(chan struct{})}
}

// Reached is closed when the process is to be killed.
func (l *Run) Reached() <-chan struct{} { return l.reached }

// Writes are the writes so far, including the last one, whether or not it took effect.
func (l *Run) Writes() []Write {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Clone(l.writes)
}

// decision says how a request is handled.
type decision int

const (
	forward    decision = iota
	hold                // for ever
	killBefore          // now, which springs the trap
	killAfter           // when it has had its effect
)

// decide counts a write.
func (l *Run) decide(write *Write) decision {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	switch {
	case l.isOver():
		return hold
	case write == nil:
		return forward
	case l.last > 0 && len(l.writes) == l.last:
		return hold // the last one is on its way
	}
	l.writes = append(l.writes, *write)
	switch {
	case len(l.writes) != l.last:
		return forward
	case l.phase == Before:
		close(l.reached)
		return killBefore
	default:
		return killAfter
	}
}

func (l *Run) end() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if !l.isOver() {
		close(l.reached)
	}
}

func (l *Run) isOver() bool {
	select {
	case <-l.reached:
		return true
	default:
		return false
	}
}

// writeOf reports whether a request is a write.
func writeOf(server string, request *http.Request) *Write {
	switch request.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return nil
	}
	if request.URL.Query().Has("dryRun") {
		return nil
	}
	for element := range strings.SplitSeq(request.URL.Path, "/") {
		switch element {
		case "authentication.k8s.io", "authorization.k8s.io", "leases", "events":
			return nil
		}
	}
	return &Write{Server: server, Method: request.Method, Path: request.URL.Path}
}
