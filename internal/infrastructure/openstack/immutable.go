package openstack

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// validateAgainstRecordedIDs is the check for shoots whose configuration was never recorded as fulfilled. What the shoot
// has of its own cannot be replaced by what a user gives. What was given may still be corrected, unless the shoot comes
// fulfilled from the upstream extension, which does not record configurations.
func validateAgainstRecordedIDs(config *openstackv1alpha1.InfrastructureConfig, recorded *ledger, fulfilled bool) field.ErrorList {
	var errs field.ErrorList
	check := func(path *field.Path, givenID string, k kind) {
		id, owner := recorded.id(k), recorded.owner(k)
		switch {
		case id == "" || id == givenID:
		case owner == given && !fulfilled:
		case givenID != "":
			errs = append(errs, field.Invalid(path, givenID, "is immutable: the shoot lives in "+id))
		case owner == given:
			errs = append(errs, field.Required(path, "is immutable: the shoot lives in "+id+", which was given; set it back"))
		}
	}
	networks, path := config.Networks, configPath().Child("networks")
	check(path.Child("id"), value(networks.ID), kindNetwork)
	check(path.Child("subnetId"), value(networks.SubnetID), kindSubnet)
	check(path.Child("securityGroupId"), value(networks.SecurityGroupID), kindSecurityGroup)
	check(path.Child("router", "id"), value(networks.Router).ID, kindRouter)
	return errs
}
