package rollouts

import (
	"context"
	"testing"

	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// watchAll hands over every change of the objects of a kind, in the order in which they happened, until the test ends. There must be none yet.
func watchAll(
	t *testing.T, config *rest.Config, scheme *runtime.Scheme, list client.ObjectList, take func(watch.EventType, client.Object), options ...client.ListOption,
) {
	t.Helper()
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	require.NoError(t, c.List(t.Context(), list, options...))
	watcher, err := toolswatch.NewRetryWatcherWithContext(t.Context(), list.GetResourceVersion(), &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, list, append(options, &client.ListOptions{Raw: &raw})...)
		},
	})
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for event := range watcher.ResultChan() {
			if object, is := event.Object.(client.Object); is && event.Type != watch.Bookmark {
				take(event.Type, object)
			}
		}
	}()
	t.Cleanup(func() {
		watcher.Stop()
		<-ended
	})
}

func seedScheme() *runtime.Scheme   { return kubernetes.SeedScheme }
func gardenScheme() *runtime.Scheme { return kubernetes.GardenScheme }
