package landscape

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	seedBlocked   = "Gardener installs, updates and removes nothing on this seed"
	untilResolved = ": until it is, " + seedBlocked
)

// registered is what counts of a registration.
type registered struct {
	name     string
	primary  map[ID]bool
	policy   gardencorev1beta1.ControllerDeploymentPolicy
	selector *metav1.LabelSelector
	trellis  bool
	deleting bool
	// installer is the type of its deployment.
	installer string
	// missingDeployment is the name of a ControllerDeployment that is referred to and not there.
	missingDeployment string
	// references are those of its deployment.
	references []Reference
}

// registry is what is registered in a garden.
type registry struct {
	byName map[string]*registered
	// serving has the registrations for each kind and type, primaries first, then by name.
	serving map[ID][]*registered
}

func register(g *Garden) registry {
	result := registry{byName: map[string]*registered{}, serving: map[ID][]*registered{}}
	deployments := map[string]*gardencorev1.ControllerDeployment{}
	for i := range g.Deployments {
		deployments[g.Deployments[i].Name] = &g.Deployments[i]
	}
	for _, registration := range g.Registrations {
		r := &registered{name: registration.Name, primary: map[ID]bool{}, deleting: registration.DeletionTimestamp != nil}
		var deployment *gardencorev1.ControllerDeployment
		if d := registration.Spec.Deployment; d != nil {
			r.selector = d.SeedSelector
			if d.Policy != nil {
				r.policy = *d.Policy
			}
			// Gardener takes the first, and allows no more.
			if len(d.DeploymentRefs) > 0 {
				deployment = deployments[d.DeploymentRefs[0].Name]
				if deployment == nil {
					r.missingDeployment = d.DeploymentRefs[0].Name
				}
			}
		}
		r.trellis = isTrellis(registration, deployment)
		if deployment != nil {
			r.installer, r.references = installerOf(deployment), referencesOf(deployment)
		}
		for _, resource := range registration.Spec.Resources {
			id := ID{resource.Kind, resource.Type}
			if _, twice := r.primary[id]; !twice {
				result.serving[id] = append(result.serving[id], r)
			}
			r.primary[id] = r.primary[id] || isPrimary(resource)
		}
		result.byName[r.name] = r
	}
	for id, servers := range result.serving {
		slices.SortFunc(servers, func(a, b *registered) int {
			return cmp.Or(-compareBool(a.primary[id], b.primary[id]), compareBool(a.deleting, b.deleting), strings.Compare(a.name, b.name))
		})
	}
	return result
}

func isPrimary(resource gardencorev1beta1.ControllerResource) bool {
	return resource.Primary == nil || *resource.Primary
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// duplicates finds kinds and types with more than one primary, also where none is wanted now: the first shoot that wants one would
// have them both.
func (r registry) duplicates() []string {
	var problems []string
	for _, id := range slices.SortedFunc(maps.Keys(r.serving), ID.compare) {
		var primaries []string
		for _, server := range r.serving[id] {
			if server.primary[id] {
				primaries = append(primaries, server.name)
			}
		}
		if len(primaries) > 1 {
			problems = append(problems, fmt.Sprintf("%s has %d primaries, which would fight over the same objects: %s; take it out of all registrations but one",
				id, len(primaries), strings.Join(primaries, ", ")))
		}
	}
	return problems
}

// problemOf says what is wrong with how a wanted kind and type is registered, "" if nothing.
func (r registry) problemOf(id ID) string {
	servers := r.serving[id]
	switch {
	case len(servers) == 0:
		return "is registered by nobody" + untilResolved + "; register an extension for it"
	case !slices.ContainsFunc(servers, func(s *registered) bool { return s.primary[id] }):
		return "is registered by secondaries only (" + servers[0].name + "): nobody fulfils its objects; register a primary"
	case !slices.ContainsFunc(servers, func(s *registered) bool { return s.primary[id] && !s.deleting }):
		return "is registered by " + servers[0].name + " only, which is being deleted: it is installed on no further seed; register another extension for it"
	default:
		return ""
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
