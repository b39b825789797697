package validation

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

const (
	// gardenerKey is the key under which Gardener passes data of garden and seed to a chart.
	gardenerKey     = "gardener"
	maxHistoryLimit = 20
)

// ValidateControllerDeploymentConfig rejects what cannot be installed or rolled out, whatever the chart and the seeds are. path is the
// path of the configuration.
func ValidateControllerDeploymentConfig(config *v1alpha1.ControllerDeploymentConfig, path *field.Path) field.ErrorList {
	errs := validateSource(config, path)
	errs = append(errs, validateValues(config.Values, path.Child("values"))...)
	errs = append(errs, validateOverlays(config.ValuesOverlays, path.Child("valuesOverlays"))...)
	if config.Rollout != nil {
		errs = append(errs, validateRollout(config.Rollout, path.Child("rollout"))...)
	}
	if config.Uninstall != nil {
		errs = append(errs, oneOf(config.Uninstall.WhileRequired, path.Child("uninstall", "whileRequired"),
			v1alpha1.UninstallWait, v1alpha1.UninstallProceed)...)
	}
	if limit := config.HistoryLimit; limit != nil && (*limit < 0 || *limit > maxHistoryLimit) {
		errs = append(errs, field.Invalid(path.Child("historyLimit"), *limit,
			fmt.Sprintf("write a number from 0 to %d, or remove the field", maxHistoryLimit)))
	}
	return errs
}

// validateSource requires exactly one source of the chart.
func validateSource(config *v1alpha1.ControllerDeploymentConfig, path *field.Path) field.ErrorList {
	switch repository := config.OCIRepository; {
	case len(config.Chart) == 0 && repository == nil:
		return field.ErrorList{field.Required(path.Child("chart"), "give a chart, or say in ociRepository where to pull one")}
	case len(config.Chart) > 0 && repository != nil:
		return field.ErrorList{field.Forbidden(path.Child("ociRepository"), "there is a chart in the field chart already: remove one of the two")}
	case repository != nil:
		return validateOCIRepository(repository, path.Child("ociRepository"))
	}
	return nil
}

// validateValues requires an object without Gardener's key. Errors do not contain the values: there may be secrets among them.
func validateValues(values *runtime.RawExtension, path *field.Path) field.ErrorList {
	if values == nil {
		return nil
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return field.ErrorList{field.TypeInvalid(path, field.OmitValueType{}, "is not JSON: write an object, like {replicaCount: 2}")}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return field.ErrorList{field.TypeInvalid(path, field.OmitValueType{}, "is not an object: write one, like {replicaCount: 2}")}
	}
	if _, ok := object[gardenerKey]; ok {
		return field.ErrorList{field.Forbidden(path.Child(gardenerKey),
			"this key is Gardener's, which tells charts about garden and seed in it: remove it")}
	}
	return nil
}
