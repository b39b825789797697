package openstack

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// succeededBefore tells whether a pass over the shoot succeeded before. Of one that the upstream extension recorded it must be
// assumed.
func succeededBefore(shoot *infrastructure.Shoot, recorded *state) bool {
	return shoot.Infrastructure.Status.ProviderStatus != nil || recorded.config() != nil ||
		recorded.fromUpstream() || recorded.fact(keyAdopted) != ""
}

// validateAgainstRecordedIDs is the check for fulfilled shoots that come from the upstream extension, which does not record
// the configuration that it fulfilled: what was given then cannot be replaced now.
func validateAgainstRecordedIDs(config *openstackv1alpha1.InfrastructureConfig, recorded *state) field.ErrorList {
	var errs field.ErrorList
	check := func(path *field.Path, givenID string, k kind) {
		id, owner := recorded.id(k), recorded.owner(k)
		switch {
		case id == "" || id == givenID:
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
