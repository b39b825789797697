package controlplane

import (
	"context"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/managedresource"
)

// annotationHibernated on the ManagedResource of the seed marks that its Deployments are scaled to zero.
const annotationHibernated = "controlplane.trellis.garden/hibernated"

// gardenlet copies these conditions to the Shoot.
const (
	controlPlaneHealthy     = gardencorev1beta1.ShootControlPlaneHealthy
	systemComponentsHealthy = gardencorev1beta1.ShootSystemComponentsHealthy
)

// AddHealth adds a controller to a manager that writes two conditions of ControlPlanes: ControlPlaneHealthy for the components in the seed,
// SystemComponentsHealthy for those in the shoot. It reads the ManagedResources, so it covers all components that are deployed, and no others. In the shoot it
// only reads the Events of the plan's EventReporters.
func AddHealth(mgr manager.Manager, options contract.Options) error {
	return contract.AddHealth(mgr, contract.Health[*extensionsv1alpha1.ControlPlane]{
		Name:  "controlplane",
		New:   func() *extensionsv1alpha1.ControlPlane { return &extensionsv1alpha1.ControlPlane{} },
		Types: []gardencorev1beta1.ConditionType{controlPlaneHealthy, systemComponentsHealthy},
		Check: checkHealth,
		Watches: managedresource.Watches([]string{annotationHibernated, annotationEventReporters},
			resourceSeed, resourceShoot, resourceShootCRDs, resourceStorageClasses),
	}, options)
}

// checkHealth makes no request if all is healthy and no component reports by Events.
func checkHealth(ctx context.Context, check contract.CheckInput[*extensionsv1alpha1.ControlPlane]) (contract.Findings, error) {
	found, err := managedresource.Read(ctx, check.Watched, check.Object.Namespace,
		resourceSeed, resourceShoot, resourceShootCRDs, resourceStorageClasses)
	if err != nil {
		return nil, err
	}
	seedObject := found[resourceSeed]
	if seedObject != nil && seedObject.Annotations[annotationHibernated] == "true" {
		hibernatedFinding := contract.Finding{Healthy: true, Message: "The shoot is hibernated, nothing has to run."}
		return contract.Findings{controlPlaneHealthy: hibernatedFinding, systemComponentsHealthy: hibernatedFinding}, nil
	}
	seed := managedresource.FindProblems(found, check.Now, resourceSeed)
	for n := range seed {
		addDiagnosis(ctx, check.Reader, &seed[n])
	}
	shoot := managedresource.FindProblems(found, check.Now, resourceShoot, resourceShootCRDs, resourceStorageClasses)
	if isHibernating(check.Object) { // what is in the seed runs until the kube-apiserver is gone, nodes go before
		return contract.Findings{
			controlPlaneHealthy:     managedresource.FindingOf(seed, lastCodes(check.Object)),
			systemComponentsHealthy: {Healthy: true, Message: "The shoot is being hibernated, nothing has to run in it."},
		}, nil
	}
	findings := contract.Findings{systemComponentsHealthy: managedresource.FindingOf(shoot, nil)}
	reported, err := reportedProblems(ctx, check.Reader, seedObject, check.Now)
	seed = append(seed, reported...)
	if err == nil || len(seed) > 0 { // otherwise it is unknown
		findings[controlPlaneHealthy] = managedresource.FindingOf(seed, lastCodes(check.Object))
	}
	return findings, err
}

// lastCodes returns the codes of the ControlPlane's own last error, which may explain unhealthy components.
func lastCodes(object *extensionsv1alpha1.ControlPlane) []gardencorev1beta1.ErrorCode {
	if object.Status.LastError == nil {
		return nil
	}
	return object.Status.LastError.Codes
}

// addDiagnosis adds the cause of unhealthy components. If it cannot be determined, the condition is reported without it.
func addDiagnosis(ctx context.Context, reader client.Reader, problem *managedresource.Problem) {
	if !problem.Applied {
		return
	}
	explanation, err := explain(ctx, reader, problem.Resource)
	switch {
	case err != nil:
		problem.Description = fmt.Sprintf("%s (%v)", problem.Clause(), err)
	case explanation != "":
		problem.Description = explanation
	}
}
