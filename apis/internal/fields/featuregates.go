package fields

import (
	"maps"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxGateName is the maximum length of the name of a feature gate.
const maxGateName = 255

// FeatureGates checks that names of feature gates have the form of such names. Which of them exist depends on a component's version.
func FeatureGates(gates map[string]bool, path *field.Path) field.ErrorList {
	form := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		switch {
		case len(name) > maxGateName:
			errs = append(errs, field.TooLong(path.Key(name), name, maxGateName))
		case !form.MatchString(name):
			errs = append(errs, field.Invalid(path.Key(name), name, "give the name of a feature gate: letters and digits, a letter first"))
		}
	}
	return errs
}
