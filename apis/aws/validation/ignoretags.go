package validation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

// tagName is the key of the tag by which resources are found, and reservedTagPrefixes are what keys of other such tags begin with.
const tagName = "Name"

func reservedTagPrefixes() []string { return []string{"kubernetes.io", "gardener.cloud"} }

// validateIgnoreTags rejects tags by which the controllers find resources.
func validateIgnoreTags(tags *v1alpha1.IgnoreTags, path *field.Path) field.ErrorList {
	if tags == nil {
		return nil
	}
	var errs field.ErrorList
	rule := tagKey()
	for i, key := range tags.Keys {
		invalid := rule.validate(key, path.Child("keys").Index(i))
		if isReserved := func(prefix string) bool { return strings.HasPrefix(key, prefix) }; key == tagName || slices.ContainsFunc(reservedTagPrefixes(), isReserved) {
			invalid = append(invalid, reservedTag(path.Child("keys").Index(i), key))
		}
		errs = append(errs, invalid...)
	}
	for i, prefix := range tags.KeyPrefixes {
		invalid := rule.validate(prefix, path.Child("keyPrefixes").Index(i))
		overlaps := func(reserved string) bool {
			return strings.HasPrefix(prefix, reserved) || strings.HasPrefix(reserved, prefix)
		}
		if prefix != "" && (strings.HasPrefix(tagName, prefix) || slices.ContainsFunc(reservedTagPrefixes(), overlaps)) {
			invalid = append(invalid, reservedTag(path.Child("keyPrefixes").Index(i), prefix))
		}
		errs = append(errs, invalid...)
	}
	return errs
}

func reservedTag(path *field.Path, text string) *field.Error {
	return field.Invalid(path, text, fmt.Sprintf("resources are found by tags with the key %s and keys that begin with %s: remove it, or give a longer prefix",
		tagName, strings.Join(reservedTagPrefixes(), " or ")))
}
