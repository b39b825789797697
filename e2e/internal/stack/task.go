package stack

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// task is a step that starts when the tasks that it needs are done.
type task struct {
	name  string
	needs []string
	do    func(ctx context.Context) error
}

// runTasks runs tasks concurrently, each after those that it needs, and prints each that is done. The first failure cancels all.
func runTasks(ctx context.Context, tasks []task, report func(name string, took time.Duration)) error {
	finished := map[string]chan struct{}{}
	for _, t := range tasks {
		finished[t.name] = make(chan struct{})
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, t := range tasks {
		group.Go(func() error {
			for _, need := range t.needs {
				done, known := finished[need]
				if !known {
					return fmt.Errorf("%s needs %s, which is no task", t.name, need)
				}
				select {
				case <-done:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			start := time.Now()
			if err := t.do(ctx); err != nil {
				return err
			}
			report(t.name, time.Since(start))
			close(finished[t.name])
			return nil
		})
	}
	return group.Wait()
}
