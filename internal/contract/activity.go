package contract

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// Activity is what a reconciliation is doing: which tasks are running, what they wait for, how many of all are done. A nil
// Activity reports nothing.
type Activity struct {
	mutex         sync.Mutex
	planned, done int
	running       []string
	reasons       map[string]string
	reached       int32
	changed       func()
}

// NewActivity returns an Activity that calls changed, without blocking on it, after every change. changed may be nil.
func NewActivity(changed func()) *Activity {
	if changed == nil {
		changed = func() {}
	}
	return &Activity{reasons: map[string]string{}, changed: changed}
}

func (a *Activity) begin(planned int) {
	a.update(func() { a.planned, a.done, a.running = planned, 0, nil })
}

func (a *Activity) start(task string) {
	a.update(func() { a.running = append(a.running, task) })
}

func (a *Activity) finish(task string, succeeded bool) {
	a.update(func() {
		a.running = slices.DeleteFunc(a.running, func(name string) bool { return name == task })
		delete(a.reasons, task)
		if succeeded {
			a.done++
		}
	})
}

func (a *Activity) wait(task, reason string) {
	a.update(func() {
		if reason == "" {
			delete(a.reasons, task)
		} else {
			a.reasons[task] = reason
		}
	})
}

func (a *Activity) update(change func()) {
	if a == nil {
		return
	}
	a.mutex.Lock()
	change()
	a.mutex.Unlock()
	a.changed()
}

// tasks returns how many of the planned tasks are done, and those that are running.
func (a *Activity) tasks() (done, planned int, running []RunningTask) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	running = make([]RunningTask, 0, len(a.running))
	for _, task := range a.running {
		running = append(running, RunningTask{Name: task, WaitsFor: a.reasons[task]})
	}
	return a.done, a.planned, running
}

// Snapshot returns the progress in percent, which never decreases and stays below 100 until the reconciliation has
// ended, and a description: the names of the running tasks, each with what it waits for, truncated for a status.
func (a *Activity) Snapshot() (progress int32, description string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.planned > 0 {
		a.reached = max(a.reached, min(99, int32(100*a.done/a.planned)))
	}
	words := make([]string, 0, len(a.running))
	for _, task := range a.running {
		if reason := a.reasons[task]; reason != "" {
			task = fmt.Sprintf("%s (%s)", task, reason)
		}
		words = append(words, task)
	}
	return a.reached, truncate.Text(strings.Join(words, ", "), truncate.MaxStatus)
}
