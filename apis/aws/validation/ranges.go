package validation

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/networking"
)

// namedRange is a valid range, where it is, and how it is called in errors.
type namedRange struct {
	netip.Prefix
	name string
	path *field.Path
}

// contains reports whether the range contains another one. Ranges of another family contain nothing.
func (r namedRange) contains(other netip.Prefix) bool {
	return r.Bits() <= other.Bits() && r.Contains(other.Addr())
}

// within rejects a range that lies outside another one. One that is not given contains everything.
func (r namedRange) within(outer namedRange) field.ErrorList {
	if !outer.IsValid() || outer.contains(r.Prefix) {
		return nil
	}
	return field.ErrorList{field.Invalid(r.path, r.String(), fmt.Sprintf("must lie within %s (%s): change one of the two", outer.name, outer))}
}

// apartFrom rejects a range that overlaps another one.
func (r namedRange) apartFrom(other namedRange) field.ErrorList {
	if !other.IsValid() || !r.Overlaps(other.Prefix) {
		return nil
	}
	return field.ErrorList{field.Invalid(r.path, r.String(), fmt.Sprintf("overlaps %s (%s): change one of the two", other.name, other))}
}

// validateRanges checks the ranges of subnets and of the VPC against each other and against those of the shoot. Gardener itself validates the latter. path
// is that of the networks.
func validateRanges(networks *v1alpha1.Networks, ofShoot *gardencorev1beta1.Networking, withIPv6 bool, path *field.Path) field.ErrorList {
	nodes, pods, services := shootRanges(ofShoot)
	subnets, errs := zoneRanges(networks.Zones, path.Child("zones"))
	for _, subnet := range subnets {
		if subnet.isWorkers {
			errs = append(errs, subnet.within(nodes)...)
		}
		errs = append(errs, subnet.apartFrom(pods)...)
		errs = append(errs, subnet.apartFrom(services)...)
	}
	errs = append(errs, validateApart(subnets)...)
	// With IPv6 the upstream extension does not check the range of the VPC.
	if networks.VPC.CIDR == nil || networks.VPC.ID != nil || withIPv6 {
		return errs
	}
	prefix, invalid := fields.ParseRange(*networks.VPC.CIDR, path.Child("vpc", "cidr"))
	if len(invalid) > 0 {
		return append(errs, invalid...)
	}
	vpc := namedRange{prefix, "networks.vpc.cidr", path.Child("vpc", "cidr")}
	if nodes.IsValid() && !vpc.contains(nodes.Prefix) {
		errs = append(errs, field.Invalid(vpc.path, vpc.String(), fmt.Sprintf("must contain %s (%s): change one of the two", nodes.name, nodes)))
	}
	for _, subnet := range subnets {
		errs = append(errs, subnet.within(vpc)...)
	}
	errs = append(errs, vpc.apartFrom(pods)...)
	return append(errs, vpc.apartFrom(services)...)
}

// zoneRange is the range of a subnet to create.
type zoneRange struct {
	namedRange
	isWorkers bool
}

func zoneRanges(zones []v1alpha1.Zone, path *field.Path) ([]zoneRange, field.ErrorList) {
	var (
		ranges []zoneRange
		errs   field.ErrorList
	)
	for i, zone := range zones {
		if zone.WorkersSubnetID != nil { // in which ranges are rejected as such
			continue
		}
		for _, given := range []struct {
			name string
			text *string
		}{{"internal", zone.Internal}, {"public", zone.Public}, {"workers", zone.Workers}} {
			if given.text == nil {
				continue
			}
			rangePath := path.Index(i).Child(given.name)
			prefix, invalid := fields.ParseRange(*given.text, rangePath)
			errs = append(errs, invalid...)
			if len(invalid) == 0 {
				name := fmt.Sprintf("networks.zones[%d].%s", i, given.name)
				ranges = append(ranges, zoneRange{namedRange{prefix, name, rangePath}, given.name == "workers"})
			}
		}
	}
	return ranges, errs
}

// validateApart rejects ranges that overlap a range before them. Two ranges overlap only if one contains the other, so it looks at neighbours in the order of
// addresses.
func validateApart(ranges []zoneRange) field.ErrorList {
	order := make([]int, len(ranges))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(ranges[a].Addr().Compare(ranges[b].Addr()), cmp.Compare(ranges[a].Bits(), ranges[b].Bits()))
	})
	overlapping := map[int]int{} // the later of two, and the earlier
	outer := -1
	for _, at := range order {
		if outer < 0 || !ranges[outer].Overlaps(ranges[at].Prefix) {
			outer = at
			continue
		}
		overlapping[max(at, outer)] = min(at, outer)
	}
	var errs field.ErrorList
	for i := range ranges {
		if other, found := overlapping[i]; found {
			errs = append(errs, ranges[i].apartFrom(ranges[other].namedRange)...)
		}
	}
	return errs
}

func shootRanges(networking *gardencorev1beta1.Networking) (nodes, pods, services namedRange) {
	nodes.name, pods.name, services.name = "spec.networking.nodes", "spec.networking.pods", "spec.networking.services"
	if networking != nil {
		nodes.Prefix, pods.Prefix, services.Prefix = fields.IPv4Range(networking.Nodes), fields.IPv4Range(networking.Pods), fields.IPv4Range(networking.Services)
	}
	return nodes, pods, services
}

// validateNetworking checks what every shoot on AWS needs of spec.networking.
func validateNetworking(ofShoot *gardencorev1beta1.Networking) field.ErrorList {
	path := field.NewPath("spec", "networking")
	switch {
	case ofShoot == nil:
		return field.ErrorList{field.Required(path, "describe the networking of the shoot")}
	case ofShoot.Nodes == nil && hasIPv4(ofShoot):
		return field.ErrorList{field.Required(path.Child("nodes"), "give the IPv4 range that contains the subnets of nodes")}
	}
	return nil
}

// validateOverlay checks that pods of a shoot with IPv6 have addresses of the VPC, in which an overlay has no part.
func validateOverlay(ofShoot *gardencorev1beta1.Networking) field.ErrorList {
	if !hasIPv6(ofShoot) {
		return nil
	}
	path, networkType := field.NewPath("spec", "networking"), ""
	if ofShoot.Type != nil {
		networkType = *ofShoot.Type
	}
	off, err := networking.OverlaySwitchedOff(networkType, ofShoot.ProviderConfig, "aws")
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(path.Child("providerConfig"), field.OmitValueType{}, err.Error())}
	case !off:
		return field.ErrorList{field.Invalid(path.Child("ipFamilies"), ofShoot.IPFamilies,
			"with IPv6 the VPC routes to pods: set overlay.enabled to false in spec.networking.providerConfig, or leave IPv6 out")}
	}
	return nil
}
