package seeds

import (
	"context"
	"fmt"
	"sync"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// Lines keeps a line to each seed that is asked for: its connection, its credentials, and whether it answers. What is wrong with one seed is not
// noticed at another. It is meant to live as long as the process.
type Lines struct {
	source  source
	options Options
	metrics *metrics

	mu    sync.Mutex
	lines map[string]*used
	swept time.Time
}

var _ Access = (*Lines)(nil)

// used is a line and when it was last asked for.
type used struct {
	*line

	at time.Time
}

func newLines(source source, options Options) (*Lines, error) {
	metrics, err := newMetrics(options.Registerer)
	if err != nil {
		return nil, fmt.Errorf("registering metrics of seeds: %w", err)
	}
	return &Lines{source: source, options: options, metrics: metrics, lines: map[string]*used{}, swept: options.Clock.Now()}, nil
}

// To implements Access.
func (l *Lines) To(ctx context.Context, seed *gardencorev1beta1.Seed) (*Cluster, error) {
	return l.line(seed.Name).to(ctx)
}

// Forget implements Access. Seeds that nobody asks for are forgotten after a while without it.
func (l *Lines) Forget(seed string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(seed)
}

func (l *Lines) line(seed string) *line {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep()
	u, ok := l.lines[seed]
	if !ok {
		u = &used{line: newLine(seed, l.source, l.options, l.metrics)}
		l.lines[seed] = u
	}
	u.at = l.options.Clock.Now()
	return u.line
}

// sweep drops the lines that nobody uses any more, now and then. The caller holds the lock.
func (l *Lines) sweep() {
	now := l.options.Clock.Now()
	if now.Sub(l.swept) < sweepEvery {
		return
	}
	l.swept = now
	for seed, u := range l.lines {
		if now.Sub(u.at) >= l.options.IdleTimeout {
			l.drop(seed)
		}
	}
}

// drop drops a line. The caller holds the lock.
func (l *Lines) drop(seed string) {
	u, ok := l.lines[seed]
	if !ok {
		return
	}
	delete(l.lines, seed)
	u.breaker.retire()
	u.keep(nil)
}
