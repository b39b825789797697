package validation

import (
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/ratcheting"
)

// ValidateInfrastructureConfig checks a configuration by itself and against the networking of its shoot. Errors of the
// latter have the path spec.networking. oldConfig is the previously accepted configuration, nil for a new shoot.
//
// Errors that oldConfig has are not reported again: it is mostly immutable, and the upstream extension admits, or admitted once,
// what this function rejects; such shoots stay valid. If the accepted configuration is not known, pass config twice. The shoot's
// networking is always checked.
func ValidateInfrastructureConfig(config, oldConfig *v1alpha1.InfrastructureConfig, networking *gardencorev1beta1.Networking, fldPath *field.Path) field.ErrorList {
	errs := validateInfrastructureConfigFields(config, fldPath)
	if oldConfig != nil {
		errs = ratcheting.Introduced(validateInfrastructureConfigFields(oldConfig, fldPath), errs)
	}
	return append(errs, validateInNetworking(&config.Networks, networking, fldPath.Child("networks"))...)
}

// validateInfrastructureConfigFields leaves out what depends on the shoot's networking.
func validateInfrastructureConfigFields(config *v1alpha1.InfrastructureConfig, fldPath *field.Path) field.ErrorList {
	networks := &config.Networks
	path := fldPath.Child("networks")

	errs := validateFloatingPoolFields(config, fldPath)
	errs = append(errs, validateGivenResources(networks, path)...)
	errs = append(errs, validateNodeRange(networks, path)...)
	errs = append(errs, validateIPv6(networks.IPv6, path.Child("ipv6"))...)
	errs = append(errs, validateMTU(networks, path.Child("mtu"))...)
	errs = append(errs, validateZoneHints(networks, path.Child("availabilityZoneHints"))...)
	return append(errs, validateNodePortSources(networks, path.Child("nodePortSourceRanges"))...)
}

// validateInNetworking checks how the networks fit the shoot's networking.
func validateInNetworking(networks *v1alpha1.Networks, networking *gardencorev1beta1.Networking, path *field.Path) field.ErrorList {
	shoot, errs := parseShootRanges(networking)
	errs = append(errs, validateWorkersInShoot(networks.Workers, shoot, path.Child("workers"))...)
	return append(errs, validateIPFamilies(networks.IPv6, networking, path.Child("ipv6"))...)
}

func validateFloatingPoolFields(config *v1alpha1.InfrastructureConfig, fldPath *field.Path) field.ErrorList {
	namePath, subnetPath := fldPath.Child("floatingPoolName"), fldPath.Child("floatingPoolSubnetName")

	errs := validateName(config.FloatingPoolName, "the name of an external network that the CloudProfile allows", namePath)
	if config.FloatingPoolSubnetName == nil {
		return errs
	}

	pattern := *config.FloatingPoolSubnetName
	if config.Networks.Router != nil {
		errs = append(errs, field.Forbidden(subnetPath,
			"the router given in networks.router has its address already: remove one of the two"))
	}
	if invalid := validateName(pattern, "a subnet name, glob or ~regular expression, or remove the field", subnetPath); len(invalid) > 0 {
		return append(errs, invalid...)
	}
	return append(errs, validateSubnetPattern(pattern, subnetPath)...)
}

// validateGivenResources checks the IDs of existing resources and the fields that they exclude.
func validateGivenResources(networks *v1alpha1.Networks, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if networks.Router != nil {
		errs = append(errs, validateUUID(networks.Router.ID, "router", path.Child("router", "id"))...)
	}
	if networks.ID != nil {
		errs = append(errs, validateUUID(*networks.ID, "network", path.Child("id"))...)
	}
	if networks.SubnetID != nil {
		errs = append(errs, validateUUID(*networks.SubnetID, "subnet", path.Child("subnetId"))...)
		if networks.ID == nil {
			errs = append(errs, field.Required(path.Child("id"), "give the ID of the network that the subnet in networks.subnetId is in"))
		}
	}
	if networks.SecurityGroupID != nil {
		errs = append(errs, validateUUID(*networks.SecurityGroupID, "security group", path.Child("securityGroupId"))...)
	}
	return errs
}

// The limits of an MTU: below the first IPv6 does not work, above the second common hardware does not.
const (
	minMTU = 1280
	maxMTU = 9216
)

func validateMTU(networks *v1alpha1.Networks, path *field.Path) field.ErrorList {
	if networks.MTU == nil {
		return nil
	}
	var errs field.ErrorList
	if networks.ID != nil {
		errs = append(errs, field.Forbidden(path,
			"the network given in networks.id is never changed: remove the field, or set the MTU on that network yourself"))
	}
	if mtu := *networks.MTU; mtu < minMTU || mtu > maxMTU {
		errs = append(errs, field.Invalid(path, mtu, fmt.Sprintf("choose a number of bytes between %d and %d", minMTU, maxMTU)))
	}
	return errs
}

func validateZoneHints(networks *v1alpha1.Networks, path *field.Path) field.ErrorList {
	hints := networks.AvailabilityZoneHints
	if hints == nil {
		return nil
	}
	var errs field.ErrorList
	if networks.ID != nil && len(hints.Network) > 0 {
		errs = append(errs, field.Forbidden(path.Child("network"),
			"the network given in networks.id has its zones already: remove one of the two"))
	}
	if networks.Router != nil && len(hints.Router) > 0 {
		errs = append(errs, field.Forbidden(path.Child("router"),
			"the router given in networks.router has its zones already: remove one of the two"))
	}
	errs = append(errs, validateZones(hints.Network, path.Child("network"))...)
	return append(errs, validateZones(hints.Router, path.Child("router"))...)
}

func validateZones(zones []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := fields.Seen[string]{}
	for i, zone := range zones {
		errs = append(errs, validateName(zone, "the name of an availability zone", path.Index(i))...)
		if known.IsDuplicate(zone) {
			errs = append(errs, fields.Duplicate(path.Index(i), zone))
		}
	}
	return errs
}

func validateNodePortSources(networks *v1alpha1.Networks, path *field.Path) field.ErrorList {
	ranges := networks.NodePortSourceRanges
	if networks.SecurityGroupID != nil && ranges != nil {
		return field.ErrorList{field.Forbidden(path,
			"the security group given in networks.securityGroupId is never changed: remove the field, and put the rules into that group yourself")}
	}
	var errs field.ErrorList
	known := fields.Seen[string]{}
	for i, text := range ranges {
		parsed, invalid := fields.ParseRange(text, path.Index(i))
		errs = append(errs, invalid...)
		if len(invalid) > 0 {
			continue
		}
		if parsed.Addr().Is6() && networks.IPv6 == nil {
			errs = append(errs, field.Invalid(path.Index(i), text, "nodes have no IPv6 addresses: remove the range, or set networks.ipv6"))
		}
		if known.IsDuplicate(text) {
			errs = append(errs, fields.Duplicate(path.Index(i), text))
		}
	}
	return errs
}
