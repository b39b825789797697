package aws

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud"
)

const (
	// visibleAfter is how long after its creation a resource may be unknown to other requests of EC2: usually a second, seldom some ("eventual consistency",
	// EC2's API reference).
	visibleAfter = time.Minute
	// visibilityAttempts is how often a request is made until it sees a new resource, with pauses from a quarter of a second, each twice as long.
	visibilityAttempts = 6
	firstVisibility    = 250 * time.Millisecond
)

// creations remembers what a session has created within the last minute. It is safe for concurrent use.
type creations struct {
	mu   sync.Mutex
	when map[string]time.Time
}

func newCreations() *creations { return &creations{when: map[string]time.Time{}} }

// add records a new resource.
func (c *creations) add(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for known, at := range c.when {
		if now.Sub(at) > visibleAfter {
			delete(c.when, known)
		}
	}
	c.when[id] = now
}

// explain reports whether an error says that a resource does not exist which was created just now, and changes its kind: the resource is not visible yet.
func (c *creations) explain(err *cloud.Error, about []string) bool {
	if err.Kind != cloud.NotFound || isAboutPart(CodeOf(err)) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range about {
		if at, known := c.when[id]; known && time.Since(at) <= visibleAfter {
			err.Kind, err.Message = cloud.Unavailable, id+" was created just now, and AWS does not see it yet"
			return true
		}
	}
	return false
}

// isAboutPart reports whether a code says that something of a resource is missing, so that AWS sees the resource itself.
func isAboutPart(code string) bool {
	return slices.Contains([]string{"InvalidPermission.NotFound", "InvalidRoute.NotFound", "Gateway.NotAttached"}, code)
}

// remove forgets a resource that was deleted: it is not found any more.
func (c *creations) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.when, id)
}

// pause waits before the attempt after the given one, and reports whether there is to be one.
func pause(ctx context.Context, attempt int) bool {
	if attempt >= visibilityAttempts {
		return false
	}
	timer := time.NewTimer(firstVisibility << (attempt - 1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
