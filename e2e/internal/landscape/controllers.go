package landscape

import (
	"context"
	"fmt"
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

func (l *Landscape) buildControllers(ctx context.Context) (string, error) {
	l.Infrastructure = &Controller{what: controller.Infrastructure()}
	if l.options.Clusters {
		l.ControlPlane = &Controller{what: controller.ControlPlane()}
		l.Network = &Controller{what: controller.Network()}
	}
	building, ctx := errgroup.WithContext(ctx)
	if l.options.Machines {
		l.Worker = &Controller{what: controller.Worker()}
		building.Go(func() (err error) {
			l.MachineController, err = controller.Machine().Build(ctx)
			return err
		})
	}
	for _, c := range l.controllers() {
		building.Go(func() (err error) {
			c.Binary, err = c.what.Build(ctx)
			return err
		})
	}
	if err := building.Wait(); err != nil {
		return "", err
	}
	var binaries, sizes []string
	for _, c := range l.controllers() {
		binaries = append(binaries, c.Binary)
	}
	if l.MachineController != "" {
		binaries = append(binaries, l.MachineController)
	}
	for _, binary := range binaries {
		info, err := os.Stat(binary)
		if err != nil {
			return "", err
		}
		sizes = append(sizes, fmt.Sprintf("%s, %d MB", filepath.Base(binary), info.Size()/1_000_000))
	}
	return strings.Join(sizes, "; "), nil
}

// serveWebhooks lists the controllers with webhooks for the seed's API server.
func (l *Landscape) serveWebhooks() []*Controller {
	return slices.DeleteFunc(l.controllers(), func(c *Controller) bool { return c != l.ControlPlane && c != l.Worker })
}

func (l *Landscape) startControllers(ctx context.Context) (string, error) {
	starting, startCtx := errgroup.WithContext(ctx)
	for _, c := range l.controllers() {
		starting.Go(func() error { return l.startController(startCtx, c) })
	}
	if err := starting.Wait(); err != nil {
		return "", err
	}
	for _, c := range l.serveWebhooks() {
		if err := c.what.AwaitWebhooks(ctx, l.Source.Client); err != nil {
			return "", err
		}
	}
	var ready []string
	for _, c := range l.controllers() {
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
	c.Controller, err = l.Source.StartController(ctx, c.what, options)
	return err
}
