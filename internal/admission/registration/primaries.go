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

// maxNameLength is that of a registration that is deployed: on a seed this goes into a namespace named extension-<name>-<five characters>.
const maxNameLength = 63 - len("extension-") - len("-12345")

// registration is what a ControllerRegistration and an Extension have in common.
type registration struct {
	kind, name string
	resources  []gardencorev1beta1.ControllerResource
	// deployed is true when Gardener brings the controller to the seeds.
	deployed bool
}

// claim is a kind and a type that somebody serves.
type claim struct{ kind, providerType string }

func (c claim) String() string { return c.kind + "/" + c.providerType }

// primary returns what is claimed by a resource, unless as a secondary only.
func primary(resource gardencorev1beta1.ControllerResource) (claim, bool) {
	return claim{resource.Kind, resource.Type}, resource.Primary == nil || *resource.Primary
}

// serves returns how often a registration is primary for what.
func (r registration) serves() map[claim]int {
	served := map[claim]int{}
	for _, resource := range r.resources {
		if what, is := primary(resource); is {
			served[what]++
		}
	}
	return served
}

// introduced returns the resources, by their position, that are primary and were not before, wherever in the list they stood.
func (r registration) introduced(before registration) map[int]claim {
	known, introduced := before.serves(), map[int]claim{}
	for i, resource := range r.resources {
		switch what, is := primary(resource); {
		case !is:
		case known[what] > 0:
			known[what]--
		default:
			introduced[i] = what
		}
	}
	return introduced
}

// against adds to a verdict what is to be said in the presence of others.
func (r registration) against(before registration, others []registration, verdict admission.Verdict) admission.Verdict {
	verdict.Errors = append(verdict.Errors, r.conflicts(before, others)...)
	if len(verdict.Errors) == 0 {
		verdict.Warnings = append(verdict.Warnings, r.missing(before, others)...)
	}
	return verdict
}

// conflicts refuses each primary that is introduced where there is one already: in another registration, or above in this one.
func (r registration) conflicts(before registration, others []registration) field.ErrorList {
	holders := map[claim]registration{}
	for _, other := range others {
		for what := range other.serves() {
			holders[what] = other
		}
	}
	var (
		errs       field.ErrorList
		path       = field.NewPath("spec", "resources")
		above      = map[claim]int{}
		introduced = r.introduced(before)
	)
	for i, resource := range r.resources {
		what, is := primary(resource)
		if !is {
			continue
		}
		first, repeated := above[what]
		if !repeated {
			above[what] = i
		}
		if _, isNew := introduced[i]; !isNew {
			continue
		}
		if repeated {
			errs = append(errs, field.Invalid(path.Index(i), what.String(), fmt.Sprintf("says the same as %s: remove one of the two", path.Index(first))))
		} else if holder, taken := holders[what]; taken {
			errs = append(errs, field.Invalid(path.Index(i), what.String(), fmt.Sprintf(
				"%s %q is its primary, and there must be only one: set primary to false here, or remove the resource there first", holder.kind, holder.name)))
		}
	}
	return errs
}

// missing warns that shoots of a type need more than what is introduced here.
func (r registration) missing(before registration, others []registration) []string {
	served := r.serves()
	for _, other := range others {
		for what := range other.serves() {
			served[what]++
		}
	}
	kinds := []string{
		extensionsv1alpha1.InfrastructureResource, extensionsv1alpha1.ControlPlaneResource, extensionsv1alpha1.WorkerResource,
	}
	warned := map[string]string{}
	for _, what := range r.introduced(before) {
		if !slices.Contains(kinds, what.kind) {
			continue
		}
		var lacking []string
		for _, kind := range kinds {
			if served[claim{kind, what.providerType}] == 0 {
				lacking = append(lacking, kind)
			}
		}
		if len(lacking) > 0 {
			warned[what.providerType] = fmt.Sprintf("shoots of type %s still need a primary for %s: register it as well",
				what.providerType, strings.Join(lacking, " and "))
		}
	}
	return slices.Sorted(maps.Values(warned))
}

// nameMistakes refuses a name with which the controller could not be brought to any seed. Names do not change, but deployments come.
func (r registration) nameMistakes(before registration) field.ErrorList {
	if !r.deployed || before.deployed || len(r.name) <= maxNameLength {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), r.name, fmt.Sprintf(
		"may have %d characters at most, since it becomes part of a namespace's name on seeds: choose a shorter one", maxNameLength))}
}
