//go:build kind

package kind

import (
	"slices"
	"sync"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statusHistory records all status changes of all Infrastructures, by a watch.
type statusHistory struct {
	lock      sync.Mutex
	errors    []string
	codes     []string
	succeeded map[string]time.Time // by namespace, when that was said first
}

// recordStatusHistory records until the end of the test.
func (env *environment) recordStatusHistory(t *testing.T) *statusHistory {
	t.Helper()
	watcher, err := client.NewWithWatch(env.Config, client.Options{Scheme: kubernetes.SeedScheme})
	require.NoError(t, err)
	list := &extensionsv1alpha1.InfrastructureList{}
	require.NoError(t, watcher.List(t.Context(), list))
	changes, err := watcher.Watch(t.Context(), &extensionsv1alpha1.InfrastructureList{}, &client.ListOptions{
		Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion},
	})
	require.NoError(t, err)
	d := &statusHistory{succeeded: map[string]time.Time{}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for event := range changes.ResultChan() {
			if infrastructure, is := event.Object.(*extensionsv1alpha1.Infrastructure); is {
				d.note(infrastructure)
			}
		}
	}()
	t.Cleanup(func() {
		changes.Stop()
		<-ended
	})
	return d
}

func (d *statusHistory) note(infrastructure *extensionsv1alpha1.Infrastructure) {
	d.lock.Lock()
	defer d.lock.Unlock()
	last := infrastructure.Status.LastOperation
	if failure := infrastructure.Status.LastError; failure != nil {
		message := infrastructure.Namespace + ": " + failure.Description
		if !slices.Contains(d.errors, message) {
			d.errors = append(d.errors, message)
		}
		for _, code := range failure.Codes {
			d.codes = append(d.codes, string(code)+" "+message)
		}
	}
	if last == nil || last.State != gardencorev1beta1.LastOperationStateSucceeded || last.Type == gardencorev1beta1.LastOperationTypeDelete {
		return
	}
	if _, known := d.succeeded[infrastructure.Namespace]; !known {
		d.succeeded[infrastructure.Namespace] = time.Now()
	}
}

// countSucceeded counts the shoots whose operation succeeded before a time.
func (d *statusHistory) countSucceeded(before time.Time) int {
	d.lock.Lock()
	defer d.lock.Unlock()
	count := 0
	for _, when := range d.succeeded {
		if when.Before(before) {
			count++
		}
	}
	return count
}

// requireNoError requires that no status ever reported an error.
func (d *statusHistory) requireNoError(t *testing.T) {
	t.Helper()
	d.lock.Lock()
	defer d.lock.Unlock()
	assert.Empty(t, d.codes, "errors that count as a user's")
	assert.Empty(t, d.errors, "errors that were ever in a status")
}
