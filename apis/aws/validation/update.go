package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/internal/fields"
)

// ValidateInfrastructureConfigUpdate rejects changes that are not possible while nodes exist. These may change: elastic IP addresses of NAT gateways, gateway
// endpoints, ignored tags, access to ECR and the MTU customizer. Zones may be added at the end, and subnets and a pool for IPv6 where there were none.
func ValidateInfrastructureConfigUpdate(oldConfig, newConfig *v1alpha1.InfrastructureConfig, fldPath *field.Path) field.ErrorList {
	var (
		before, after = &oldConfig.Networks, &newConfig.Networks
		path          = fldPath.Child("networks")
	)
	errs := immutable(path.Child("vpc", "id"), before.VPC.ID, after.VPC.ID)
	errs = append(errs, immutable(path.Child("vpc", "cidr"), before.VPC.CIDR, after.VPC.CIDR)...)
	if before.VPC.Ipv6IpamPool != nil {
		errs = append(errs, immutable(path.Child("vpc", "ipv6IpamPool"), before.VPC.Ipv6IpamPool, after.VPC.Ipv6IpamPool)...)
	}
	errs = append(errs, immutable(path.Child("nodesSecurityGroupID"), before.NodesSecurityGroupID, after.NodesSecurityGroupID)...)
	errs = append(errs, validateZonesUpdate(before.Zones, after.Zones, path.Child("zones"))...)
	if isTrue(oldConfig.EnableDedicatedTenancyForVPC) != isTrue(newConfig.EnableDedicatedTenancyForVPC) {
		errs = append(errs, immutable(fldPath.Child("enableDedicatedTenancyForVPC"), oldConfig.EnableDedicatedTenancyForVPC, newConfig.EnableDedicatedTenancyForVPC)...)
	}
	if oldConfig.ElasticFileSystem != nil {
		errs = append(errs, immutable(fldPath.Child("elasticFileSystem"), oldConfig.ElasticFileSystem, newConfig.ElasticFileSystem)...)
	}
	if oldConfig.UsesDualStack() && !newConfig.UsesDualStack() {
		errs = append(errs, field.Forbidden(fldPath.Child("dualStack", "enabled"), "dual stack cannot be switched off again, since nodes have IPv6 addresses: set it back to true"))
	}
	return errs
}

// validateZonesUpdate compares zones by their position, which is their identity.
func validateZonesUpdate(before, after []v1alpha1.Zone, path *field.Path) field.ErrorList {
	if len(after) < len(before) {
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("zones cannot be removed, since nodes and volumes are in them: set them back to the %d zones that there were", len(before)))}
	}
	var errs field.ErrorList
	for i, old := range before {
		zone, zonePath := after[i], path.Index(i)
		errs = append(errs, immutable(zonePath.Child("name"), old.Name, zone.Name)...)
		errs = append(errs, immutable(zonePath.Child("workersSubnetID"), old.WorkersSubnetID, zone.WorkersSubnetID)...)
		for _, onceSet := range []struct {
			name          string
			before, after *string
		}{
			{"workers", old.Workers, zone.Workers},
			{"public", old.Public, zone.Public},
			{"internal", old.Internal, zone.Internal},
			{"publicSubnetID", old.PublicSubnetID, zone.PublicSubnetID},
			{"internalSubnetID", old.InternalSubnetID, zone.InternalSubnetID},
		} {
			if onceSet.before != nil {
				errs = append(errs, immutable(zonePath.Child(onceSet.name), onceSet.before, onceSet.after)...)
			}
		}
	}
	return errs
}

func immutable(path *field.Path, before, after any) field.ErrorList {
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, after, "is immutable: "+fields.Restore(before)+", or create a new shoot")}
}

func isTrue(value *bool) bool { return value != nil && *value }
