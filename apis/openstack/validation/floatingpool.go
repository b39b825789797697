package validation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// ValidateFloatingPool checks that the CloudProfile allows the floating pool in the region and Keystone domain (by name).
//
// It is for shoots whose router does not exist yet: the name is immutable, so an admitted shoot stays valid when the
// CloudProfile changes.
func ValidateFloatingPool(config *v1alpha1.InfrastructureConfig, profile *v1alpha1.CloudProfileConfig, region, domain string, fldPath *field.Path) field.ErrorList {
	return validateFloatingPoolInAny(config, profile, region, []string{domain}, fldPath)
}

// validateFloatingPoolInAny is ValidateFloatingPool for a project in an unknown one of the domains.
func validateFloatingPoolInAny(
	config *v1alpha1.InfrastructureConfig, profile *v1alpha1.CloudProfileConfig, region string, domains []string, fldPath *field.Path,
) field.ErrorList {
	var allowed []string
	for _, domain := range domains {
		if config.FloatingPoolName == "" || profile.FindFloatingPool(config.FloatingPoolName, region, domain) != nil {
			return nil
		}
		allowed = append(allowed, poolNames(profile, region, domain)...)
	}
	where := fmt.Sprintf("region %q", region)
	if len(domains) == 1 && domains[0] != "" {
		where += fmt.Sprintf(" and domain %q", domains[0])
	}
	detail := fmt.Sprintf("the CloudProfile has no floating pool for %s: ask its admin to add one", where)
	if len(allowed) > 0 {
		slices.Sort(allowed)
		detail = fmt.Sprintf("the CloudProfile does not allow it in %s: choose one of %s", where, strings.Join(slices.Compact(allowed), ", "))
	}
	return field.ErrorList{field.Invalid(fldPath.Child("floatingPoolName"), config.FloatingPoolName, detail)}
}

// poolNames lists the names that FindFloatingPool accepts as they stand.
func poolNames(profile *v1alpha1.CloudProfileConfig, region, domain string) []string {
	var names []string
	for _, pool := range profile.Constraints.FloatingPools {
		if profile.FindFloatingPool(pool.Name, region, domain) != nil {
			names = append(names, fmt.Sprintf("%q", pool.Name))
		}
	}
	return names
}
