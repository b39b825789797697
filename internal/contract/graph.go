package contract

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/gardener/gardener/pkg/utils/flow"
	"github.com/go-logr/logr"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// TaskID identifies a task in its graph.
type TaskID string

// Task is a named step. The name is what a user reads while the task runs: a verb phrase such as "ensuring router".
type Task struct {
	Name string
	// Do runs the task. Its context carries the task, so that WaitUntil can report what it waits for.
	Do func(ctx context.Context) error
	// SkipIf skips the task; tasks after it run all the same.
	SkipIf bool
	// After lists the tasks that must have succeeded before. All of them were added before.
	After []TaskID
}

// Graph is a set of tasks with dependencies. StateRecorder.Run executes it.
type Graph struct {
	name  string
	tasks []Task
}

// NewGraph returns an empty graph. The name describes the whole, e.g. "reconciling infrastructure".
func NewGraph(name string) *Graph { return &Graph{name: name} }

// Add adds a task and returns its ID for the After of later ones.
func (g *Graph) Add(task Task) TaskID {
	g.tasks = append(g.tasks, task)
	return TaskID(task.Name)
}

// Run executes the graph with Gardener's flow engine. activity receives what is running; it may be nil. The error joins the
// errors of all failed tasks in the order in which they were added, each naming its task.
func (g *Graph) Run(ctx context.Context, log logr.Logger, activity *Activity) error {
	if len(g.tasks) == 0 {
		return nil
	}
	results := &taskErrors{byTask: map[string]error{}}
	engine := flow.NewGraph(g.name)
	planned := 0
	for _, task := range g.tasks {
		if !task.SkipIf {
			planned++
		}
		engine.Add(flow.Task{
			Name:         task.Name,
			Fn:           results.wrap(task, activity),
			SkipIf:       task.SkipIf,
			Dependencies: dependencies(task.After),
		})
	}
	activity.begin(planned)
	err := engine.Compile().Run(ctx, flow.Opts{Log: demote(log)})
	if failed := results.joined(g.tasks); failed != nil {
		return failed
	}
	if err != nil { // the context ended between two tasks
		return cloud.Errorf(cloud.Unavailable, "%s is not finished: %w", g.name, context.Cause(ctx))
	}
	return nil
}

func dependencies(after []TaskID) flow.TaskIDs {
	ids := flow.NewTaskIDs()
	for _, id := range after {
		ids.Insert(flow.TaskID(id))
	}
	return ids
}

// taskErrors keeps the tasks' own errors: the engine flattens them into text.
type taskErrors struct {
	mutex  sync.Mutex
	byTask map[string]error
}

// wrap wraps a task so that its activity is reported, its panic recovered and its error kept.
func (t *taskErrors) wrap(task Task, activity *Activity) flow.TaskFn {
	return func(ctx context.Context) (err error) {
		defer func() {
			if recovered := recover(); recovered != nil {
				err = &panicError{value: recovered, stack: debug.Stack()}
			}
			activity.finish(task.Name, err == nil)
			if err != nil {
				t.mutex.Lock()
				defer t.mutex.Unlock()
				t.byTask[task.Name] = err
			}
		}()
		activity.start(task.Name)
		return task.Do(context.WithValue(ctx, taskKey{}, taskHandle{task.Name, activity}))
	}
}

func (t *taskErrors) joined(tasks []Task) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	var all []error
	for _, task := range tasks {
		if err := t.byTask[task.Name]; err != nil {
			all = append(all, fmt.Errorf("%s: %w", task.Name, err))
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return errors.Join(all...)
}

// panicError is a panic that was recovered. Its text is for users; the stack is for the log.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string {
	return truncate.Text(fmt.Sprintf("internal error (a defect of the extension, see its log): %v", p.value), truncate.MaxStatus)
}
