package landscape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

const (
	// registrationTimeout bounds how long a controller takes to register its webhooks.
	registrationTimeout = time.Minute
	registrationPause   = 300 * time.Millisecond
)

// Controller is one of ours.
type Controller struct {
	// Controller is the process, once there is one.
	*controller.Controller
	// Binary is the path of the program, Log that of its log.
	Binary, Log string

	what controller.Binary
}

// Name is that of the binary.
func (c *Controller) Name() string { return c.what.Name }

// controllers lists those that there are.
func (l *Landscape) controllers() []*Controller {
	var all []*Controller
	for _, c := range []*Controller{l.Infrastructure, l.ControlPlane, l.Network} {
		if c != nil {
			all = append(all, c)
		}
	}
	return all
}

func (l *Landscape) buildControllers(ctx context.Context, _ io.Writer) (string, error) {
	l.Infrastructure = &Controller{what: controller.Infrastructure()}
	if l.options.Clusters {
		l.ControlPlane = &Controller{what: controller.ControlPlane()}
		l.Network = &Controller{what: controller.Network()}
	}
	building, ctx := errgroup.WithContext(ctx)
	for _, c := range l.controllers() {
		c.Log = filepath.Join(l.Dir, c.Name()+".log")
		building.Go(func() (err error) {
			c.Binary, err = c.what.Build(ctx, false)
			return err
		})
	}
	if err := building.Wait(); err != nil {
		return "", err
	}
	var sizes []string
	for _, c := range l.controllers() {
		info, err := os.Stat(c.Binary)
		if err != nil {
			return "", err
		}
		sizes = append(sizes, fmt.Sprintf("%s, %d MB", c.Name(), info.Size()/1_000_000))
	}
	return strings.Join(sizes, "; "), nil
}

func (l *Landscape) startControllers(ctx context.Context, _ io.Writer) (string, error) {
	starting, startCtx := errgroup.WithContext(ctx)
	for _, c := range l.controllers() {
		starting.Go(func() error { return l.start(startCtx, c) })
	}
	if err := starting.Wait(); err != nil {
		return "", err
	}
	if err := l.awaitWebhooks(ctx); err != nil {
		return "", err
	}
	var ready []string
	for _, c := range l.controllers() {
		ready = append(ready, fmt.Sprintf("%s is ready, pid %d", c.Name(), c.PID()))
	}
	return strings.Join(ready, "; "), nil
}

func (l *Landscape) start(ctx context.Context, c *Controller) error {
	kubeconfig, err := l.Seed.AddController(ctx, c.Name(), c.what.Role)
	if err != nil {
		return err
	}
	options := controller.Options{Path: c.Binary, Kubeconfig: kubeconfig, Output: c.Log, LeaderElection: true}
	if c == l.ControlPlane {
		if options.Args, err = webhooksOf(c.Name()); err != nil {
			return err
		}
	}
	c.Controller, err = c.what.Start(ctx, options)
	return err
}

// webhooksOf are the flags by which the API server finds the webhooks of a controller that is a process and no pod.
func webhooksOf(namespace string) ([]string, error) {
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	host, port, _ := strings.Cut(address, ":")
	return []string{
		"--webhook-config-mode=url",
		"--webhook-config-url=" + address,
		"--webhook-config-namespace=" + namespace,
		"--webhook-config-server-host=" + host,
		"--webhook-config-server-port=" + port,
	}, nil
}

// awaitWebhooks waits until the API server knows whom to call. A controller that is ready serves its webhooks, but only its leader
// registers them.
func (l *Landscape) awaitWebhooks(ctx context.Context) error {
	if l.ControlPlane == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, registrationTimeout)
	defer cancel()
	registration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	for {
		err := l.Seed.Client.Get(ctx, client.ObjectKey{Name: "gardener-extension-" + l.ControlPlane.Name()}, registration)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("waiting for the webhooks of %s: %w", l.ControlPlane.Name(), err)
		}
		// The API server watches these objects: what it holds, it heeds a moment later.
		select {
		case <-time.After(registrationPause):
		case <-ctx.Done():
			return fmt.Errorf("waiting for the webhooks of %s: %w", l.ControlPlane.Name(), ctx.Err())
		}
		if err == nil {
			return nil
		}
	}
}

// stopControllers asks those that still run to end.
func (l *Landscape) stopControllers() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var failures []error
	for _, c := range l.controllers() {
		if c.Controller != nil {
			failures = append(failures, c.Terminate(ctx))
		}
	}
	return errors.Join(failures...)
}
