package worker

import (
	"context"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/worker/machinestatus"
)

// everyNodeReady is a condition that gardenlet merges into the Shoot's.
const everyNodeReady = gardencorev1beta1.ShootEveryNodeReady

// AddHealth adds a controller to a manager that maintains the condition EveryNodeReady of Workers: whether the desired machines have become
// healthy nodes. It uses the statuses that machine-controller-manager, which watches the nodes, writes in the seed, so that it needs no
// access to the shoot. gardenlet compares the nodes themselves with the machines for the same condition.
func AddHealth(mgr manager.Manager, options contract.Options) error {
	return contract.AddHealth(mgr, contract.Health[*extensionsv1alpha1.Worker]{
		Name:    "worker",
		New:     func() *extensionsv1alpha1.Worker { return &extensionsv1alpha1.Worker{} },
		Types:   []gardencorev1beta1.ConditionType{everyNodeReady},
		Check:   checkHealth,
		Watches: []contract.Watch{{Object: &machinev1alpha1.MachineDeployment{}, Strip: stripMachineDeployment}},
	}, options)
}

func stripMachineDeployment(object client.Object) {
	if deployment, ok := object.(*machinev1alpha1.MachineDeployment); ok {
		machinestatus.Strip(deployment)
	}
}

// checkHealth makes no request, unless a deployment of the last reconciliation is not in memory, which may be behind.
func checkHealth(ctx context.Context, input contract.CheckInput[*extensionsv1alpha1.Worker]) (contract.Findings, error) {
	recorded := input.Object.Status.MachineDeployments
	found, err := listDeployments(ctx, input.Watched, input.Object.Namespace)
	if err == nil && len(machinestatus.Missing(recorded, found)) > 0 {
		found, err = listDeployments(ctx, input.Reader, input.Object.Namespace)
	}
	if err != nil {
		return nil, err
	}
	return contract.Findings{everyNodeReady: machinestatus.FindingOf(recorded, found)}, nil
}

func listDeployments(ctx context.Context, reader client.Reader, namespace string) ([]machinev1alpha1.MachineDeployment, error) {
	found := &machinev1alpha1.MachineDeploymentList{}
	if err := reader.List(ctx, found, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing the deployments of machines: %w", err)
	}
	return found.Items, nil
}
