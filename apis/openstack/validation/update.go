package validation

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// ValidateInfrastructureConfigUpdate rejects changes that are not possible while nodes exist. These may change: the share
// network, from off to on; IPv6, from unset to set, when an IPv4 shoot becomes dual-stack; the MTU; the source ranges of
// node ports. Renaming networks.worker to networks.workers is no change, nor is an empty list where there was none.
func ValidateInfrastructureConfigUpdate(oldConfig, newConfig *v1alpha1.InfrastructureConfig, fldPath *field.Path) field.ErrorList {
	var (
		before, after = &oldConfig.Networks, &newConfig.Networks
		path          = fldPath.Child("networks")
		errs          field.ErrorList
	)
	for _, immutable := range []struct {
		path          *field.Path
		before, after any
	}{
		{fldPath.Child("floatingPoolName"), oldConfig.FloatingPoolName, newConfig.FloatingPoolName},
		{fldPath.Child("floatingPoolSubnetName"), oldConfig.FloatingPoolSubnetName, newConfig.FloatingPoolSubnetName},
		{path.Child("router"), before.Router, after.Router},
		{path.Child("id"), before.ID, after.ID},
		{path.Child("workers"), before.Workers, after.Workers},
		{path.Child("subnetPool"), before.SubnetPool, after.SubnetPool},
		{path.Child("subnetId"), before.SubnetID, after.SubnetID},
		{path.Child("securityGroupId"), before.SecurityGroupID, after.SecurityGroupID},
		{path.Child("ipv6"), cmp.Or(before.IPv6, after.IPv6), after.IPv6},
		{path.Child("availabilityZoneHints"), before.AvailabilityZoneHints, after.AvailabilityZoneHints},
	} {
		if !equality.Semantic.DeepEqual(immutable.before, immutable.after) { // for which no list and an empty one are the same
			errs = append(errs, field.Invalid(immutable.path, immutable.after,
				"is immutable: "+fields.Restore(immutable.before)+", or create a new shoot"))
		}
	}
	if shareNetworkEnabled(before) && !shareNetworkEnabled(after) {
		errs = append(errs, field.Forbidden(path.Child("shareNetwork", "enabled"),
			"a share network cannot be switched off again, since volumes may be in it: set it back to true"))
	}
	return errs
}

func shareNetworkEnabled(networks *v1alpha1.Networks) bool {
	return networks.ShareNetwork != nil && networks.ShareNetwork.Enabled
}
