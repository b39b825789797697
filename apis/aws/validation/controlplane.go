package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/ratcheting"
)

// ValidateControlPlaneConfig checks a configuration. oldConfig is the previously accepted one, nil for a new shoot: its errors are not reported again. Which
// feature gates exist depends on the version of the cloud-controller-manager, and is checked elsewhere.
func ValidateControlPlaneConfig(config, oldConfig *v1alpha1.ControlPlaneConfig, fldPath *field.Path) field.ErrorList {
	errs := validateControlPlaneConfig(config, fldPath)
	if oldConfig != nil {
		errs = ratcheting.Introduced(validateControlPlaneConfig(oldConfig, fldPath), errs)
	}
	return errs
}

func validateControlPlaneConfig(config *v1alpha1.ControlPlaneConfig, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	if manager := config.CloudControllerManager; manager != nil {
		errs = append(errs, fields.FeatureGates(manager.FeatureGates, fldPath.Child("cloudControllerManager", "featureGates"))...)
	}
	if controller := config.LoadBalancerController; controller != nil {
		errs = append(errs, ingressClassName().validateOptional(controller.IngressClassName, fldPath.Child("loadBalancerController", "ingressClassName"))...)
	}
	return errs
}
