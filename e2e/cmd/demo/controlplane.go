package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

// conditionTimeout bounds the wait for healthy conditions. The controllers watch what they depend on.
const conditionTimeout = 2 * time.Minute

// startCluster starts what a ControlPlane needs: gardenlet has deployed etcd and API server before.
func (d *demo) startCluster(ctx context.Context) error {
	d.screen.Heading("gardenlet starts the shoot's API server")
	if err := d.StartCluster(ctx, d.shoot); err != nil {
		return err
	}
	var err error
	d.before, err = listInventory(ctx, d.Source.Config, d.Source.Client, d.shoot.Namespace())
	return err
}

func (d *demo) controlPlane() shownObject {
	return shownObject{name: "controlplane/" + d.shoot.Name, get: func(ctx context.Context) (extensionsv1alpha1.Object, error) {
		return d.Source.Gardenlet.GetControlPlane(ctx, d.shoot)
	}}
}

// createControlPlane copies the Infrastructure's status, which is the only connection of the two controllers.
func (d *demo) createControlPlane(ctx context.Context) error {
	d.screen.Heading("gardenlet deploys the ControlPlane with the Infrastructure's status")
	infrastructure, err := d.Source.Gardenlet.Get(ctx, d.shoot)
	if err != nil {
		return err
	}
	d.shoot.InfrastructureStatus = infrastructure.Status.ProviderStatus
	cost, err := d.measure(ctx, d.controlPlane(), d.deployControlPlane)
	if err != nil {
		return err
	}
	d.screen.Linef("  %s", cost)
	d.screen.Heading("Objects in the seed, in namespace " + d.shoot.Namespace())
	if err := d.showSeed(ctx); err != nil {
		return err
	}
	d.screen.Heading("Objects in the shoot")
	return d.showShoot(ctx)
}

func (d *demo) reconcileControlPlane(ctx context.Context) error {
	return d.reconcileAgain(ctx, d.ControlPlane.Name(), d.controlPlane(), d.deployControlPlane)
}

func (d *demo) deployControlPlane(ctx context.Context) error {
	component := d.Source.Gardenlet.ControlPlane(d.shoot)
	if err := component.Deploy(ctx); err != nil {
		return err
	}
	return component.Wait(ctx)
}

// waitHealthy prints the conditions until they are healthy.
func (d *demo) waitHealthy(ctx context.Context) error {
	d.screen.Heading("The controllers watch the health of what they have deployed")
	ctx, cancel := context.WithTimeout(ctx, conditionTimeout)
	defer cancel()
	block := d.screen.Block()
	for {
		lines, healthy, err := d.health(ctx)
		if err != nil {
			return err
		}
		if healthy {
			for i, line := range lines {
				lines[i] = "  " + d.screen.Styled(terminal.Green, "✓") + " " + line
			}
			block.End(lines...)
			return nil
		}
		for i, line := range lines {
			lines[i] = "  · " + line
		}
		block.Update(lines...)
		if err := sleep(ctx, time.Second); err != nil {
			return errors.Join(append([]error{err}, asErrors(lines)...)...)
		}
	}
}

// health describes all checked conditions, and reports whether they are healthy.
func (d *demo) health(ctx context.Context) (lines []string, healthy bool, err error) {
	healthy = true
	for _, shown := range []shownObject{d.controlPlane(), d.network(), d.worker()} {
		object, err := shown.get(ctx)
		if err != nil {
			return nil, false, err
		}
		itsLines, well := conditionLines(shown.name, object.GetExtensionStatus().GetConditions())
		lines, healthy = append(lines, itsLines...), healthy && well
	}
	return lines, healthy, nil
}

// conditionLines describes an object's conditions, and reports whether they are healthy.
func conditionLines(name string, conditions []gardencorev1beta1.Condition) (lines []string, healthy bool) {
	healthy = len(conditions) > 0
	for _, condition := range conditions {
		// A condition from before a change is outdated.
		healthy = healthy && condition.Status == gardencorev1beta1.ConditionTrue && !strings.Contains(condition.Message, beingChanged)
		lines = append(lines, fmt.Sprintf("%-18s %-30s %-12s %s", name, condition.Type, condition.Status, condition.Message))
	}
	return lines, healthy
}

func asErrors(lines []string) []error {
	var all []error
	for _, line := range lines {
		all = append(all, errors.New(line))
	}
	return all
}

func (d *demo) deleteControlPlane(ctx context.Context) error {
	d.screen.Heading("gardenlet deletes the ControlPlane")
	d.stopContainer()
	cost, err := d.measure(ctx, d.controlPlane(), func(ctx context.Context) error {
		component := d.Source.Gardenlet.ControlPlane(d.shoot)
		if err := component.Destroy(ctx); err != nil {
			return err
		}
		return component.WaitCleanup(ctx)
	})
	if err != nil {
		return err
	}
	d.screen.Linef("  %s", cost)
	if err := d.nothingLeftInSeed(ctx, func(name string) bool {
		return !d.before.Has(name) && !d.machines.garbage.Has(name)
	}); err != nil {
		return err
	}
	d.done("the shoot's namespace holds nothing more than before the ControlPlane" + exceptGarbage(len(d.machines.garbage)))
	garbage, err := d.nothingLeftInShoot(ctx, d.applied)
	if err != nil {
		return err
	}
	d.done("neither does the shoot" + exceptGarbage(garbage))
	return nil
}

// exceptGarbage leaves out what is collected later.
func exceptGarbage(things int) string {
	if things == 0 {
		return ""
	}
	return fmt.Sprintf(", but for %s that gardener-resource-manager collects later", count(things, "config"))
}

func (d *demo) stopCluster(ctx context.Context) error {
	d.screen.Heading("gardenlet stops the shoot's API server")
	return d.RetireCluster(ctx)
}
