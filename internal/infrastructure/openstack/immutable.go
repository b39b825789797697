package openstack

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// succeededBefore reports whether a reconciliation of the shoot has succeeded. For a shoot of the upstream extension it is assumed.
func succeededBefore(shoot *infrastructure.Shoot, recorded *state) bool {
	return shoot.Infrastructure.Status.ProviderStatus != nil || recorded.config() != nil ||
		recorded.fromUpstream() || recorded.Fact(keyAdopted) != ""
}

// validateAgainstRecordedIDs validates existing shoots of the upstream extension, which does not record the last configuration: given resources cannot be
// replaced.
func validateAgainstRecordedIDs(config *openstackv1alpha1.InfrastructureConfig, recorded *state) field.ErrorList {
	var errs field.ErrorList
	check := func(path *field.Path, givenID string, k kind) {
		id, owner := recorded.ID(k), recorded.Owner(k)
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
