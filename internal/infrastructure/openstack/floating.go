package openstack

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// isID reports whether text is a UUID in OpenStack's format, with or without dashes.
func isID(text string) bool {
	plain := strings.ReplaceAll(text, "-", "")
	if len(plain) != 32 || (len(text) != 32 && len(text) != 36) {
		return false
	}
	return strings.Trim(strings.ToLower(plain), "0123456789abcdef") == ""
}

// isPattern reports whether a floating pool's name has wildcards. Only * is one: other characters may be part of a name.
func isPattern(name string) bool { return strings.Contains(name, "*") }

// chooseFloatingNetwork returns the external network with an ID, a name, or a pattern with *. Several candidates are an error that names them, since a
// gateway in the wrong network cannot be corrected later.
func chooseFloatingNetwork(name string, networks []cloudopenstack.Network) (*cloudopenstack.Network, error) {
	var candidates []cloudopenstack.Network
	for _, network := range networks {
		if matchesNetwork(name, network) {
			candidates = append(candidates, network)
		}
	}
	switch len(candidates) {
	case 1:
		return &candidates[0], nil
	case 0:
		return nil, cloud.Errorf(cloud.Configuration,
			"floatingPoolName: no external network %q can be seen by this project; name one of the project's external networks", name)
	}
	var names []string
	for _, candidate := range candidates {
		names = append(names, fmt.Sprintf("%s (%s)", candidate.Name, candidate.ID))
	}
	slices.Sort(names)
	return nil, cloud.Errorf(cloud.Configuration,
		"floatingPoolName: %q means several external networks, %s; give the ID of one", name, strings.Join(names, ", "))
}

func matchesNetwork(name string, network cloudopenstack.Network) bool {
	return network.ID == name || network.Name == name || (isPattern(name) && matchesWildcard(name, network.Name))
}

// matchesWildcard matches the whole name; * matches any text.
func matchesWildcard(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	matched, err := regexp.MatchString("^(?s:"+strings.Join(parts, ".*")+")$", name)
	return err == nil && matched
}

// subnetCandidates returns the IPv4 subnets of the floating network that the pattern selects, in a stable order. An ID selects that subnet, even if the
// cloud does not list it: a member does not see the subnets of an external network that is not shared.
func (spec floatingNetworkSpec) subnetCandidates(subnets []cloudopenstack.Subnet) ([]cloudopenstack.Subnet, error) {
	selection, err := openstackv1alpha1.ParseSubnetPattern(spec.subnet)
	if err != nil {
		return nil, cloud.Errorf(cloud.Configuration, "%s: %q: %w", spec.subnetField, spec.subnet, err)
	}
	var candidates []cloudopenstack.Subnet
	var names []string
	for _, subnet := range subnets {
		names = append(names, subnet.Name)
		if subnet.IPVersion != 6 && (selection.Matches(subnet.Name) || subnet.ID == spec.subnet) {
			candidates = append(candidates, subnet)
		}
	}
	switch {
	case len(subnets) == 0 && isID(spec.subnet):
		return []cloudopenstack.Subnet{{ID: spec.subnet, Name: spec.subnet}}, nil
	case len(subnets) == 0:
		return nil, cloud.Errorf(cloud.Configuration, "%s: %q cannot be looked up, since the cloud shows this project no subnet of the floating network; "+
			"leave the field out, give the ID of a subnet, or ask the cloud's operator to share the network", spec.subnetField, spec.subnet)
	case len(candidates) == 0:
		slices.Sort(names)
		return nil, cloud.Errorf(cloud.Configuration,
			"%s: %q selects no IPv4 subnet of the floating network, which has %s", spec.subnetField, spec.subnet, strings.Join(names, ", "))
	}
	slices.SortFunc(candidates, func(a, b cloudopenstack.Subnet) int { return strings.Compare(a.Name+a.ID, b.Name+b.ID) })
	return candidates, nil
}
