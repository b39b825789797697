package network

import (
	"context"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/managedresource"
)

// gardenlet aggregates these conditions into conditions of the Shoot.
const (
	systemComponentsHealthy        = gardencorev1beta1.ShootSystemComponentsHealthy
	observabilityComponentsHealthy = gardencorev1beta1.ShootObservabilityComponentsHealthy
)

// AddHealth adds a controller to a manager that maintains two conditions on Networks: SystemComponentsHealthy for the objects in the shoot,
// ObservabilityComponentsHealthy for the monitoring in the seed. It reads the health of the ManagedResources, which includes that of each DaemonSet and
// Deployment, so it needs no access to the shoot.
func AddHealth(mgr manager.Manager, options contract.Options) error {
	var names []string
	for _, networkType := range options.Types {
		names = append(names, resourceShoot(networkType), resourceSeed(networkType))
	}
	return contract.AddHealth(mgr, contract.Health[*extensionsv1alpha1.Network]{
		Name:    "network",
		New:     func() *extensionsv1alpha1.Network { return &extensionsv1alpha1.Network{} },
		Types:   []gardencorev1beta1.ConditionType{systemComponentsHealthy, observabilityComponentsHealthy},
		Check:   checkHealth,
		Watches: managedresource.Watches([]string{annotationHibernated}, names...),
	}, options)
}

// checkHealth makes no request.
func checkHealth(ctx context.Context, check contract.CheckInput[*extensionsv1alpha1.Network]) (contract.Findings, error) {
	shoot, seed := resourceShoot(check.Object.Spec.Type), resourceSeed(check.Object.Spec.Type)
	found, err := managedresource.Read(ctx, check.Watched, check.Object.Namespace, shoot, seed)
	if err != nil {
		return nil, err
	}
	findings := contract.Findings{
		systemComponentsHealthy:        managedresource.FindingOf(managedresource.FindProblems(found, check.Now, shoot), nil),
		observabilityComponentsHealthy: managedresource.FindingOf(managedresource.FindProblems(found, check.Now, seed), nil),
	}
	stage := stateOf(check.Object).Stage
	switch {
	case found[shoot] != nil && found[shoot].Annotations[annotationHibernated] == "true":
		findings[systemComponentsHealthy] = contract.Finding{Healthy: true, Message: "The shoot is hibernated, nothing has to run."}
	case stage != nil && findings[systemComponentsHealthy].Healthy:
		findings[systemComponentsHealthy] = contract.Finding{
			Healthy: true, Message: fmt.Sprintf("The network is healthy and being changed: %s.", stage.Name),
		}
	}
	return findings, nil
}
