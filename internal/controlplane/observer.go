package controlplane

import (
	"context"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/observer"
)

// Names of the observations of ControlPlanes.
const (
	// ObservationComponentVersions compares the images of the components with those that this version of the primary deploys for the shoot's version of
	// Kubernetes, and checks that their Deployments are rolled out.
	ObservationComponentVersions = "component-versions"
	// ObservationCertificates checks that the contract's own certificates do not end soon.
	ObservationCertificates = "certificates"
)

// Observations are what a secondary controller reports of ControlPlanes.
func Observations() []observer.Observation {
	return []observer.Observation{
		{Name: ObservationComponentVersions, Condition: "ControlPlaneComponentsUpToDate"},
		{Name: ObservationCertificates, Condition: "ControlPlaneCertificatesValid"},
	}
}

// AddObserver adds the secondary controller for ControlPlanes to a manager. drivers and images are those of Add: drivers are pure, so that an observer can
// compute what the primary would deploy.
func AddObserver(mgr manager.Manager, drivers map[string]Driver, images Images, options observer.Options) error {
	if err := contract.RequireDrivers("control plane observer", drivers, options.Types); err != nil {
		return err
	}
	return observer.Add(mgr, observer.Observer[*extensionsv1alpha1.ControlPlane]{
		Name:         "controlplane",
		New:          func() *extensionsv1alpha1.ControlPlane { return &extensionsv1alpha1.ControlPlane{} },
		Observations: Observations(),
		Observe: func(ctx context.Context, input observer.Input[*extensionsv1alpha1.ControlPlane]) (observer.Result, error) {
			driver, found := drivers[input.Object.Spec.Type]
			if !found {
				return observer.Result{}, fmt.Errorf("no driver for type %q", input.Object.Spec.Type)
			}
			return observe(ctx, driver, images[input.Object.Spec.Type], input), nil
		},
	}, options)
}

// observe makes the wanted observations of one ControlPlane. One that does not apply has no finding.
func observe(ctx context.Context, driver Driver, images images.Vector, input observer.Input[*extensionsv1alpha1.ControlPlane]) observer.Result {
	findings := map[string]observer.Finding{}
	for name, observe := range map[string]func() (*observer.Finding, error){
		ObservationComponentVersions: func() (*observer.Finding, error) { return observeVersions(ctx, driver, images, input) },
		ObservationCertificates:      func() (*observer.Finding, error) { return observeCertificates(ctx, input) },
	} {
		if !input.Wanted[name] {
			continue
		}
		finding, err := observe()
		switch {
		case err != nil:
			findings[name] = observer.Finding{Err: err}
		case finding != nil:
			findings[name] = *finding
		}
	}
	return observer.Result{Findings: findings}
}
