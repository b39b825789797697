package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr/testr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statusStore is an API server that has the status of one object, and the time of each write of it.
type statusStore struct {
	client.Client
	started time.Time

	mutex  sync.Mutex
	writes []string
	// refused is the number of writes that fail next.
	refused int
}

// statusStoreWriter writes the status of a statusStore.
type statusStoreWriter struct {
	client.SubResourceWriter
	*statusStore
}

func (s *statusStore) Status() client.SubResourceWriter { return statusStoreWriter{statusStore: s} }

// Get implements client.Reader for the read after a failed write: nothing was stored.
func (s *statusStore) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return nil
}

func (s statusStoreWriter) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.refused > 0 {
		s.refused--
		return errors.New("the API server is overloaded")
	}
	raw, err := patch.Data(object)
	if err != nil {
		return err
	}
	var sent struct {
		Status struct {
			State         json.RawMessage `json:"state"`
			LastOperation *struct{}       `json:"lastOperation"`
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &sent); err != nil {
		return err
	}
	what := fmt.Sprintf("%s state %s", time.Since(s.started), sent.Status.State)
	if sent.Status.LastOperation != nil {
		what += " with progress"
	}
	s.writes = append(s.writes, what)
	return nil
}

// The times are those of a simulated clock.
func TestStateRecorder_Writes(t *testing.T) {
	for sentence, test := range map[string]struct {
		do      func(ctx context.Context, recorder StateRecorder) error
		refused int
		want    []string
	}{
		"writes no state of a short reconciliation in the background": {
			do: func(ctx context.Context, recorder StateRecorder) error {
				err := recorder.RecordIntent(ctx, 0)
				recorder.RecordState(1)
				time.Sleep(249 * time.Millisecond)
				recorder.RecordState(2)
				return err
			},
			want: []string{"0s state 0"},
		},
		"writes the latest of many states, once in 250 ms": {
			do: func(_ context.Context, recorder StateRecorder) error {
				time.Sleep(5 * time.Millisecond)
				for n := range 70 {
					recorder.RecordState(n)
					time.Sleep(10 * time.Millisecond)
				}
				return nil
			},
			want: []string{"250ms state 24", "500ms state 49"},
		},
		"writes a state 250 ms after the intents": {
			do: func(ctx context.Context, recorder StateRecorder) error {
				time.Sleep(200 * time.Millisecond)
				err := recorder.RecordIntent(ctx, 0)
				recorder.RecordState(1)
				time.Sleep(300 * time.Millisecond)
				return err
			},
			want: []string{"200ms state 0", "450ms state 1"},
		},
		"writes a state at once if none was written for 250 ms": {
			do: func(_ context.Context, recorder StateRecorder) error {
				time.Sleep(400 * time.Millisecond)
				recorder.RecordState(1)
				time.Sleep(time.Millisecond)
				return nil
			},
			want: []string{"400ms state 1"},
		},
		"writes progress after a second, and a state with it": {
			do: func(_ context.Context, recorder StateRecorder) error {
				time.Sleep(800 * time.Millisecond)
				recorder.RecordState(1)
				time.Sleep(100 * time.Millisecond)
				recorder.RecordState(2)
				time.Sleep(400 * time.Millisecond)
				return nil
			},
			want: []string{"800ms state 1", "1s state 2 with progress"},
		},
		"retries a failed write after 500 ms": {
			do: func(_ context.Context, recorder StateRecorder) error {
				recorder.RecordState(1)
				time.Sleep(800 * time.Millisecond)
				return nil
			},
			refused: 1,
			want:    []string{"750ms state 1"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				newObject := func() *extensionsv1alpha1.Infrastructure { return &extensionsv1alpha1.Infrastructure{} }
				store := &statusStore{started: time.Now(), refused: test.refused}
				writer := &statusWriter[*extensionsv1alpha1.Infrastructure]{client: store, reader: store, empty: newObject, known: newObject()}
				recorder := newStateRecorder(testr.New(t), clock.RealClock{}, writer,
					decision{operation: gardencorev1beta1.LastOperationTypeCreate}, false)
				require.NoError(t, recorder.runWithBackgroundWrites(t.Context(), func() error { return test.do(t.Context(), recorder) }))
				assert.Equal(t, test.want, store.writes)
			})
		})
	}
}
