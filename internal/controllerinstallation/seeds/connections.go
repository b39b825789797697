package seeds

import (
	"context"
	"fmt"
	"sync"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// Connections holds the connection to each seed in use, with its credentials and its circuit breaker. Failures of one seed do not affect others. It
// should live as long as the process.
type Connections struct {
	source  source
	options Options
	metrics *metrics

	mu        sync.Mutex
	bySeed    map[string]*trackedConnection
	lastSweep time.Time
}

var _ Access = (*Connections)(nil)

// trackedConnection is a connection and the time of its last use.
type trackedConnection struct {
	*seedConnection

	usedAt time.Time
}

func newConnections(source source, options Options) (*Connections, error) {
	metrics, err := newMetrics(options.Registerer)
	if err != nil {
		return nil, fmt.Errorf("registering metrics of seeds: %w", err)
	}
	return &Connections{source: source, options: options, metrics: metrics, bySeed: map[string]*trackedConnection{}, lastSweep: options.Clock.Now()}, nil
}

// Connect implements Access.
func (c *Connections) Connect(ctx context.Context, seed *gardencorev1beta1.Seed) (*Cluster, error) {
	return c.get(seed.Name).connect(ctx)
}

// Forget implements Access. Seeds that are not used are also forgotten after a while.
func (c *Connections) Forget(seed string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(seed)
}

func (c *Connections) get(seed string) *seedConnection {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep()
	u, ok := c.bySeed[seed]
	if !ok {
		u = &trackedConnection{seedConnection: newSeedConnection(seed, c.source, c.options, c.metrics)}
		c.bySeed[seed] = u
	}
	u.usedAt = c.options.Clock.Now()
	return u.seedConnection
}

// sweep drops connections that are not used any more, at intervals. The caller holds the lock.
func (c *Connections) sweep() {
	now := c.options.Clock.Now()
	if now.Sub(c.lastSweep) < sweepInterval {
		return
	}
	c.lastSweep = now
	for seed, u := range c.bySeed {
		if now.Sub(u.usedAt) >= c.options.IdleTimeout {
			c.drop(seed)
		}
	}
}

// drop drops a connection. The caller holds the lock.
func (c *Connections) drop(seed string) {
	u, ok := c.bySeed[seed]
	if !ok {
		return
	}
	delete(c.bySeed, seed)
	u.breaker.retire()
	u.setState(nil)
}
