package validation

import (
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/internal/fields"
)

func validateZones(networks *v1alpha1.Networks, path *field.Path) field.ErrorList {
	if len(networks.Zones) == 0 {
		return field.ErrorList{field.Required(path, "give at least one availability zone with its subnets")}
	}
	var errs field.ErrorList
	if isManaged := func(zone v1alpha1.Zone) bool { return zone.WorkersSubnetID == nil }; networks.HasExistingSubnets() && slices.ContainsFunc(networks.Zones, isManaged) {
		errs = append(errs, field.Forbidden(path, "existing subnets and created ones cannot be mixed: give all zones a workersSubnetID, or none"))
	}
	name, known := zoneName(), fields.Seen[string]{}
	for i, zone := range networks.Zones {
		errs = append(errs, name.validate(zone.Name, path.Index(i).Child("name"))...)
		if known.IsDuplicate(zone.Name) {
			errs = append(errs, fields.Duplicate(path.Index(i).Child("name"), zone.Name))
		}
	}
	errs = append(errs, validateExistingSubnets(networks, path)...)
	return append(errs, validateElasticIPs(networks.Zones, path)...)
}

// validateExistingSubnets checks the IDs of subnets, and that ranges of subnets are given where no IDs are.
func validateExistingSubnets(networks *v1alpha1.Networks, path *field.Path) field.ErrorList {
	const created = "has no effect in existing subnets: remove it, or give the ID of a subnet instead"
	var errs field.ErrorList
	id, workers, balancers := subnetID(), fields.Seen[string]{}, fields.Seen[string]{}
	for i, zone := range networks.Zones {
		zonePath := path.Index(i)
		if zone.WorkersSubnetID == nil {
			if zone.Workers == nil {
				errs = append(errs, field.Required(zonePath.Child("workers"), "give the range of the subnet to create for nodes, or the ID of an existing subnet in workersSubnetID"))
			}
			errs = append(errs, withoutNodesSubnet(zone, zonePath)...)
			continue
		}
		errs = append(errs, id.validate(*zone.WorkersSubnetID, zonePath.Child("workersSubnetID"))...)
		errs = append(errs, needsVPC(networks, "a subnet", zonePath.Child("workersSubnetID"))...)
		if workers.IsDuplicate(*zone.WorkersSubnetID) {
			errs = append(errs, fields.Duplicate(zonePath.Child("workersSubnetID"), *zone.WorkersSubnetID))
		}
		if zone.Workers != nil {
			errs = append(errs, field.Invalid(zonePath.Child("workers"), *zone.Workers, "the nodes have the existing subnet in workersSubnetID: remove one of the two"))
		}
		if zone.Public != nil {
			errs = append(errs, field.Forbidden(zonePath.Child("public"), created))
		}
		if zone.Internal != nil {
			errs = append(errs, field.Forbidden(zonePath.Child("internal"), created))
		}
		errs = append(errs, validateBalancerSubnet(zone.PublicSubnetID, id, balancers, zonePath.Child("publicSubnetID"))...)
		errs = append(errs, validateBalancerSubnet(zone.InternalSubnetID, id, balancers, zonePath.Child("internalSubnetID"))...)
	}
	errs = append(errs, validateInAllZones(networks.Zones, "publicSubnetID", func(zone v1alpha1.Zone) *string { return zone.PublicSubnetID }, path)...)
	return append(errs, validateInAllZones(networks.Zones, "internalSubnetID", func(zone v1alpha1.Zone) *string { return zone.InternalSubnetID }, path)...)
}

func withoutNodesSubnet(zone v1alpha1.Zone, path *field.Path) field.ErrorList {
	const alone = "needs an existing subnet for nodes: give it in workersSubnetID, or remove the field"
	var errs field.ErrorList
	if zone.PublicSubnetID != nil {
		errs = append(errs, field.Forbidden(path.Child("publicSubnetID"), alone))
	}
	if zone.InternalSubnetID != nil {
		errs = append(errs, field.Forbidden(path.Child("internalSubnetID"), alone))
	}
	return errs
}

// validateBalancerSubnet checks a subnet for load balancers. It may be that of the nodes, but no other for load balancers.
func validateBalancerSubnet(id *string, rule textRule, known fields.Seen[string], path *field.Path) field.ErrorList {
	if id == nil {
		return nil
	}
	errs := rule.validate(*id, path)
	if known.IsDuplicate(*id) {
		errs = append(errs, fields.Duplicate(path, *id))
	}
	return errs
}

// validateInAllZones requires a field in all zones with existing subnets if one of them has it.
func validateInAllZones(zones []v1alpha1.Zone, name string, of func(v1alpha1.Zone) *string, path *field.Path) field.ErrorList {
	isExisting := func(zone v1alpha1.Zone) bool { return zone.WorkersSubnetID != nil }
	if !slices.ContainsFunc(zones, func(zone v1alpha1.Zone) bool { return isExisting(zone) && of(zone) != nil }) {
		return nil
	}
	var errs field.ErrorList
	for i, zone := range zones {
		if isExisting(zone) && of(zone) == nil {
			errs = append(errs, field.Required(path.Index(i).Child(name), "another zone has it: give the ID of a subnet in this zone too, or remove the field from all zones"))
		}
	}
	return errs
}

func validateElasticIPs(zones []v1alpha1.Zone, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	rule, known := elasticIP(), fields.Seen[string]{}
	for i, zone := range zones {
		if zone.ElasticIPAllocationID == nil || *zone.ElasticIPAllocationID == "" {
			continue
		}
		id, idPath := *zone.ElasticIPAllocationID, path.Index(i).Child("elasticIPAllocationID")
		errs = append(errs, rule.validate(id, idPath)...)
		if known.IsDuplicate(id) {
			errs = append(errs, fields.Duplicate(idPath, id))
		}
		if zone.Workers == nil || zone.Public == nil {
			errs = append(errs, field.Forbidden(idPath, "the zone gets no NAT gateway: give workers and public, or remove the field"))
		}
	}
	return errs
}

// ValidateZones checks that the CloudProfile has the zones in the region. offered is nil if the CloudProfile is not known. Errors have the path of the
// upstream extension, which is network.zones, so that who matches them finds the same.
func ValidateZones(config *v1alpha1.InfrastructureConfig, region string, offered *gardencorev1beta1.CloudProfileSpec, fldPath *field.Path) field.ErrorList {
	if offered == nil {
		return nil
	}
	at := slices.IndexFunc(offered.Regions, func(known gardencorev1beta1.Region) bool { return known.Name == region })
	if at < 0 { // rejected by Gardener
		return nil
	}
	var names []string
	for _, zone := range offered.Regions[at].Zones {
		names = append(names, zone.Name)
	}
	slices.Sort(names)
	known := fields.SetOf(names)
	var errs field.ErrorList
	for i, zone := range config.Networks.Zones {
		if !known[zone.Name] {
			errs = append(errs, field.Invalid(fldPath.Child("network", "zones").Index(i).Child("name"), zone.Name,
				"the CloudProfile has no such zone in the region: choose one of "+strings.Join(fields.Quoted(names), ", ")))
		}
	}
	return errs
}
