package contract

import (
	"slices"
	"strings"
	"sync"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// Tracker tells what the contracts' controllers of a process are working on and what waits for its next attempt. The zero value is ready for use; a
// controller reports to the Tracker in its Options. Tracker implements http.Handler, see ServeHTTP.
type Tracker struct {
	mutex       sync.Mutex
	controllers []*controllerTracker
}

// ControllerReport is what one controller does at one moment.
type ControllerReport struct {
	// Contract is the kind in lower case.
	Contract string `json:"contract"`
	// QueueLength is how many objects could be reconciled now, if a worker were free. It is 0 in a standby.
	QueueLength int `json:"queueLength"`
	// Running are the objects that are being reconciled, the oldest first.
	Running []RunningObject `json:"running"`
	// Waiting are the objects that will be reconciled again without a change, the next one first.
	Waiting []WaitingObject `json:"waiting"`
}

// RunningObject is an object that is being reconciled.
type RunningObject struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Operation is empty until the operation has been accepted.
	Operation gardencorev1beta1.LastOperationType `json:"operation,omitempty"`
	Since     time.Time                           `json:"since"`
	// TasksDone and TasksPlanned count the tasks of the graph that is running; both are 0 outside of a graph.
	TasksDone    int `json:"tasksDone"`
	TasksPlanned int `json:"tasksPlanned"`
	// Tasks are those that are running, in the order in which they began.
	Tasks []RunningTask `json:"tasks"`
	// Failures is the number of failed attempts in a row before this one, LastError the error of the last of them.
	Failures  int    `json:"failures"`
	LastError string `json:"lastError,omitempty"`
}

// RunningTask is a task of a graph.
type RunningTask struct {
	Name string `json:"name"`
	// WaitsFor is empty while the task does not wait.
	WaitsFor string `json:"waitsFor,omitempty"`
}

// WaitingObject is an object that waits for its next reconciliation.
type WaitingObject struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// NextAttempt is when the object is queued again.
	NextAttempt time.Time `json:"nextAttempt"`
	// Failures is the number of failed attempts in a row; it is 0 for a follow-up and for an operation that was superseded.
	Failures  int    `json:"failures"`
	LastError string `json:"lastError,omitempty"`
}

// Report returns what all controllers do, in the order in which they were added.
func (t *Tracker) Report() []ControllerReport {
	t.mutex.Lock()
	controllers := slices.Clone(t.controllers)
	t.mutex.Unlock()
	reports := make([]ControllerReport, 0, len(controllers))
	for _, controller := range controllers {
		reports = append(reports, controller.report())
	}
	return reports
}

// add returns the tracker of one more controller. A nil Tracker returns one that nobody reads.
func (t *Tracker) add(contract string, clock clock.PassiveClock) *controllerTracker {
	controller := &controllerTracker{
		contract: contract, clock: clock,
		running: map[reconcile.Request]*runningEntry{}, waiting: map[reconcile.Request]waitingEntry{},
	}
	if t != nil {
		t.mutex.Lock()
		defer t.mutex.Unlock()
		t.controllers = append(t.controllers, controller)
	}
	return controller
}

// controllerTracker follows the objects of one controller.
type controllerTracker struct {
	contract string
	clock    clock.PassiveClock

	mutex   sync.Mutex
	queue   interface{ Len() int } // nil until the controller starts
	running map[reconcile.Request]*runningEntry
	waiting map[reconcile.Request]waitingEntry
}

type runningEntry struct {
	since     time.Time
	operation gardencorev1beta1.LastOperationType
	activity  *Activity // nil until the operation has been accepted
	failures  int
	lastError string
}

type waitingEntry struct {
	nextAttempt time.Time // zero until the queue has decided
	failures    int
	lastError   string
}

func (t *controllerTracker) setQueue(queue interface{ Len() int }) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.queue = queue
}

// begin records the start of a reconciliation.
func (t *controllerTracker) begin(request reconcile.Request) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	before := t.waiting[request]
	delete(t.waiting, request)
	t.running[request] = &runningEntry{since: t.clock.Now(), failures: before.failures, lastError: before.lastError}
}

// accepted records what the reconciliation does.
func (t *controllerTracker) accepted(request reconcile.Request, operation gardencorev1beta1.LastOperationType, activity *Activity) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if entry := t.running[request]; entry != nil {
		entry.operation, entry.activity = operation, activity
	}
}

// end records the result of a reconciliation.
func (t *controllerTracker) end(request reconcile.Request, result reconcile.Result, err error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	entry := t.running[request]
	if entry == nil {
		return
	}
	delete(t.running, request)
	switch {
	case err != nil:
		t.waiting[request] = waitingEntry{failures: entry.failures + 1, lastError: truncate.Text(err.Error(), truncate.MaxExternal)}
	case result.RequeueAfter > 0:
		t.waiting[request] = waitingEntry{nextAttempt: t.clock.Now().Add(result.RequeueAfter)}
	}
}

// retryIn records the delay that the queue was told for a failed reconciliation. The queue may hold a lock.
func (t *controllerTracker) retryIn(request reconcile.Request, delay time.Duration) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if entry, ok := t.waiting[request]; ok {
		entry.nextAttempt = t.clock.Now().Add(delay)
		t.waiting[request] = entry
	}
}

func (t *controllerTracker) report() ControllerReport {
	t.mutex.Lock()
	report := ControllerReport{Contract: t.contract, Running: []RunningObject{}, Waiting: []WaitingObject{}}
	for request, entry := range t.running {
		report.Running = append(report.Running, entry.report(request))
	}
	for request, entry := range t.waiting {
		if entry.nextAttempt.IsZero() {
			entry.nextAttempt = t.clock.Now()
		}
		report.Waiting = append(report.Waiting, WaitingObject{
			Namespace: request.Namespace, Name: request.Name,
			NextAttempt: entry.nextAttempt.UTC(), Failures: entry.failures, LastError: entry.lastError,
		})
	}
	queue := t.queue
	t.mutex.Unlock()
	if queue != nil {
		report.QueueLength = queue.Len() // without the mutex: the queue calls retryIn under its own
	}
	slices.SortFunc(report.Running, func(a, b RunningObject) int {
		return compareObjects(a.Since, b.Since, a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	slices.SortFunc(report.Waiting, func(a, b WaitingObject) int {
		return compareObjects(a.NextAttempt, b.NextAttempt, a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return report
}

func compareObjects(a, b time.Time, nameOfA, nameOfB string) int {
	if order := a.Compare(b); order != 0 {
		return order
	}
	return strings.Compare(nameOfA, nameOfB)
}

func (e *runningEntry) report(request reconcile.Request) RunningObject {
	object := RunningObject{
		Namespace: request.Namespace, Name: request.Name, Operation: e.operation, Since: e.since.UTC(),
		Tasks: []RunningTask{}, Failures: e.failures, LastError: e.lastError,
	}
	if e.activity != nil {
		object.TasksDone, object.TasksPlanned, object.Tasks = e.activity.tasks()
	}
	return object
}
