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
	// silence is how long a pass keeps its progress to itself: most reconciles find nothing to do and are over by then.
	silence = time.Second
	// progressInterval is the least time between two writes of nothing but progress.
	progressInterval = time.Second
	// retryInterval is the pause before a background write that failed is tried again.
	retryInterval = time.Second / 2
)

var errStateless = errors.New("this contract keeps no state")

// track implements Track. Its one goroutine does all writing that nobody waits for.
type track[O Object] struct {
	log       logr.Logger
	clock     clock.WithTicker
	writer    *statusWriter[O]
	operation gardencorev1beta1.LastOperationType
	stateless bool
	activity  *Activity

	mutex sync.Mutex
	state *runtime.RawExtension // nil: the pass has not set one
	dirty bool                  // state is to be written
	lost  error                 // why a state could not be kept

	kick chan struct{}
}

func newTrack[O Object](log logr.Logger, clock clock.WithTicker, writer *statusWriter[O], d decision, stateless bool) *track[O] {
	t := &track[O]{
		log: log, clock: clock, writer: writer, operation: d.operation, stateless: stateless,
		kick: make(chan struct{}, 1),
	}
	t.activity = NewActivity(t.wake)
	return t
}

func (t *track[O]) Intend(ctx context.Context, state any) error {
	if err := t.keep(state, false); err != nil {
		return err
	}
	if _, _, err := t.writer.write(ctx, t.withState); err != nil {
		return fmt.Errorf("recording what is about to be created: %w", err)
	}
	return nil
}

func (t *track[O]) Achieved(state any) {
	if err := t.keep(state, true); err == nil {
		t.wake()
	}
}

func (t *track[O]) Run(ctx context.Context, graph *Graph) error {
	return graph.Run(ctx, t.log, t.activity)
}

func (t *track[O]) keep(state any, dirty bool) error {
	raw, err := json.Marshal(state)
	if t.stateless {
		err = errStateless
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if err != nil {
		t.lost = fmt.Errorf("keeping state: %w", err)
		return t.lost
	}
	t.state, t.dirty = &runtime.RawExtension{Raw: raw}, dirty
	return nil
}

// withState puts the latest state into known. It runs under the writer's lock, so that writes never go back in time.
func (t *track[O]) withState(known O) O {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.state != nil {
		known.GetExtensionStatus().SetState(t.state)
	}
	return known
}

func (t *track[O]) withProgress(known O) O {
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

func (t *track[O]) wake() {
	select {
	case t.kick <- struct{}{}:
	default:
	}
}

// during calls do and meanwhile writes in the background. When it returns, no write is under way any more. A state that
// could not be kept is an error: another seed would miss it.
func (t *track[O]) during(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var background sync.WaitGroup
	background.Go(func() { t.writeAlong(ctx) })
	err := do()
	cancel()
	background.Wait()
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return errors.Join(err, t.lost)
}

func (t *track[O]) writeAlong(ctx context.Context) {
	timer := t.clock.NewTimer(silence)
	defer timer.Stop()
	speakFrom := t.clock.Now().Add(silence)
	reported := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.kick:
		case <-timer.C():
		}
		speaks := !t.clock.Now().Before(speakFrom)
		if !t.takeDirty() && (!speaks || reported == t.news()) {
			t.rearm(timer, speakFrom)
			continue
		}
		news := t.news()
		if t.writeNews(ctx, speaks) && speaks {
			reported, speakFrom = news, t.clock.Now().Add(progressInterval)
		}
		t.rearm(timer, speakFrom)
	}
}

// rearm sets the timer for the next moment at which progress may be written, or a failed write be repeated.
func (t *track[O]) rearm(timer clock.Timer, speakFrom time.Time) {
	timer.Reset(max(speakFrom.Sub(t.clock.Now()), retryInterval))
}

// news is never empty, so that the first thing said is news.
func (t *track[O]) news() string {
	progress, description := t.activity.Snapshot()
	return fmt.Sprintf("%d%% %s", progress, description)
}

func (t *track[O]) takeDirty() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	dirty := t.dirty
	t.dirty = false
	return dirty
}

func (t *track[O]) writeNews(ctx context.Context, withProgress bool) bool {
	_, _, err := t.writer.write(ctx, func(known O) O {
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
