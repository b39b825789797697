package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/testenv"
)

// statusHistory sees all versions of all Infrastructures by a watch. It records each version in which a part of the status is older than in the version
// before, or gone: somebody has written over it what they had read earlier.
type statusHistory struct {
	lock     sync.Mutex
	last     map[string]*extensionsv1alpha1.Infrastructure // by namespace
	checks   map[string]int64                              // numbers of the library's checks
	versions int
	lost     []string
}

// recordStatusHistory records until the end of the test. An API server ends watches of slow clients, which continue from the last version.
func recordStatusHistory(t *testing.T, env *testenv.Env) *statusHistory {
	t.Helper()
	c, err := client.NewWithWatch(env.Seed.Config, client.Options{Scheme: kubernetes.SeedScheme})
	require.NoError(t, err)
	list := &extensionsv1alpha1.InfrastructureList{}
	require.NoError(t, c.List(t.Context(), list))
	watcher, err := toolswatch.NewRetryWatcherWithContext(t.Context(), list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, &extensionsv1alpha1.InfrastructureList{}, &client.ListOptions{Raw: &raw})
		},
	})
	require.NoError(t, err)
	h := &statusHistory{last: map[string]*extensionsv1alpha1.Infrastructure{}, checks: map[string]int64{}}
	for i := range list.Items {
		h.note(&list.Items[i])
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for event := range watcher.ResultChan() {
			switch object := event.Object.(type) {
			case *extensionsv1alpha1.Infrastructure:
				h.note(object)
			case *metav1.Status:
				h.fail(object.Message)
			}
		}
	}()
	t.Cleanup(func() {
		watcher.Stop()
		<-ended
	})
	return h
}

// fail records that versions may be missing.
func (h *statusHistory) fail(message string) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.lost = append(h.lost, "the watch has ended: "+message)
}

func (h *statusHistory) note(now *extensionsv1alpha1.Infrastructure) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.versions++
	if before := h.last[now.Namespace]; before != nil {
		for _, what := range lostBetween(before.Status.DefaultStatus, now.Status.DefaultStatus) {
			h.lost = append(h.lost, fmt.Sprintf("%s at version %s: %s", now.Namespace, now.ResourceVersion, what))
		}
	}
	h.last[now.Namespace] = now
	if condition := v1beta1helper.GetCondition(now.Status.Conditions, libraryCondition); condition != nil {
		h.checks[now.Namespace] = checkOf(*condition)
	}
}

// lostBetween compares two versions that follow each other. Times of a status have a resolution of a second, and the library's checks have numbers.
func lostBetween(before, now extensionsv1alpha1.DefaultStatus) []string {
	var lost []string
	if before.LastOperation != nil && (now.LastOperation == nil || now.LastOperation.LastUpdateTime.Before(&before.LastOperation.LastUpdateTime)) {
		lost = append(lost, "lastOperation")
	}
	if now.ObservedGeneration < before.ObservedGeneration {
		lost = append(lost, "observedGeneration")
	}
	for _, was := range before.Conditions {
		is := v1beta1helper.GetCondition(now.Conditions, was.Type)
		if is == nil || is.LastUpdateTime.Before(&was.LastUpdateTime) || was.Type == libraryCondition && checkOf(*is) < checkOf(was) {
			lost = append(lost, "condition "+string(was.Type))
		}
	}
	return lost
}

// checkOf returns the number of the library's check that a condition reports; 0 if it reports none.
func checkOf(condition gardencorev1beta1.Condition) (number int64) {
	var round int64
	_, _ = fmt.Sscanf(condition.Message, libraryMessage, &round, &number)
	return number
}

// checkedSince returns how many objects have been written by the library's checks after the one with a number.
func (h *statusHistory) checkedSince(number int64) (count int) {
	h.lock.Lock()
	defer h.lock.Unlock()
	for _, last := range h.checks {
		if last > number {
			count++
		}
	}
	return count
}

// all calls a function with the last version of each object.
func (h *statusHistory) all(do func(*extensionsv1alpha1.Infrastructure)) {
	h.lock.Lock()
	defer h.lock.Unlock()
	for _, now := range h.last {
		do(now)
	}
}
