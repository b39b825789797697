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

// annotationHibernated on the ManagedResource of the seed says that everything in it is scaled to zero.
const annotationHibernated = "controlplane.trellis.garden/hibernated"

// The conditions are those that gardenlet makes conditions of the Shoot of.
const (
	controlPlaneHealthy     = gardencorev1beta1.ShootControlPlaneHealthy
	systemComponentsHealthy = gardencorev1beta1.ShootSystemComponentsHealthy
)

// AddHealth adds a controller to a manager that keeps two conditions on ControlPlanes: ControlPlaneHealthy for what is in
// the seed, SystemComponentsHealthy for what is in the shoot. It goes by the ManagedResources, so that it knows every
// component there is and needs no access to the shoot.
func AddHealth(mgr manager.Manager, options contract.Options) error {
	return contract.AddHealth(mgr, contract.Health[*extensionsv1alpha1.ControlPlane]{
		Name:  "controlplane",
		New:   func() *extensionsv1alpha1.ControlPlane { return &extensionsv1alpha1.ControlPlane{} },
		Types: []gardencorev1beta1.ConditionType{controlPlaneHealthy, systemComponentsHealthy},
		Check: checkHealth,
	}, options)
}

// checkHealth costs four small requests while all is well.
func checkHealth(ctx context.Context, check contract.CheckInput[*extensionsv1alpha1.ControlPlane]) (contract.Findings, error) {
	found, err := managedresource.Read(ctx, check.Reader, check.Object.Namespace,
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
	findings := contract.Findings{
		controlPlaneHealthy:     managedresource.FindingOf(seed, lastCodes(check.Object)),
		systemComponentsHealthy: managedresource.FindingOf(shoot, nil),
	}
	if isHibernating(check.Object) { // what is in the seed runs until the kube-apiserver is gone, nodes go before
		findings[systemComponentsHealthy] = contract.Finding{Healthy: true, Message: "The shoot is being hibernated, nothing has to run in it."}
	}
	return findings, nil
}

// lastCodes returns the codes of the ControlPlane's own last error, which say why what it deploys is not well.
func lastCodes(object *extensionsv1alpha1.ControlPlane) []gardencorev1beta1.ErrorCode {
	if object.Status.LastError == nil {
		return nil
	}
	return object.Status.LastError.Codes
}

// addDiagnosis finds out what it is that ails the components. That it could not is no reason to say less.
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
