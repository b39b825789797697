package registration

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/admission"
)

// maxNameLength is the maximum length of the name of a deployed registration: its namespace on seeds is named extension-<name>-<five
// characters>.
const maxNameLength = 63 - len("extension-") - len("-12345")

// registration has the common fields of a ControllerRegistration and an Extension.
type registration struct {
	kind, name string
	resources  []gardencorev1beta1.ControllerResource
	// deployed is true if Gardener deploys the controller to the seeds.
	deployed bool
}

// kindAndType is a kind and a type that a registration claims.
type kindAndType struct{ kind, providerType string }

func (c kindAndType) String() string { return c.kind + "/" + c.providerType }

// primaryKindAndType returns the kind and type of a resource, unless it is secondary.
func primaryKindAndType(resource gardencorev1beta1.ControllerResource) (kindAndType, bool) {
	return kindAndType{resource.Kind, resource.Type}, resource.Primary == nil || *resource.Primary
}

// primaries returns how often a registration is primary for each kind and type.
func (r registration) primaries() map[kindAndType]int {
	counts := map[kindAndType]int{}
	for _, resource := range r.resources {
		if key, isPrimary := primaryKindAndType(resource); isPrimary {
			counts[key]++
		}
	}
	return counts
}

// introduced returns the resources, by their position, that are primary and were not before, wherever in the list they stood.
func (r registration) introduced(before registration) map[int]kindAndType {
	known, introduced := before.primaries(), map[int]kindAndType{}
	for i, resource := range r.resources {
		switch key, isPrimary := primaryKindAndType(resource); {
		case !isPrimary:
		case known[key] > 0:
			known[key]--
		default:
			introduced[i] = key
		}
	}
	return introduced
}

// introducedSecondaries returns the kinds and types that a registration observes and did not before.
func (r registration) introducedSecondaries(before registration) []kindAndType {
	known := map[kindAndType]bool{}
	for _, resource := range before.resources {
		if key, isPrimary := primaryKindAndType(resource); !isPrimary {
			known[key] = true
		}
	}
	var introduced []kindAndType
	for _, resource := range r.resources {
		if key, isPrimary := primaryKindAndType(resource); !isPrimary && !known[key] {
			known[key] = true
			introduced = append(introduced, key)
		}
	}
	return introduced
}

// validateAgainst adds the errors and warnings that result from other registrations.
func (r registration) validateAgainst(before registration, others []registration, result admission.Result) admission.Result {
	result.Errors = append(result.Errors, r.conflicts(before, others)...)
	if len(result.Errors) == 0 {
		counts := r.allPrimaries(others)
		result.Warnings = append(result.Warnings, r.missingPrimaryWarnings(before, counts)...)
		result.Warnings = append(result.Warnings, r.onlyObservedWarnings(before, counts)...)
	}
	return result
}

// allPrimaries returns how often there is a primary for each kind and type, in a registration and in others.
func (r registration) allPrimaries(others []registration) map[kindAndType]int {
	counts := r.primaries()
	for _, other := range others {
		for key := range other.primaries() {
			counts[key]++
		}
	}
	return counts
}

// onlyObservedWarnings warns of introduced secondaries whose objects have no primary. That is no error: both may be registered in any order.
func (r registration) onlyObservedWarnings(before registration, primaries map[kindAndType]int) []string {
	var warnings []string
	for _, key := range r.introducedSecondaries(before) {
		if primaries[key] == 0 {
			warnings = append(warnings, key.String()+" has no primary, so there is nothing that a secondary could observe: register a primary as well")
		}
	}
	return warnings
}

// conflicts rejects each introduced primary that already exists in another registration, or earlier in this one.
func (r registration) conflicts(before registration, others []registration) field.ErrorList {
	owners := map[kindAndType]registration{}
	for _, other := range others {
		for key := range other.primaries() {
			owners[key] = other
		}
	}
	var (
		errs       field.ErrorList
		path       = field.NewPath("spec", "resources")
		firstIndex = map[kindAndType]int{}
		introduced = r.introduced(before)
	)
	for i, resource := range r.resources {
		key, isPrimary := primaryKindAndType(resource)
		if !isPrimary {
			continue
		}
		first, repeated := firstIndex[key]
		if !repeated {
			firstIndex[key] = i
		}
		if _, isNew := introduced[i]; !isNew {
			continue
		}
		if repeated {
			errs = append(errs, field.Invalid(path.Index(i), key.String(), fmt.Sprintf("says the same as %s: remove one of the two", path.Index(first))))
		} else if owner, exists := owners[key]; exists {
			errs = append(errs, field.Invalid(path.Index(i), key.String(), fmt.Sprintf(
				"%s %q is its primary, and there must be only one: set primary to false here, or remove the resource there first", owner.kind, owner.name)))
		}
	}
	return errs
}

// missingPrimaryWarnings warns of kinds that shoots of an introduced type need and that have no primary; counts are the numbers of all primaries.
func (r registration) missingPrimaryWarnings(before registration, counts map[kindAndType]int) []string {
	kinds := []string{
		extensionsv1alpha1.InfrastructureResource, extensionsv1alpha1.ControlPlaneResource, extensionsv1alpha1.WorkerResource,
	}
	warned := map[string]string{}
	for _, key := range r.introduced(before) {
		if !slices.Contains(kinds, key.kind) {
			continue
		}
		var lacking []string
		for _, kind := range kinds {
			if counts[kindAndType{kind, key.providerType}] == 0 {
				lacking = append(lacking, kind)
			}
		}
		if len(lacking) > 0 {
			warned[key.providerType] = fmt.Sprintf("shoots of type %s still need a primary for %s: register it as well",
				key.providerType, strings.Join(lacking, " and "))
		}
	}
	return slices.Sorted(maps.Values(warned))
}

// validateName rejects a name with which the controller could not be deployed to any seed. Names do not change, but deployments may
// be added later.
func (r registration) validateName(before registration) field.ErrorList {
	if !r.deployed || before.deployed || len(r.name) <= maxNameLength {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), r.name, fmt.Sprintf(
		"may have %d characters at most, since it becomes part of a namespace's name on seeds: choose a shorter one", maxNameLength))}
}
