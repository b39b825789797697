package contract_test

import (
	"context"
	"errors"

	"github.com/trellis-garden/trellis/internal/contract"
)

// errorUnless returns an error with the given text unless the condition holds.
func errorUnless(condition bool, text string) error {
	if condition {
		return nil
	}
	return errors.New(text)
}

// slowGraph has a completed task and one that waits until released is closed.
func slowGraph(released <-chan struct{}) *contract.Graph {
	g := contract.NewGraph("reconciling infrastructure")
	network := g.Add(contract.Task{Name: "ensuring network", Do: func(context.Context) error { return nil }})
	g.Add(contract.Task{Name: "ensuring router", After: []contract.TaskID{network}, Do: func(ctx context.Context) error {
		return contract.WaitUntil(ctx, func(context.Context) (string, error) {
			select {
			case <-released:
				return "", nil
			default:
				return "router R has no external address yet", nil
			}
		})
	}})
	return g
}
