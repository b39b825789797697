package lifecycle

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/nodes"
)

func TestAtMostEvery(t *testing.T) {
	now, calls, failure := after(0), 0, errors.New("away")
	list := atMostEvery(2*time.Second, func() time.Time { return now }, func(context.Context) ([]nodes.Server, error) {
		calls++
		if failure != nil {
			return nil, failure
		}
		return []nodes.Server{{Name: "one"}}, nil
	})
	_, err := list(t.Context())
	require.ErrorIs(t, err, failure)
	failure = nil
	for _, step := range []struct {
		seconds float64
		calls   int
	}{{0, 2}, {1, 2}, {2, 3}, {3, 3}} {
		now = after(step.seconds)
		servers, err := list(t.Context())
		require.NoError(t, err)
		assert.Equal(t, step.calls, calls, "calls after %v s", step.seconds)
		assert.Equal(t, []nodes.Server{{Name: "one"}}, servers)
		servers[0].KubernetesVersion = "changed"
	}
}
