package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/e2e/internal/gardener"
)

// missingLimit is how long one of our controllers may be missing in a Seed that needs it, on a machine that compiles at the same time.
const missingLimit = 4 * time.Minute

// watchInstallations calls fail with the names of controllers that a Seed needs and has not got in time. gardenlet itself would wait for them
// for ever, and not name them.
func (l *landscape) watchInstallations(ctx context.Context, seed *gardener.Seed, fail context.CancelCauseFunc) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(missingLimit):
	}
	if _, err := l.healthyInstallations(ctx, seed.Name); err != nil {
		fail(fmt.Errorf("controllers are missing after %s: %w", missingLimit, err))
	}
}

// awaitInstallations waits until all ControllerInstallations of a Seed are healthy.
func (l *landscape) awaitInstallations(ctx context.Context, seed *gardener.Seed) error {
	for {
		names, err := l.healthyInstallations(ctx, seed.Name)
		if err == nil {
			l.report.Linef("installed by gardenlet and healthy in %s: %s", seed.Name, strings.Join(names, ", "))
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for installations in %s: %w; last: %w", seed.Name, context.Cause(ctx), err)
		case <-time.After(time.Second):
		}
	}
}

// healthyInstallations lists the registrations that are installed in a Seed, with an error about those that are not healthy.
func (l *landscape) healthyInstallations(ctx context.Context, seed string) ([]string, error) {
	list := &gardencorev1beta1.ControllerInstallationList{}
	if err := l.garden.Client.List(ctx, list); err != nil {
		return nil, err
	}
	var names []string
	var problems []error
	for _, installation := range list.Items {
		if installation.Spec.SeedRef == nil || installation.Spec.SeedRef.Name != seed {
			continue
		}
		names = append(names, installation.Spec.RegistrationRef.Name)
		for _, wanted := range []gardencorev1beta1.ConditionType{
			gardencorev1beta1.ControllerInstallationValid, gardencorev1beta1.ControllerInstallationInstalled, gardencorev1beta1.ControllerInstallationHealthy,
		} {
			if condition := v1beta1helper.GetCondition(installation.Status.Conditions, wanted); condition == nil || condition.Status != gardencorev1beta1.ConditionTrue {
				problems = append(problems, fmt.Errorf("the controller of registration %q in seed %s is not %s", installation.Spec.RegistrationRef.Name, seed, wanted))
			}
		}
	}
	for _, wanted := range installedFirst() {
		if !slices.Contains(names, wanted) {
			problems = append(problems, fmt.Errorf("the controller of registration %q is missing in seed %s: it is not installed", wanted, seed))
		}
	}
	return names, errors.Join(problems...)
}
