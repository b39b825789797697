package lifecycle

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/nodes"
)

// realCloudInterval is how often a real cloud is asked for servers: each list costs it a tenth of a second of a processor.
const realCloudInterval = 2 * time.Second

// atMostEvery returns a function that lists servers again when the last list is older than an interval. Errors are not kept.
func atMostEvery(
	interval time.Duration, now func() time.Time, list func(context.Context) ([]nodes.Server, error),
) func(context.Context) ([]nodes.Server, error) {
	var lock sync.Mutex
	var last []nodes.Server
	var at time.Time
	return func(ctx context.Context) ([]nodes.Server, error) {
		lock.Lock()
		defer lock.Unlock()
		if !at.IsZero() && now().Sub(at) < interval {
			return slices.Clone(last), nil // callers change it
		}
		servers, err := list(ctx)
		if err != nil {
			return nil, err
		}
		last, at = servers, now()
		return slices.Clone(last), nil
	}
}
