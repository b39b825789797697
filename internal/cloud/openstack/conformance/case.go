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
	*line
	recorder *recorder

	// Member is a plain member of the project in which the behaviour is tried, Stranger one of another project. Operator is
	// an administrator.
	Member, Stranger, Operator *Caller
	// Login is the member's, StrangersLogin the stranger's.
	Login, StrangersLogin Login
	// External is the network that routers and floating IPs can use.
	External Object
}

// patience is how long a cloud may take for what it does by and by. The pauses between two looks grow up to the longest: a fake is
// done at once, and a real cloud has other things to do than to answer.
const (
	patience     = 90 * time.Second
	firstPause   = 10 * time.Millisecond
	longestPause = 150 * time.Millisecond
)

// longer is the pause after a pause.
func longer(pause time.Duration) time.Duration { return min(2*pause, longestPause) }

// Quietly does something that is not part of the behaviour: it is not written down.
func (c *Case) Quietly(do func()) {
	c.Helper()
	before := c.recorder.off
	c.recorder.off = true
	defer func() { c.recorder.off = before }()
	do()
}

// Until waits until something is so, quietly, and fails the case if it never is.
func (c *Case) Until(what string, so func() bool) {
	c.Helper()
	c.Quietly(func() {
		ctx, cancel := context.WithTimeout(c.Context(), patience)
		defer cancel()
		for pause := firstPause; !so(); pause = longer(pause) {
			select {
			case <-ctx.Done():
				require.FailNow(c, "waited in vain until "+what)
			case <-time.After(pause):
			}
		}
	})
}

// Named gives an ID a word for the record.
func (c *Case) Named(id, word string) { c.recorder.words.name(id, word) }

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

// Remove deletes something at the end of the case, and insists that it is gone then. That it is gone already is fine.
func (c *Case) Remove(who *Caller, s Service, path string) {
	c.Cleanup(func() {
		// The case's own context has ended.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), patience)
		defer cancel()
		if err := c.remove(ctx, who, s, path); err != nil {
			c.Errorf("cleaning up: %v", err)
		}
	})
}

// AtEnd makes a request at the end of the case. That what it is about is gone already is fine.
func (c *Case) AtEnd(who *Caller, method string, s Service, path string, body any) {
	c.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), patience)
		defer cancel()
		answer, err := c.exchange(ctx, who, method, s, path, body, nil)
		switch {
		case err != nil:
			c.Errorf("cleaning up: %s %s %s: %v", method, s, path, err)
		case answer.Status >= http.StatusBadRequest && answer.Status != http.StatusNotFound:
			c.Errorf("cleaning up: %s: %d %s", answer.request, answer.Status, answer.Raw)
		}
	})
}

// remove deletes something and waits until it is gone. A cloud that is still busy with it is asked again.
func (l *line) remove(ctx context.Context, who *Caller, s Service, path string) error {
	for pause := firstPause; ; pause = longer(pause) {
		answer, err := l.exchange(ctx, who, http.MethodDelete, s, path, nil, nil)
		if err != nil {
			return fmt.Errorf("DELETE %s %s: %w", s, path, err)
		}
		if answer.Status == http.StatusNotFound {
			return nil
		}
		busy := answer.Status == http.StatusConflict || s == Volume && answer.Status == http.StatusBadRequest
		if answer.Status >= 400 && !busy {
			return fmt.Errorf("DELETE %s %s: %d %s", s, path, answer.Status, answer.Raw)
		}
		if answer.Status == http.StatusNoContent && s != LoadBalancer && s != Compute {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("DELETE %s %s: %w after %d %s", s, path, ctx.Err(), answer.Status, answer.Raw)
		case <-time.After(pause):
		}
	}
}
