package landscape

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// Controller is one of our controllers.
type Controller struct {
	// Controller is the process; nil before it is started.
	*controller.Controller
	// Binary is the path of the program.
	Binary string

	what controller.Binary
}

// Name is the binary's.
func (c *Controller) Name() string { return c.what.Name }

// controllers lists all controllers.
func (l *Landscape) controllers() []*Controller {
	var all []*Controller
	for _, c := range []*Controller{l.Infrastructure, l.ControlPlane, l.Network, l.Worker} {
		if c != nil {
			all = append(all, c)
		}
	}
	return all
}

// newControllers names the controllers of the options.
func (l *Landscape) newControllers() {
	l.Infrastructure = &Controller{what: controller.Infrastructure()}
	if l.options.Clusters {
		l.ControlPlane = l.ofType(controller.ControlPlane())
		l.Network = &Controller{what: controller.Network()}
	}
	if l.options.Machines {
		l.Worker = l.ofType(controller.Worker())
	}
}

// ofType returns a controller for the provider type of the options.
func (l *Landscape) ofType(what controller.Binary) *Controller {
	what.Types = []string{l.options.Type}
	return &Controller{what: what}
}

// first lists the controllers that are started first.
func (l *Landscape) first() []*Controller {
	if l.options.InSteps {
		return []*Controller{l.Infrastructure}
	}
	return l.controllers()
}

// rest lists the other controllers.
func (l *Landscape) rest() []*Controller {
	return slices.DeleteFunc(l.controllers(), func(c *Controller) bool { return slices.Contains(l.first(), c) })
}

// ours returns programs of this repository.
func (l *Landscape) ours(controllers []*Controller) []program {
	var all []program
	for _, c := range controllers {
		all = append(all, program{name: c.Name(), build: func(ctx context.Context) (err error) {
			c.Binary, err = c.what.Build(ctx)
			return err
		}})
	}
	return all
}

func (l *Landscape) machineController() program {
	what := controller.MachineFor(l.options.Type)
	return program{name: what.Name, build: func(ctx context.Context) (err error) {
		l.MachineController, err = what.Build(ctx)
		return err
	}}
}

// buildFirst builds what is started first.
func (l *Landscape) buildFirst(ctx context.Context, progress io.Writer) (string, error) {
	programs := l.ours(l.first())
	if l.options.Machines && !l.options.InSteps {
		programs = append(programs, l.machineController())
	}
	b := startBuilds(ctx, programs)
	defer b.stop()
	if err := b.wait(progress); err != nil {
		return "", err
	}
	return l.sizes()
}

// sizes describes the binaries that are built.
func (l *Landscape) sizes() (string, error) {
	binaries := []string{l.MachineController}
	for _, c := range l.controllers() {
		binaries = append(binaries, c.Binary)
	}
	var sizes []string
	for _, binary := range binaries {
		if binary == "" {
			continue
		}
		info, err := os.Stat(binary)
		if err != nil {
			return "", err
		}
		sizes = append(sizes, fmt.Sprintf("%s, %d MB", filepath.Base(binary), info.Size()/1_000_000))
	}
	slices.Sort(sizes)
	return strings.Join(sizes, "; "), nil
}

// serveWebhooks lists the controllers with webhooks for the seed's API server.
func (l *Landscape) serveWebhooks() []*Controller {
	return slices.DeleteFunc(l.controllers(), func(c *Controller) bool { return c != l.ControlPlane && c != l.Worker })
}

func (l *Landscape) startControllers(ctx context.Context, controllers []*Controller) (string, error) {
	starting, startCtx := errgroup.WithContext(ctx)
	for _, c := range controllers {
		starting.Go(func() error { return l.startController(startCtx, c) })
	}
	if err := starting.Wait(); err != nil {
		return "", err
	}
	var ready []string
	for _, c := range controllers {
		if slices.Contains(l.serveWebhooks(), c) {
			if err := c.what.AwaitWebhooks(ctx, l.Source.Client); err != nil {
				return "", err
			}
		}
		ready = append(ready, fmt.Sprintf("%s is ready, pid %d", c.Name(), c.PID()))
	}
	return strings.Join(ready, "; "), nil
}

func (l *Landscape) startController(ctx context.Context, c *Controller) (err error) {
	options := controller.Options{Path: c.Binary, LeaderElection: true}
	if slices.Contains(l.serveWebhooks(), c) {
		if options.Args, err = c.what.WebhookArgs(); err != nil {
			return err
		}
	}
	if c == l.Infrastructure {
		options.Args = append(options.Args, l.Cloud.ControllerArgs()...)
	}
	c.Controller, err = l.Source.StartController(ctx, c.what, options)
	return err
}

// AwaitExit waits until one of the controllers that were started ends by itself, and returns it; nil if the context ends before.
func (l *Landscape) AwaitExit(ctx context.Context) *Controller {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan *Controller)
	for _, c := range l.controllers() {
		if c.Controller == nil {
			continue
		}
		go func() {
			select {
			case <-c.Exited():
				select {
				case ended <- c:
				case <-ctx.Done():
				}
			case <-ctx.Done():
			}
		}()
	}
	select {
	case c := <-ended:
		return c
	case <-ctx.Done():
		return nil
	}
}
