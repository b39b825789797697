package openstack

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/utils/validation/features"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// configuredFeatureGates are the user's for the cloud-controller-manager.
func (in *inputs) configuredFeatureGates() map[string]bool {
	if in.config.CloudControllerManager == nil {
		return nil
	}
	return in.config.CloudControllerManager.FeatureGates
}

// validateFeatureGates refuses gates that Kubernetes of the shoot's version does not have, or has locked. In an existing shoot they are left out instead: a
// version may have removed what was accepted before, and a cloud-controller-manager does not start with an unknown gate.
func (in *inputs) validateFeatureGates(path *field.Path) field.ErrorList {
	if !in.isNew {
		return nil
	}
	return features.ValidateFeatureGates(in.configuredFeatureGates(), in.kubernetesVersion, path.Child("cloudControllerManager", "featureGates"))
}

// unknownFeatureGates are the user's gates that are left out, sorted.
func (in *inputs) unknownFeatureGates() []string {
	var unknown []string
	for name, value := range in.configuredFeatureGates() {
		if len(features.ValidateFeatureGates(map[string]bool{name: value}, in.kubernetesVersion, nil)) > 0 {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}

// featureGates is the value of the flag.
func (in *inputs) featureGates() string {
	gates, unknown := in.configuredFeatureGates(), in.unknownFeatureGates()
	var switches []string
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		if !slices.Contains(unknown, name) {
			switches = append(switches, fmt.Sprintf("%s=%t", name, gates[name]))
		}
	}
	return strings.Join(switches, ",")
}
