package contract

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// length is a queue of a length.
type length int

func (l length) Len() int { return int(l) }

func requestOf(namespace string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: "shoot"}}
}

// filledTracker returns the tracker of a controller with two running and three waiting objects.
func filledTracker(clock *clocktesting.FakeClock) *Tracker {
	tracker := &Tracker{}
	c := tracker.add("infrastructure", clock)
	c.setQueue(length(7))
	for _, namespace := range []string{"b", "a", "never", "again"} {
		c.begin(requestOf(namespace))
	}
	c.end(requestOf("b"), reconcile.Result{}, errors.New("quota\nexceeded"))
	c.retryIn(requestOf("b"), 20*time.Second)
	c.end(requestOf("a"), reconcile.Result{RequeueAfter: 20 * time.Second}, nil)
	c.end(requestOf("never"), reconcile.Result{}, nil)
	c.retryIn(requestOf("never"), time.Second) // of another reconciliation that has succeeded since
	c.end(requestOf("again"), reconcile.Result{}, errors.New("first"))
	c.retryIn(requestOf("again"), 2*time.Second)

	clock.Step(5 * time.Second)
	c.begin(requestOf("again"))
	activity := NewActivity(nil)
	activity.begin(3)
	activity.start("ensuring network")
	activity.finish("ensuring network", true)
	activity.start("ensuring router")
	activity.start("ensuring key pair")
	activity.wait("ensuring router", "it has no external address yet")
	c.accepted(requestOf("again"), gardencorev1beta1.LastOperationTypeCreate, activity)
	clock.Step(5 * time.Second)
	c.begin(requestOf("new"))
	c.begin(requestOf("failed"))
	c.end(requestOf("failed"), reconcile.Result{}, errors.New("just now"))
	return tracker
}

func TestTracker_Report(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("CET", 3600))
	tracker := filledTracker(clocktesting.NewFakeClock(start))
	got, err := json.MarshalIndent(tracker.Report(), "", "  ")
	require.NoError(t, err)
	assert.JSONEq(t, `[{
  "contract": "infrastructure",
  "queueLength": 7,
  "running": [
    {"namespace": "again", "name": "shoot", "operation": "Create", "since": "2026-01-02T02:04:10Z", "tasksDone": 1, "tasksPlanned": 3,
     "tasks": [{"name": "ensuring router", "waitsFor": "it has no external address yet"}, {"name": "ensuring key pair"}],
     "failures": 1, "lastError": "first"},
    {"namespace": "new", "name": "shoot", "since": "2026-01-02T02:04:15Z", "tasksDone": 0, "tasksPlanned": 0, "tasks": [], "failures": 0}
  ],
  "waiting": [
    {"namespace": "failed", "name": "shoot", "nextAttempt": "2026-01-02T02:04:15Z", "failures": 1, "lastError": "just now"},
    {"namespace": "a", "name": "shoot", "nextAttempt": "2026-01-02T02:04:25Z", "failures": 0},
    {"namespace": "b", "name": "shoot", "nextAttempt": "2026-01-02T02:04:25Z", "failures": 1, "lastError": "quota\nexceeded"}
  ]
}]`, string(got))

	for range 20 { // the same at each call, whatever the order of a map
		again, err := json.MarshalIndent(tracker.Report(), "", "  ")
		require.NoError(t, err)
		require.Equal(t, string(got), string(again))
	}
}

func TestTracker_Text(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	tracker := filledTracker(clock)
	tracker.add("worker", clock)
	var page strings.Builder
	writeReports(&page, tracker.Report(), clock.Now().Add(2*time.Second))
	assert.Equal(t, `infrastructure: 2 running, 7 queued, 3 waiting for the next attempt

RUNNING      OPERATION  FOR  TASKS  FAILURES  TASK
again/shoot  Create     7s   1/3    1         ensuring router (it has no external address yet), ensuring key pair
new/shoot    -          2s   0/0    0         -

WAITING       NEXT ATTEMPT  FAILURES  LAST ERROR
failed/shoot  in 0s         1         just now
a/shoot       in 8s         0         -
b/shoot       in 8s         1         quota exceeded

worker: 0 running, 0 queued, 0 waiting for the next attempt
`, page.String())
}
