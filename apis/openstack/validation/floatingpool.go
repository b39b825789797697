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
// It is for shoots whose router does not exist yet: the name is immutable, so a shoot that was admitted once stays
// admitted when the CloudProfile changes.
func ValidateFloatingPool(config *v1alpha1.InfrastructureConfig, profile *v1alpha1.CloudProfileConfig, region, domain string, fldPath *field.Path) field.ErrorList {
	if config.FloatingPoolName == "" || profile.FindFloatingPool(config.FloatingPoolName, region, domain) != nil {
		return nil
	}
	detail := fmt.Sprintf("the CloudProfile has no floating pool for region %q and domain %q: ask its admin to add one", region, domain)
	if names := poolNames(profile, region, domain); len(names) > 0 {
		detail = fmt.Sprintf("the CloudProfile does not allow it in region %q and domain %q: choose one of %s",
			region, domain, strings.Join(names, ", "))
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
	slices.Sort(names)
	return slices.Compact(names)
}
