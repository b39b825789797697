package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// oneOf rejects a value that is not allowed. An absent field is accepted.
func oneOf[Value ~string](value Value, path *field.Path, allowed ...Value) field.ErrorList {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	var names []string
	for _, name := range allowed {
		names = append(names, string(name))
	}
	err := field.Invalid(path, value, fmt.Sprintf("write %s, or remove the field", strings.Join(names, " or ")))
	err.Type = field.ErrorTypeNotSupported
	return field.ErrorList{err}
}

// validateName requires a DNS label that is not in before, to which it is added.
func validateName(name string, before map[string]bool, path *field.Path) field.ErrorList {
	switch {
	case name == "":
		return field.ErrorList{field.Required(path, "give a name that no other has in the list")}
	case len(validation.IsDNS1123Label(name)) > 0:
		return field.ErrorList{field.Invalid(path, name, "use at most 63 lower-case letters, digits and dashes, with no dash at either end")}
	case before[name]:
		err := field.Duplicate(path, name)
		err.Detail = "rename or remove one of the two"
		return field.ErrorList{err}
	}
	before[name] = true
	return nil
}

const (
	labelKeyRemedy   = "is not a label key: use letters, digits, dashes, underscores and dots, after a DNS name and a slash if need be"
	labelValueRemedy = "is not a label value: use at most 63 letters, digits, dashes, underscores and dots"
)

// validateSeedSelector accepts what Kubernetes accepts (apimachinery's ValidateLabelSelector), except nil.
func validateSeedSelector(selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if selector == nil {
		return field.ErrorList{field.Required(path, "say by their labels which seeds are meant; {} means all")}
	}
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		labelPath := path.Child("matchLabels").Key(key)
		if len(validation.IsQualifiedName(key)) > 0 {
			errs = append(errs, field.Invalid(labelPath, key, labelKeyRemedy))
		}
		errs = append(errs, validateLabelValue(selector.MatchLabels[key], labelPath)...)
	}
	for i, requirement := range selector.MatchExpressions {
		errs = append(errs, validateRequirement(requirement, path.Child("matchExpressions").Index(i))...)
	}
	return errs
}

func validateRequirement(requirement metav1.LabelSelectorRequirement, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(validation.IsQualifiedName(requirement.Key)) > 0 {
		errs = append(errs, field.Invalid(path.Child("key"), requirement.Key, labelKeyRemedy))
	}
	switch requirement.Operator {
	case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
		if len(requirement.Values) == 0 {
			errs = append(errs, field.Required(path.Child("values"), fmt.Sprintf("give the values that %s is about", requirement.Operator)))
		}
	case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
		if len(requirement.Values) > 0 {
			errs = append(errs, field.Forbidden(path.Child("values"),
				fmt.Sprintf("%s asks for no value: remove them, or use In or NotIn", requirement.Operator)))
		}
	default:
		err := field.Invalid(path.Child("operator"), requirement.Operator, "write In, NotIn, Exists or DoesNotExist")
		err.Type = field.ErrorTypeNotSupported
		errs = append(errs, err)
	}
	for i, value := range requirement.Values {
		errs = append(errs, validateLabelValue(value, path.Child("values").Index(i))...)
	}
	return errs
}

func validateLabelValue(value string, path *field.Path) field.ErrorList {
	if len(validation.IsValidLabelValue(value)) > 0 {
		return field.ErrorList{field.Invalid(path, value, labelValueRemedy)}
	}
	return nil
}
