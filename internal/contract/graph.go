package contract

import (
	"context"
)

// TaskID identifies a task in its graph.
type TaskID string

// Task is a named step. The name is what a user reads while the step is at work: a verb phrase such as "ensuring router".
type Task struct {
	Name string
	// Do does the step. Its context carries the task, so that WaitUntil can say what the step waits for.
	Do func(ctx context.Context) error
	// SkipIf leaves the step out; what comes after it runs all the same.
	SkipIf bool
	// After lists the steps that must have succeeded before. All of them were added before.
	After []TaskID
}

// Graph is a set of tasks with an order among some of them. Run one with Track.Run.
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

// WaitUntil polls at once and then with growing pauses (0.2 s doubling to 5 s) until poll returns an empty reason, an error,
// or the context ends. A reason is a clause for a user, such as "router R has no external address yet"; while it waits it
// stands in the last operation's description. When the context ends, the error is transient and carries the last reason.
func WaitUntil(ctx context.Context, poll func(ctx context.Context) (reason string, err error)) error {
	panic("being written")
}
