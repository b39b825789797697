package conformance

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Behaviour is one thing that Trellis relies on or must survive.
type Behaviour struct {
	// Name is a sentence without a full stop.
	Name string
	// Check tries it. It leaves nothing behind.
	Check func(*Case)
}

// behaviour shortens the lists.
func behaviour(name string, check func(*Case)) Behaviour { return Behaviour{Name: name, Check: check} }

// Case is one behaviour being tried on one cloud.
type Case struct {
	*testing.T
	*cloudClient
	recorder *recorder

	// Member is a plain member of the project in which the behaviour is tried, Stranger one of another project. Operator is
	// an administrator.
	Member, OtherMember, Operator *Caller
	// Login is the member's, OtherLogin the stranger's.
	Login, OtherLogin Login
	// External is the network that routers and floating IPs can use.
	External Object
}

// waitTimeout bounds the wait for a state of the cloud. The pauses between two requests grow up to maxInterval: a fake is fast, and a real cloud must
// not be kept busy by requests.
const (
	waitTimeout   = 90 * time.Second
	firstInterval = 10 * time.Millisecond
	maxInterval   = 150 * time.Millisecond
)

// nextInterval is the pause after a pause.
func nextInterval(interval time.Duration) time.Duration { return min(2*interval, maxInterval) }

// WithoutRecording does something that is not part of the behaviour: it is not written down.
func (c *Case) WithoutRecording(do func()) {
	c.Helper()
	before := c.recorder.off
	c.recorder.off = true
	defer func() { c.recorder.off = before }()
	do()
}

// WaitUntil waits until something is so, quietly, and fails the case if it never is.
func (c *Case) WaitUntil(what string, condition func() bool) {
	c.Helper()
	c.WithoutRecording(func() {
		ctx, cancel := context.WithTimeout(c.Context(), waitTimeout)
		defer cancel()
		for interval := firstInterval; !condition(); interval = nextInterval(interval) {
			select {
			case <-ctx.Done():
				require.FailNow(c, "waited in vain until "+what)
			case <-time.After(interval):
			}
		}
	})
}

// SetPlaceholder gives an ID a word for the record.
func (c *Case) SetPlaceholder(id, word string) { c.recorder.placeholders.set(id, word) }

// LogIn logs in as somebody, quietly.
func (c *Case) LogIn(login Login) *Caller {
	c.Helper()
	caller, err := c.login(c.Context(), login)
	require.NoError(c, err)
	return c.bind(caller)
}

// bind lets a caller speak in this case.
func (c *Case) bind(caller *Caller) *Caller {
	bound := *caller
	bound.c = c
	return &bound
}

// DeleteAtCleanup deletes something at the end of the case, and insists that it is gone then. That it is gone already is fine.
func (c *Case) DeleteAtCleanup(caller *Caller, s Service, path string) {
	c.Cleanup(func() {
		// The case's own context has ended.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), waitTimeout)
		defer cancel()
		if err := c.remove(ctx, caller, s, path); err != nil {
			c.Errorf("cleaning up: %v", err)
		}
	})
}

// RequestAtCleanup makes a request at the end of the case. That what it is about is gone already is fine.
func (c *Case) RequestAtCleanup(caller *Caller, method string, s Service, path string, body any) {
	c.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), waitTimeout)
		defer cancel()
		response, err := c.exchange(ctx, caller, method, s, path, body, nil)
		switch {
		case err != nil:
			c.Errorf("cleaning up: %s %s %s: %v", method, s, path, err)
		case response.Status >= http.StatusBadRequest && response.Status != http.StatusNotFound:
			c.Errorf("cleaning up: %s: %d %s", response.request, response.Status, response.Raw)
		}
	})
}

// remove deletes something and waits until it is gone. A cloud that is still busy with it is asked again.
func (client *cloudClient) remove(ctx context.Context, caller *Caller, s Service, path string) error {
	for interval := firstInterval; ; interval = nextInterval(interval) {
		response, err := client.exchange(ctx, caller, http.MethodDelete, s, path, nil, nil)
		if err != nil {
			return fmt.Errorf("DELETE %s %s: %w", s, path, err)
		}
		if response.Status == http.StatusNotFound {
			return nil
		}
		busy := response.Status == http.StatusConflict || s == Volume && response.Status == http.StatusBadRequest
		if response.Status >= 400 && !busy {
			return fmt.Errorf("DELETE %s %s: %d %s", s, path, response.Status, response.Raw)
		}
		if response.Status == http.StatusNoContent && s != LoadBalancer && s != Compute {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("DELETE %s %s: %w after %d %s", s, path, ctx.Err(), response.Status, response.Raw)
		case <-time.After(interval):
		}
	}
}
