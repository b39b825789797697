package validation

import (
	"fmt"
	"net/netip"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// maxNodePrefix is the length of the smallest node subnet: gateway, DHCP port and three nodes.
const maxNodePrefix = 29

// shootRanges are the IPv4 ranges in the spec of a shoot. A range that is missing or not IPv4 is the zero value.
type shootRanges struct {
	nodes, pods, services netip.Prefix
}

// parseShootRanges treats invalid ranges as missing: Gardener itself validates them.
func parseShootRanges(networking *gardencorev1beta1.Networking) (shootRanges, field.ErrorList) {
	path := field.NewPath("spec", "networking")
	if networking == nil {
		return shootRanges{}, field.ErrorList{field.Required(path, "describe the networking of the shoot")}
	}
	ranges := shootRanges{
		nodes:    fields.IPv4Range(networking.Nodes),
		pods:     fields.IPv4Range(networking.Pods),
		services: fields.IPv4Range(networking.Services),
	}
	return ranges, nil
}

// validateNodeRange checks that there is exactly one source of the nodes' addresses, and that source.
func validateNodeRange(networks *v1alpha1.Networks, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	var sources []string
	if networks.Workers != "" {
		sources = append(sources, "workers")
		errs = append(errs, validateWorkers(networks.Workers, path.Child("workers"))...)
	}
	if networks.SubnetPool != nil {
		sources = append(sources, "subnetPool")
		errs = append(errs, validateSubnetPool(networks.SubnetPool, path.Child("subnetPool"))...)
	}
	if networks.SubnetID != nil {
		sources = append(sources, "subnetId")
	}

	switch {
	case len(sources) == 0:
		errs = append(errs, field.Required(path.Child("workers"),
			"give the range of the node subnet, or set networks.subnetPool or networks.subnetId instead"))
	case len(sources) > 1:
		errs = append(errs, field.Forbidden(path.Child(sources[0]),
			fmt.Sprintf("only one of %s can say where nodes get their addresses: remove the others", strings.Join(sources, ", "))))
	}
	return errs
}

func validateWorkers(text string, path *field.Path) field.ErrorList {
	workers, errs := fields.ParseRange(text, path)
	if len(errs) > 0 {
		return errs
	}
	if !workers.Addr().Is4() {
		return field.ErrorList{field.Invalid(path, text, "give an IPv4 range here; the IPv6 range of the nodes belongs into networks.ipv6")}
	}
	if workers.Bits() > maxNodePrefix {
		errs = append(errs, field.Invalid(path, text, fmt.Sprintf("has no room for nodes: give a /%d or larger", maxNodePrefix)))
	}
	return errs
}

// validateWorkersInShoot ignores a range that validateWorkers rejects.
func validateWorkersInShoot(text string, shoot shootRanges, path *field.Path) field.ErrorList {
	workers, invalid := fields.ParseRange(text, path)
	if len(invalid) > 0 || !workers.Addr().Is4() {
		return nil
	}
	var errs field.ErrorList
	switch nodes := shoot.nodes; {
	case !nodes.IsValid():
		errs = append(errs, field.Required(field.NewPath("spec", "networking", "nodes"),
			fmt.Sprintf("give an IPv4 range that contains networks.workers (%s)", text)))
	case nodes.Bits() > workers.Bits() || !nodes.Contains(workers.Addr()):
		errs = append(errs, field.Invalid(path, text, fmt.Sprintf("must lie within spec.networking.nodes (%s): change one of the two", nodes)))
	}
	if shoot.pods.IsValid() && shoot.pods.Overlaps(workers) {
		errs = append(errs, field.Invalid(path, text, fmt.Sprintf("overlaps spec.networking.pods (%s): change one of the two", shoot.pods)))
	}
	if shoot.services.IsValid() && shoot.services.Overlaps(workers) {
		errs = append(errs, field.Invalid(path, text, fmt.Sprintf("overlaps spec.networking.services (%s): change one of the two", shoot.services)))
	}
	return errs
}

func validateSubnetPool(pool *v1alpha1.SubnetPool, path *field.Path) field.ErrorList {
	errs := validateUUID(pool.ID, "subnet pool", path.Child("id"))
	if length := pool.PrefixLength; length != nil && (*length < 1 || *length > maxNodePrefix) {
		errs = append(errs, field.Invalid(path.Child("prefixLength"), *length,
			fmt.Sprintf("choose a length between 1 and %d, or remove the field to take the pool's default", maxNodePrefix)))
	}
	return errs
}
