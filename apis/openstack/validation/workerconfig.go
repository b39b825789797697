package validation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
	machinev1alpha1 "github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// policyAffinity keeps all servers of a group on one host.
const policyAffinity = "affinity"

// PoolValidationContext is the context in which a WorkerConfig is validated.
type PoolValidationContext struct {
	// Profile is the CloudProfile's configuration. Without it, what depends on it is not checked.
	Profile *v1alpha1.CloudProfileConfig
	// Zones and Labels are the pool's.
	Zones  []string
	Labels map[string]string
}

// ValidateWorkerConfig checks a configuration by itself and against its pool and the CloudProfile. oldConfig is the previously accepted
// one, nil for a new pool; see ValidateWorkerPool.
func ValidateWorkerConfig(config, oldConfig *v1alpha1.WorkerConfig, in PoolValidationContext, fldPath *field.Path) field.ErrorList {
	if oldConfig == nil {
		oldConfig = &v1alpha1.WorkerConfig{}
	}
	errs := fields.NodeTemplate(config.NodeTemplate, fldPath.Child("nodeTemplate"))
	errs = append(errs, validateServerGroup(config.ServerGroup, oldConfig.ServerGroup, in, fldPath.Child("serverGroup", "policy"))...)
	errs = append(errs, validateMachineLabels(config.MachineLabels, oldConfig.MachineLabels, in.Labels, fldPath.Child("machineLabels"))...)
	errs = append(errs, validateSecurityGroups(config.AdditionalSecurityGroups, fldPath.Child("additionalSecurityGroups"))...)
	return append(errs, validateAdditionalNetworks(config.AdditionalNetworks, fldPath.Child("additionalNetworks"))...)
}

// validateServerGroup checks a new policy against the CloudProfile.
func validateServerGroup(group, oldGroup *v1alpha1.ServerGroup, in PoolValidationContext, path *field.Path) field.ErrorList {
	if group == nil {
		return nil
	}
	if group.Policy == policyAffinity && len(in.Zones) > 1 {
		return field.ErrorList{field.Invalid(path, group.Policy,
			"no host is in several zones: choose soft-affinity, or a single zone for the pool")}
	}
	if in.Profile == nil {
		return nil
	}
	offered := in.Profile.ServerGroupPolicies
	switch {
	case group.Policy == "" && len(offered) > 0:
		return field.ErrorList{field.Required(path, "choose one of "+strings.Join(fields.Quoted(offered), ", ")+", or remove serverGroup")}
	case group.Policy == "":
		return field.ErrorList{field.Required(path, "remove serverGroup: the CloudProfile allows no policy")}
	case oldGroup != nil && oldGroup.Policy == group.Policy, slices.Contains(offered, group.Policy):
		return nil
	case len(offered) == 0:
		return field.ErrorList{field.Invalid(path, group.Policy, "the CloudProfile allows no server groups: ask its admin to, or remove serverGroup")}
	default:
		return field.ErrorList{field.Invalid(path, group.Policy, "the CloudProfile does not allow it: choose one of "+strings.Join(fields.Quoted(offered), ", "))}
	}
}

func validateMachineLabels(labels, oldLabels []v1alpha1.MachineLabel, ofPool map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names, before := fields.Seen[string]{}, map[string]bool{}
	for _, label := range oldLabels {
		before[label.Name] = true
	}
	for i, label := range labels {
		name := path.Index(i).Child("name")
		errs = append(errs, validateLine(label.Name, "the key of the metadata", name)...)
		if label.Value != "" {
			errs = append(errs, validateLine(label.Value, "a value of the metadata", path.Index(i).Child("value"))...)
		}
		_, isOfPool := ofPool[label.Name]
		switch {
		case names.IsDuplicate(label.Name):
			errs = append(errs, fields.Duplicate(name, label.Name))
		case isOfPool:
			errs = append(errs, field.Invalid(name, label.Name, "is a label of the pool, which is in the metadata anyway: remove one of the two"))
		case machinev1alpha1.IsIdentity(machinev1alpha1.TagKey(label.Name)) && !before[label.Name]:
			errs = append(errs, field.Invalid(name, label.Name, fmt.Sprintf("says whose machine it is, which is not yours to say: "+
				"choose a name that begins neither with %q nor with %q", machinev1alpha1.TagClusterPrefix, machinev1alpha1.TagRolePrefix)))
		}
	}
	return errs
}

func validateSecurityGroups(groups []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := fields.Seen[string]{}
	for i, group := range groups {
		errs = append(errs, validateLine(group, "the name of a security group", path.Index(i))...)
		if known.IsDuplicate(group) {
			errs = append(errs, fields.Duplicate(path.Index(i), group))
		}
	}
	return errs
}

func validateAdditionalNetworks(networks []v1alpha1.AdditionalNetwork, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := fields.Seen[v1alpha1.AdditionalNetwork]{}
	for i, network := range networks {
		entry := path.Index(i)
		switch {
		case network.ID != "" && network.Name != "":
			errs = append(errs, field.Forbidden(entry.Child("name"), "the ID says it already: remove one of the two"))
		case network.ID != "":
			errs = append(errs, validateUUID(network.ID, "network", entry.Child("id"))...)
		default:
			errs = append(errs, validateLine(network.Name, "the ID of the network, or its name", entry.Child("name"))...)
		}
		if known.IsDuplicate(network) {
			errs = append(errs, fields.Duplicate(entry, network.ID+network.Name))
		}
	}
	return errs
}
