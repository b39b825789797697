package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/landscape"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

// demo is one showing.
type demo struct {
	*landscape.Landscape
	screen *terminal.Screen
	shoot  *gardenlet.Shoot
}

// run shows everything and stops everything, in whatever way it ends.
func run(ctx context.Context, screen *terminal.Screen, latency time.Duration, exit bool) (err error) {
	screen.Heading("Trellis: one shoot's Infrastructure, before your eyes")
	l, err := landscape.Start(ctx, screen, latency)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Stop()) }()
	d := &demo{Landscape: l, screen: screen}
	acts := []func(context.Context) error{d.prepare, d.create, d.reconcile}
	if exit {
		acts = append(acts, d.delete)
	} else {
		acts = append(acts, d.stay)
	}
	for _, act := range acts {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) prepare(ctx context.Context) error {
	return d.screen.Step("shoot", func(io.Writer) (detail string, err error) {
		d.shoot, err = d.NewShoot(ctx, "demo", d.Place)
		return d.shoot.Namespace() + " with Cluster and Secret cloudprovider", err
	})
}

func (d *demo) create(ctx context.Context) error {
	d.screen.Heading("gardenlet deploys the Infrastructure")
	cost, err := d.measure(ctx, d.fulfil)
	if err != nil {
		return err
	}
	d.screen.Linef("  %s", cost)
	d.screen.Heading("What exists in the cloud")
	for _, line := range openstack.Draw(d.Place.Cloud.StandIn.State("")) {
		d.screen.Linef("  %s", line)
	}
	return nil
}

func (d *demo) reconcile(ctx context.Context) error {
	d.screen.Heading("gardenlet asks again, nothing is to be done")
	// Gardener tells orders from results by whole seconds.
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return ctx.Err()
	}
	written, err := d.Seed.Writes(d.shoot.Namespace())
	if err != nil {
		return err
	}
	cost, err := d.measure(ctx, d.fulfil)
	if err != nil {
		return err
	}
	writes, err := d.settledWrites(ctx)
	if err != nil {
		return err
	}
	d.screen.Linef("  %s; %s to the API server", cost, count(writes-len(written), "write"))
	return nil
}

// settledWrites counts what controllers have written to the shoot's namespace, once the count has stopped growing.
func (d *demo) settledWrites(ctx context.Context) (int, error) {
	for last := -1; ; {
		writes, err := d.Seed.Writes(d.shoot.Namespace())
		if err != nil || len(writes) == last {
			return len(writes), err
		}
		last = len(writes)
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

func (d *demo) delete(ctx context.Context) error {
	d.screen.Heading("gardenlet deletes the Infrastructure")
	cost, err := d.measure(ctx, d.destroy)
	if err != nil {
		return err
	}
	d.screen.Linef("  %s", cost)
	left, err := d.Place.Account.Resources(ctx)
	if err != nil {
		return err
	}
	for _, resource := range left {
		err = errors.Join(err, fmt.Errorf("left behind in the cloud: %s %s (%s)", resource.Kind, resource.Name, resource.ID))
	}
	if err != nil {
		return err
	}
	d.screen.Linef("  %s the cloud is empty again", d.screen.Styled(terminal.Green, "✓"))
	return nil
}

func (d *demo) stay(ctx context.Context) error {
	d.screen.Heading("Look further")
	for _, line := range []string{
		"export KUBECONFIG=" + d.Seed.Kubeconfig,
		"kubectl get infrastructures -A",
		"kubectl -n " + d.shoot.Namespace() + " get infrastructure " + d.shoot.Name + " -o yaml",
		"kubectl -n " + d.shoot.Namespace() + " annotate infrastructure " + d.shoot.Name + " gardener.cloud/operation=reconcile",
		"curl -s " + d.Controller.MetricsURL + " | grep trellis_",
		"tail -f " + d.Log,
	} {
		d.screen.Linef("  %s", line)
	}
	d.screen.Linef("\n%s", d.screen.Styled(terminal.Dim,
		"There is no kubectl? In the folder e2e, `go run ./cmd/assets kubectl` builds one.\nCtrl-C stops everything and removes its files."))
	select {
	case <-ctx.Done():
		d.screen.Linef("\nStopping.")
		return nil
	case <-d.Controller.Exited():
		return errors.New("the controller has ended by itself; its log was " + d.Log)
	}
}

func (d *demo) fulfil(ctx context.Context) error {
	component := d.Gardenlet.Infrastructure(d.shoot)
	if err := component.Deploy(ctx); err != nil {
		return err
	}
	return component.Wait(ctx)
}

func (d *demo) destroy(ctx context.Context) error {
	component := d.Gardenlet.Infrastructure(d.shoot)
	if err := component.Destroy(ctx); err != nil {
		return err
	}
	return component.WaitCleanup(ctx)
}

// measure shows the Infrastructure while do is under way, and returns what it cost as a sentence.
func (d *demo) measure(ctx context.Context, do func(context.Context) error) (string, error) {
	d.Place.Cloud.ResetLog()
	start := time.Now()
	if err := d.show(ctx, do); err != nil {
		return "", err
	}
	calls := d.Place.Cloud.Log()
	return fmt.Sprintf("%s to the cloud, %s among them, in %.1f s",
		count(len(calls), "call"), count(calls.Logins(), "login"), time.Since(start).Seconds()), nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
