// Package landscape brings up everything around one controller for programs that show something: a seed, an OpenStack
// stand-in, the controller's process, and gardenlet. Each step is told on a screen. Tests stand on package rig.
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

	"github.com/go-logr/logr"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

// Landscape is what has been brought up.
type Landscape struct {
	Seed       *seed.Seed
	Place      Place
	Controller *controller.Controller
	Gardenlet  *gardenlet.Gardenlet
	// Binary is the path of the controller, Log that of its log.
	Binary, Log string

	what    controller.Binary
	screen  *terminal.Screen
	dir     string
	latency time.Duration
}

// Place is where shoots live: an account in a cloud.
type Place struct {
	Cloud   *openstack.Cloud
	Account *openstack.Account
}

// accountName is free in a new cloud.
const accountName = "trellis"

// Start brings everything up. Every call to the cloud takes as long as latency says. What has been started is stopped
// again when something fails.
func Start(ctx context.Context, screen *terminal.Screen, latency time.Duration) (*Landscape, error) {
	logf.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "trellis-")
	if err != nil {
		return nil, fmt.Errorf("creating a folder for this run: %w", err)
	}
	l := &Landscape{what: controller.Infrastructure(), screen: screen, dir: dir, latency: latency, Log: filepath.Join(dir, "controller.log")}
	steps := []struct {
		name string
		do   func(context.Context, io.Writer) (string, error)
	}{
		{"programs", l.ensurePrograms},
		{"controller", l.buildController},
		{"cloud", l.startCloud},
		{"seed", l.startSeed},
		{"process", l.startController},
	}
	for _, step := range steps {
		err := screen.Step(step.name, func(progress io.Writer) (string, error) { return step.do(ctx, progress) })
		if err != nil {
			return nil, errors.Join(err, l.Stop())
		}
	}
	return l, nil
}

func (l *Landscape) ensurePrograms(ctx context.Context, progress io.Writer) (string, error) {
	if _, err := assets.Ensure(ctx, progress, assets.APIServer()...); err != nil {
		return "", err
	}
	var all []string
	for _, name := range assets.APIServer() {
		version, err := assets.Version(name)
		if err != nil {
			return "", err
		}
		all = append(all, name+" "+version)
	}
	return strings.Join(all, ", "), nil
}

func (l *Landscape) buildController(ctx context.Context, _ io.Writer) (detail string, err error) {
	if l.Binary, err = l.what.Build(ctx, false); err != nil {
		return "", err
	}
	info, err := os.Stat(l.Binary)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, %d MB", l.what.Name, info.Size()/1_000_000), nil
}

func (l *Landscape) startCloud(ctx context.Context, _ io.Writer) (detail string, err error) {
	if l.Place.Cloud, err = openstack.NewFake(); err != nil {
		return "", err
	}
	l.Place.Cloud.SetLatency(l.latency)
	if l.Place.Account, err = l.Place.Cloud.NewAccount(ctx, accountName); err != nil {
		return "", err
	}
	return fmt.Sprintf("OpenStack stand-in at %s, %d ms per call", l.Place.Cloud.AuthURL(), l.latency.Milliseconds()), nil
}

func (l *Landscape) startSeed(ctx context.Context, _ io.Writer) (detail string, err error) {
	programs, err := assets.Dir()
	if err != nil {
		return "", err
	}
	if l.Seed, err = seed.Start(ctx, programs, l.dir); err != nil {
		return "", err
	}
	l.Gardenlet = gardenlet.New(l.Seed.Client)
	return "API server with Gardener's CRDs", nil
}

func (l *Landscape) startController(ctx context.Context, _ io.Writer) (string, error) {
	kubeconfig, err := l.Seed.AddController(ctx, l.what.Name, l.what.Role)
	if err != nil {
		return "", err
	}
	l.Controller, err = l.what.Start(ctx, controller.Options{
		Path: l.Binary, Kubeconfig: kubeconfig, Output: l.Log, LeaderElection: true,
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is ready, pid %d", l.what.Name, l.Controller.PID()), nil
}

// NewShoot prepares a shoot that has everything made for it in a place.
func (l *Landscape) NewShoot(ctx context.Context, name string, where Place) (*gardenlet.Shoot, error) {
	shoot := openstack.NewShoot(name, where.Cloud, where.Account)
	return shoot, l.Gardenlet.Prepare(ctx, shoot)
}

// Stop ends everything and removes its files.
func (l *Landscape) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var failures []error
	if l.Controller != nil {
		failures = append(failures, l.Controller.Terminate(ctx))
	}
	if l.Place.Cloud != nil {
		failures = append(failures, l.Place.Cloud.Close())
	}
	if l.Seed != nil {
		failures = append(failures, l.Seed.Stop())
	}
	failures = append(failures, os.RemoveAll(l.dir))
	return errors.Join(failures...)
}
