package validation

import (
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/ratcheting"
)

// ipamPrefix is the length of the IPv6 range of a VPC.
const ipamPrefix = 56

// ValidateInfrastructureConfig checks a configuration by itself and against the networking of its shoot. Errors of the latter have the path
// spec.networking. oldConfig is the previously accepted configuration, nil for a new shoot.
//
// Errors that oldConfig has in the same networking are not reported again: the upstream extension admits, or admitted once, what this function rejects; such
// shoots stay valid. If the accepted configuration is not known, pass config twice.
func ValidateInfrastructureConfig(config, oldConfig *v1alpha1.InfrastructureConfig, networking *gardencorev1beta1.Networking, fldPath *field.Path) field.ErrorList {
	errs := validateInfrastructureConfig(config, networking, fldPath)
	if oldConfig != nil {
		errs = ratcheting.Introduced(validateInfrastructureConfig(oldConfig, networking, fldPath), errs)
	}
	return append(errs, validateNetworking(networking)...)
}

func validateInfrastructureConfig(config *v1alpha1.InfrastructureConfig, networking *gardencorev1beta1.Networking, fldPath *field.Path) field.ErrorList {
	networks, path := &config.Networks, fldPath.Child("networks")
	withIPv6 := hasIPv6(networking) || config.UsesDualStack()

	errs := validateVPC(networks, withIPv6, path.Child("vpc"))
	errs = append(errs, validateZones(networks, path.Child("zones"))...)
	errs = append(errs, validateRanges(networks, networking, withIPv6, path)...)
	if id := networks.NodesSecurityGroupID; id != nil {
		errs = append(errs, securityGroupID().validate(*id, path.Child("nodesSecurityGroupID"))...)
		errs = append(errs, needsVPC(networks, "the security group", path.Child("nodesSecurityGroupID"))...)
	}
	if config.UsesElasticFileSystem() && config.ElasticFileSystem.ID == nil && networks.HasExistingSubnets() {
		errs = append(errs, field.Required(fldPath.Child("elasticFileSystem", "id"),
			"in existing subnets no file system is created: give the ID of an existing one, or disable it"))
	}
	return append(errs, validateIgnoreTags(config.IgnoreTags, fldPath.Child("ignoreTags"))...)
}

func needsVPC(networks *v1alpha1.Networks, what string, path *field.Path) field.ErrorList {
	if networks.VPC.ID != nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "a VPC that is created cannot have "+what+" already: give the existing VPC in networks.vpc.id, or remove the field")}
}

func validateVPC(networks *v1alpha1.Networks, withIPv6 bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	vpc := &networks.VPC
	switch {
	case vpc.ID == nil && vpc.CIDR == nil:
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, "give the id of an existing VPC, or the cidr of a new one"))
	case vpc.ID != nil && vpc.CIDR != nil:
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, "id is that of an existing VPC, and cidr the range of a new one: remove one of the two"))
	}
	errs = append(errs, vpcID().validateOptional(vpc.ID, path.Child("id"))...)

	endpoints := path.Child("gatewayEndpoints")
	if len(vpc.GatewayEndpoints) > 0 && networks.HasExistingSubnets() {
		errs = append(errs, field.Forbidden(endpoints, "the routes of existing subnets are never changed: remove the field, and create the endpoints yourself"))
	}
	for i, service := range vpc.GatewayEndpoints {
		if len(validation.IsDNS1123Subdomain(service)) > 0 {
			errs = append(errs, field.Invalid(endpoints.Index(i), service, "give the name of a service without com.amazonaws and region, like s3"))
		}
	}
	return append(errs, validateIPAMPool(vpc.Ipv6IpamPool, withIPv6, path.Child("ipv6IpamPool"))...)
}

func validateIPAMPool(pool *v1alpha1.IPAMPool, withIPv6 bool, path *field.Path) field.ErrorList {
	if pool == nil || pool.CIDRBlock == nil {
		return nil
	}
	path, block := path.Child("cidrBlock"), *pool.CIDRBlock
	var errs field.ErrorList
	if !withIPv6 {
		errs = append(errs, field.Forbidden(path, "the shoot has no IPv6: add it to spec.networking.ipFamilies, or remove the field"))
	}
	if pool.ID == nil || *pool.ID == "" {
		errs = append(errs, field.Forbidden(path, "the range is one of a pool: give its id, or remove the field"))
	}
	prefix, invalid := fields.ParseRange(block, path)
	switch {
	case len(invalid) > 0:
		return append(errs, invalid...)
	case !prefix.Addr().Is6() || prefix.Bits() != ipamPrefix:
		errs = append(errs, field.Invalid(path, block, "the VPC takes a /56: give an IPv6 range of this size"))
	}
	return errs
}

func hasIPv6(networking *gardencorev1beta1.Networking) bool {
	return networking != nil && slices.Contains(networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6)
}

func hasIPv4(networking *gardencorev1beta1.Networking) bool {
	return networking == nil || len(networking.IPFamilies) == 0 || slices.Contains(networking.IPFamilies, gardencorev1beta1.IPFamilyIPv4)
}
