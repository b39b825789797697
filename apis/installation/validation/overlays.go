package validation

import (
	"fmt"
	"regexp"
	"strings"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

func validateOverlays(overlays []v1alpha1.ValuesOverlay, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for i := range overlays {
		overlay, overlayPath := &overlays[i], path.Index(i)
		errs = append(errs, validateName(overlay.Name, names, overlayPath.Child("name"))...)
		errs = append(errs, validateSeeds(overlay, overlayPath)...)
		if overlay.Values == nil {
			errs = append(errs, field.Required(overlayPath.Child("values"), "give values that differ on these seeds, or remove the overlay"))
		}
		errs = append(errs, validateValues(overlay.Values, overlayPath.Child("values"))...)
	}
	return errs
}

// validateSeeds requires exactly one selection of seeds.
func validateSeeds(overlay *v1alpha1.ValuesOverlay, path *field.Path) field.ErrorList {
	if len(overlay.SeedNames) == 0 {
		return validateSeedSelector(overlay.SeedSelector, path.Child("seedSelector"))
	}
	if overlay.SeedSelector != nil {
		return field.ErrorList{field.Forbidden(path.Child("seedSelector"), "there are seedNames already: remove one of the two")}
	}
	var errs field.ErrorList
	for i, name := range overlay.SeedNames {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			errs = append(errs, field.Invalid(path.Child("seedNames").Index(i), name, "is not the name of a Seed: use lower-case letters, digits, dashes and dots"))
		}
	}
	return errs
}

// ValidateOverlaySecrets rejects overlays that select seeds by labels and refer to a Secret. resources are those of the ControllerDeployment, to
// whose data values can refer. gardenlet may write the labels of its own seed, so everyone who controls one seed could read such a Secret. path is
// the path of the overlays.
func ValidateOverlaySecrets(
	overlays []v1alpha1.ValuesOverlay, resources []gardencorev1.NamedResourceReference, path *field.Path,
) field.ErrorList {
	secrets, others := sets.New[string](), sets.New[string]()
	for _, resource := range resources {
		if resource.ResourceRef.Kind == "Secret" {
			secrets.Insert(resource.Name)
		} else {
			others.Insert(resource.Name)
		}
	}
	if secrets.Len() == 0 {
		return nil
	}
	var errs field.ErrorList
	for i, overlay := range overlays {
		if len(overlay.SeedNames) > 0 || overlay.Values == nil || !mayReadSecret(string(overlay.Values.Raw), others.Difference(secrets)) {
			continue
		}
		errs = append(errs, field.Forbidden(path.Index(i).Child("seedSelector"), fmt.Sprintf(
			"values of this overlay may take something from a Secret (%s), and a gardenlet can change the labels of its seed: name the seeds in seedNames instead",
			strings.Join(sets.List(secrets), ", "))))
	}
	return errs
}

// mayReadSecret reports whether values have a template that is not a plain reference to one of the harmless resources. What other templates read is
// only known when they are executed.
func mayReadSecret(values string, harmless sets.Set[string]) bool {
	plain := regexp.MustCompile(`\{\{-?\s*\.resources\.(\w+)\.data\.\w+\s*-?\}\}`)
	rest := plain.ReplaceAllStringFunc(values, func(reference string) string {
		if harmless.Has(plain.FindStringSubmatch(reference)[1]) {
			return ""
		}
		return reference
	})
	// JSON may write any letter as \u and four digits.
	return strings.Contains(rest, "{{") || strings.Contains(rest, `\u007b`) || strings.Contains(rest, `\u007B`)
}
