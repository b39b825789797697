package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/gardener"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/stack"
	"github.com/trellis-garden/trellis/e2e/internal/standin"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// The clouds that shoots can be in.
const (
	cloudFake = "fake"
	cloudReal = "openstack"
)

const (
	// cloudPort is where the cloud listens.
	cloudPort = "5000"
	// The fake takes as long as a fast cloud.
	serverBuild, serverDelete = 3 * time.Second, 2 * time.Second
	// openStackFolder has the files of a real OpenStack, and openStackLog its progress.
	openStackFolder, openStackLog = "openstack", "openstack.log"
)

// startCloud starts the cloud of shoots, which must not miss any of their calls.
func (l *landscape) startCloud(ctx context.Context) error {
	at := net.JoinHostPort(gardener.CloudAddress(), cloudPort)
	if l.cloud == cloudReal {
		if err := l.report.step("a real OpenStack, with a proxy for shoots", func() error { return l.startOpenStack(ctx, at) }); err != nil {
			return fmt.Errorf("starting OpenStack: %w", err)
		}
	} else {
		var err error
		if l.shootsCloud, err = openstack.NewFakeAt(
			at, fake.WithTransition(fake.ServerBuild, fake.Transition{After: serverBuild}), fake.WithTransition(fake.ServerDelete, fake.Transition{After: serverDelete}),
		); err != nil {
			return fmt.Errorf("starting the cloud: %w", err)
		}
	}
	l.report.Linef("cloud: %s at %s", l.cloud, l.shootsCloud.AuthURL())
	return nil
}

// startOpenStack starts the services on loopback, as they are for all other tests. Shoots reach them by the proxy.
func (l *landscape) startOpenStack(ctx context.Context, at string) error {
	progress, err := os.Create(filepath.Join(l.dir, openStackLog))
	if err != nil {
		return err
	}
	l.openStackProgress = progress
	if l.openStack, err = stack.New(filepath.Join(l.dir, openStackFolder), terminal.New(progress)); err != nil {
		return err
	}
	for _, one := range stack.StandIns() {
		l.standIns.add(one)
	}
	l.standIns.add(standin.StandIn{
		Name: "way to OpenStack: the catalog names a proxy in place of the services", Reason: "it counts the calls of each controller, and makes the cloud fail in the step cloud-outage",
	})
	if err := l.openStack.Up(ctx, stack.DefaultCache); err != nil {
		return err
	}
	if err := l.openStack.AddImage(ctx, openstack.GlanceImage(openstack.LatestImage), "x86_64"); err != nil {
		return err
	}
	l.shootsCloud, err = openstack.NewRealAt(at, l.openStack.Clouds())
	return err
}

// stopCloud stops the cloud of shoots. The files of a real one stay.
func (l *landscape) stopCloud(ctx context.Context) error {
	var failures []error
	if l.shootsCloud != nil {
		failures = append(failures, l.shootsCloud.Close())
	}
	if l.openStack != nil {
		failures = append(failures, l.openStack.Down(ctx, true))
	}
	if l.openStackProgress != nil {
		failures = append(failures, l.openStackProgress.Close())
	}
	return errors.Join(failures...)
}

// installOpenStack installs the packages of a real OpenStack, which takes the network of this machine.
func installOpenStack(ctx context.Context, dir string) error {
	s, err := stack.New(filepath.Join(dir, openStackFolder), terminal.New(os.Stderr))
	if err != nil {
		return err
	}
	return s.Install(ctx)
}
