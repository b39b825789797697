package contracttest

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Process runs instances of a program one after the other, as a Deployment does: after one was killed and the last of its requests has
// taken effect, the next one starts.
type Process struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // valid once ended is closed
}

// Run starts a process. The hook runs between two instances and may be nil.
func (h Host) Run(ctx context.Context, program Program, beforeRestart func(context.Context) error) (*Process, error) {
	ctx, cancel := context.WithCancel(ctx)
	instance, err := h.Start(ctx, program)
	if err != nil {
		cancel()
		return nil, err
	}
	process := &Process{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(process.ended)
		process.err = h.restartUntilStopped(ctx, instance, program, beforeRestart)
	}()
	return process, nil
}

// Stop terminates the process. It returns the errors of all its instances, except that they were killed; a killed instance
// must also have ended with its context.
func (p *Process) Stop() error {
	p.cancel()
	<-p.ended
	return p.err
}

func (h Host) restartUntilStopped(ctx context.Context, instance *Instance, program Program, beforeRestart func(context.Context) error) error {
	var killed []*Instance
	for {
		select {
		case <-ctx.Done():
			return errors.Join(instance.Stop(), stopAll(killed))
		case <-instance.stopped:
			select {
			case <-instance.killed:
			default:
				return errors.Join(instance.failure, errors.New("the process ended by itself"), stopAll(killed))
			}
		case <-instance.killed:
		}
		instance.WaitIdle()
		killed = append(killed, instance)
		if beforeRestart != nil {
			if err := beforeRestart(ctx); client.IgnoreNotFound(err) != nil {
				return errors.Join(err, stopAll(killed))
			}
		}
		next, err := h.Start(ctx, program)
		if err != nil {
			return errors.Join(fmt.Errorf("starting life %d: %w", len(killed)+1, err), stopAll(killed))
		}
		instance = next
	}
}

// stopAll waits for the managers of killed instances. Their errors are irrelevant, but they must end.
func stopAll(instances []*Instance) error {
	var errs []error
	for _, instance := range instances {
		if err := instance.Stop(); !errors.Is(err, instance.failure) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
