// Package featuregates checks and formats the feature gates that users set for components that are built with Kubernetes' libraries.
package featuregates

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/utils/validation/features"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Gates are the user's feature gates for a component of the shoot's version of Kubernetes.
type Gates struct {
	// Configured maps the names of gates to their values.
	Configured map[string]bool
	// KubernetesVersion is the shoot's, e.g. "1.36.3".
	KubernetesVersion string
}

// Validate refuses gates that Kubernetes of the version does not have, or has locked. It is for new shoots. In an existing one they are left out instead: a
// version may have removed what was accepted before, and a component does not start with an unknown gate.
func (g Gates) Validate(path *field.Path) field.ErrorList {
	return features.ValidateFeatureGates(g.Configured, g.KubernetesVersion, path)
}

// unknown are the gates that are left out, sorted.
func (g Gates) unknown() []string {
	var unknown []string
	for name, value := range g.Configured {
		if len(features.ValidateFeatureGates(map[string]bool{name: value}, g.KubernetesVersion, nil)) > 0 {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}

// Messages tells which gates are left out. field is the name of their field in the configuration.
func (g Gates) Messages(field string) []string {
	unknown := g.unknown()
	if len(unknown) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("feature gates %s are left out: Kubernetes %s does not have them, or has locked them; remove them from %s",
		strings.Join(unknown, ", "), g.KubernetesVersion, field)}
}

// Flags returns the flag of the component, or nothing if there are no gates.
func (g Gates) Flags() []string {
	unknown := g.unknown()
	var switches []string
	for _, name := range slices.Sorted(maps.Keys(g.Configured)) {
		if !slices.Contains(unknown, name) {
			switches = append(switches, fmt.Sprintf("%s=%t", name, g.Configured[name]))
		}
	}
	if len(switches) == 0 {
		return nil
	}
	return []string{"--feature-gates=" + strings.Join(switches, ",")}
}
