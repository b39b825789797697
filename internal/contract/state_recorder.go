package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/trellis-garden/trellis/internal/truncate"
)

const (
	// progressDelay is how long no progress is reported: most reconciliations have nothing to do and have ended by then.
	progressDelay = time.Second
	// progressInterval is the least time between two writes of nothing but progress.
	progressInterval = time.Second
	// stateInterval is the least time between a write of state and the next one in the background. A state is not lost meanwhile: what is
	// created before it is written was intended before, or is marked.
	stateInterval = time.Second / 4
	// retryInterval is the pause before a background write that failed is tried again.
	retryInterval = time.Second / 2
)

var errStateless = errors.New("this contract has no state")

// stateRecorder implements StateRecorder. One goroutine does all background writes.
type stateRecorder[O Object] struct {
	log       logr.Logger
	clock     clock.WithTicker
	writer    *statusWriter[O]
	operation gardencorev1beta1.LastOperationType
	stateless bool
	activity  *Activity

	mutex     sync.Mutex
	state     *runtime.RawExtension // nil: none was recorded
	dirty     bool                  // state is to be written
	stateFrom time.Time             // when state may be written in the background
	stateErr  error                 // why a state could not be stored

	writeRequests chan struct{}
}

func newStateRecorder[O Object](log logr.Logger, clock clock.WithTicker, writer *statusWriter[O], d decision, stateless bool) *stateRecorder[O] {
	t := &stateRecorder[O]{
		log: log, clock: clock, writer: writer, operation: d.operation, stateless: stateless,
		writeRequests: make(chan struct{}, 1),
	}
	t.activity = NewActivity(t.requestWrite)
	return t
}

func (t *stateRecorder[O]) RecordIntent(ctx context.Context, state any) error {
	if err := t.setState(state, false); err != nil {
		return err
	}
	if _, err := t.writer.write(ctx, t.withState); err != nil {
		return fmt.Errorf("recording what is about to be created: %w", err)
	}
	t.delayState(stateInterval)
	return nil
}

func (t *stateRecorder[O]) RecordState(state any) {
	if err := t.setState(state, true); err == nil {
		t.requestWrite()
	}
}

func (t *stateRecorder[O]) Run(ctx context.Context, graph *Graph) error {
	return graph.Run(ctx, t.log, t.activity)
}

func (t *stateRecorder[O]) setState(state any, dirty bool) error {
	raw, err := json.Marshal(state)
	if t.stateless {
		err = errStateless
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if err != nil {
		t.stateErr = fmt.Errorf("storing state: %w", err)
		return t.stateErr
	}
	t.state, t.dirty = &runtime.RawExtension{Raw: raw}, dirty
	return nil
}

// withState puts the latest state into known. It runs under the writer's lock, so that an older state never overwrites a newer one.
func (t *stateRecorder[O]) withState(known O) O {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.state != nil {
		known.GetExtensionStatus().SetState(t.state)
	}
	return known
}

func (t *stateRecorder[O]) withProgress(known O) O {
	progress, description := t.activity.Snapshot()
	if description == "" {
		description = fmt.Sprintf("%s under way", t.operation)
	}
	known.GetExtensionStatus().SetLastOperation(&gardencorev1beta1.LastOperation{
		Type:           t.operation,
		State:          gardencorev1beta1.LastOperationStateProcessing,
		Progress:       progress,
		Description:    description,
		LastUpdateTime: metav1.NewTime(t.clock.Now()),
	})
	return known
}

func (t *stateRecorder[O]) requestWrite() {
	select {
	case t.writeRequests <- struct{}{}:
	default:
	}
}

// runWithBackgroundWrites calls do and writes in the background until do returns. Then no write is in progress any more. A state that could not
// be stored is an error: another seed would need it.
func (t *stateRecorder[O]) runWithBackgroundWrites(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var background sync.WaitGroup
	background.Go(func() { t.writeInBackground(ctx) })
	err := do()
	cancel()
	background.Wait()
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return errors.Join(err, t.stateErr)
}

func (t *stateRecorder[O]) writeInBackground(ctx context.Context) {
	t.delayState(stateInterval)
	timer := t.clock.NewTimer(progressDelay)
	defer timer.Stop()
	progressFrom := t.clock.Now().Add(progressDelay)
	reported := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.writeRequests:
		case <-timer.C():
		}
		text := t.progressText()
		progressDue := !t.clock.Now().Before(progressFrom) && text != reported
		switch {
		case !t.takeDirty(progressDue) && !progressDue:
		case !t.writeStateAndProgress(ctx, progressDue):
			t.delayState(retryInterval)
		case progressDue:
			reported, progressFrom = text, t.clock.Now().Add(progressInterval)
		}
		timer.Reset(t.untilNextWrite(progressFrom))
	}
}

// delayState lets no state be written in the background for an interval.
func (t *stateRecorder[O]) delayState(interval time.Duration) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.stateFrom = t.clock.Now().Add(interval)
}

// untilNextWrite returns when there may be something to write without a request: a state that waits, progress, or either that failed.
func (t *stateRecorder[O]) untilNextWrite(progressFrom time.Time) time.Duration {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	next := progressFrom
	if t.dirty && t.stateFrom.Before(next) {
		next = t.stateFrom
	}
	if until := next.Sub(t.clock.Now()); until > 0 {
		return until
	}
	return retryInterval
}

// progressText is never empty, so that the first report differs from none.
func (t *stateRecorder[O]) progressText() string {
	progress, description := t.activity.Snapshot()
	return fmt.Sprintf("%d%% %s", progress, description)
}

// takeDirty reports whether a state is to be written now, which the caller does. A write of progress contains the state in any case.
func (t *stateRecorder[O]) takeDirty(withProgress bool) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !t.dirty || (!withProgress && t.clock.Now().Before(t.stateFrom)) {
		return false
	}
	t.dirty, t.stateFrom = false, t.clock.Now().Add(stateInterval)
	return true
}

func (t *stateRecorder[O]) writeStateAndProgress(ctx context.Context, withProgress bool) bool {
	_, err := t.writer.write(ctx, func(known O) O {
		known = t.withState(known)
		if withProgress {
			known = t.withProgress(known)
		}
		return known
	})
	if err != nil {
		t.mutex.Lock()
		t.dirty = t.state != nil
		t.mutex.Unlock()
		t.log.V(1).Info("Writing the status failed, retrying", "reason", truncate.Text(err.Error(), truncate.MaxStatus))
	}
	return err == nil
}
