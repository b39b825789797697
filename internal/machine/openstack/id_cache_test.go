package openstack

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/sets"
)

func TestIDCache_OneLookUpForConcurrentCallers(t *testing.T) {
	const names, callers = 100, 20
	cache := newIDCache(nil)
	var lookUps atomic.Int32
	for i := range names {
		name := fmt.Sprintf("name-%d", i)
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				found, err := cache.entry(t.Context(), "image", name, func(context.Context) (sets.Set[string], error) {
					lookUps.Add(1)
					return sets.New("id of " + name), nil
				})
				assert.NoError(t, err)
				assert.Equal(t, "id of "+name, found.id)
			})
		}
		all.Wait()
	}
	assert.EqualValues(t, names, lookUps.Load())
}
