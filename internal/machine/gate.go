package machine

import (
	"context"
	"fmt"
	"sync"
)

// Gate permits changes until it is closed. Later ones block until the end of the process: an error would be written to Machines as their failure. The zero
// value is open. It is safe for concurrent use.
type Gate struct {
	mu       sync.Mutex
	inFlight int           // running changes
	closed   chan struct{} // nil while the gate is open; closed itself after the last change
}

// Run makes a change, and returns its error. If the gate is closed, the change is not made, and the error is that of the context.
func (g *Gate) Run(ctx context.Context, change func() error) error {
	if !g.enter() {
		<-ctx.Done()
		return ctx.Err()
	}
	defer g.leave()
	return change()
}

func (g *Gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed != nil {
		return false
	}
	g.inFlight++
	return true
}

func (g *Gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight--
	if g.closed != nil && g.inFlight == 0 {
		close(g.closed)
	}
}

// Close prevents further changes, and returns when running ones have ended.
func (g *Gate) Close(ctx context.Context) error {
	g.mu.Lock()
	if g.closed == nil {
		g.closed = make(chan struct{})
		if g.inFlight == 0 {
			close(g.closed)
		}
	}
	closed := g.closed
	g.mu.Unlock()
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for changes under way: %w", ctx.Err())
	}
}
