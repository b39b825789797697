package infrastructure

import (
	"context"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/fielderrors"
)

// Reconcile validates the inputs, calls the driver and writes the status.
func (a *actuator) Reconcile(ctx context.Context, rec *reconciliation) error {
	driver, shoot, err := a.prepare(ctx, rec)
	if err != nil {
		return err
	}
	if problems := driver.Validate(shoot); len(problems) > 0 {
		return cloud.Errorf(cloud.Configuration, "the configuration cannot be fulfilled: %w", fielderrors.Error(problems))
	}
	outcome, err := driver.Reconcile(ctx, shoot, rec.StateRecorder)
	if err != nil {
		return err
	}
	if outcome.Unchanged {
		return nil
	}
	rec.StateRecorder.RecordState(outcome.State)
	rec.Messages = append(rec.Messages, outcome.Findings...)
	return outcome.fill(&rec.Object.Status)
}

// fill writes the outcome to the object's status.
func (o *Outcome) fill(status *extensionsv1alpha1.InfrastructureStatus) error {
	providerStatus, err := utiljson.Marshal(o.ProviderStatus)
	if err != nil {
		return fmt.Errorf("encoding provider status: %w", err)
	}
	status.ProviderStatus = &runtime.RawExtension{Raw: providerStatus}
	status.NodesCIDR = o.NodesCIDR
	status.EgressCIDRs = o.EgressCIDRs
	// Never nil: gardenlet dereferences the nodes' ranges during a migration to dual stack.
	status.Networking = &extensionsv1alpha1.InfrastructureStatusNetworking{
		Pods: o.Pods, Nodes: o.Nodes, Services: o.Services,
	}
	return nil
}
