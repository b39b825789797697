package fake

import (
	"net"
	"net/netip"
	"slices"
)

// check refuses what is wrong with the form of the attributes of a port.
func (in *portInput) check() error {
	if in.NetworkID.set {
		if err := checkID("network_id", in.NetworkID); err != nil {
			return err
		}
	}
	if in.MACAddress.set {
		if hw, err := net.ParseMAC(in.MACAddress.v); err != nil || len(hw) != 6 {
			return badValue("mac_address", "'%s' is not a valid MAC address", in.MACAddress.v)
		}
	}
	if err := checkFixedIPs(in.FixedIPs.v); err != nil {
		return err
	}
	for _, id := range in.SecurityGroups.v {
		if !isUUID(id) {
			return badValue("security_groups", "'%s' is not a valid UUID", id)
		}
	}
	if in.Tags.set {
		if _, wrong := readTags(in.Tags.v); wrong != "" {
			return badValue("tags", "%s", wrong)
		}
	}
	return checkPairs(in.AllowedAddressPairs.v)
}

func checkFixedIPs(ips []fixedIPInput) error {
	for i, ip := range ips {
		if ip.IPAddress != "" {
			if _, err := netip.ParseAddr(ip.IPAddress); err != nil {
				return badValue("fixed_ips", "'%s' is not a valid IP address", ip.IPAddress)
			}
			if slices.ContainsFunc(ips[:i], func(other fixedIPInput) bool { return other.IPAddress == ip.IPAddress }) {
				return badValue("fixed_ips", "Duplicate IP address '%s'", ip.IPAddress)
			}
		}
		if ip.SubnetID != "" && !isUUID(ip.SubnetID) {
			return badValue("fixed_ips", "'%s' is not a valid UUID", ip.SubnetID)
		}
	}
	return nil
}

func checkPairs(pairs []AddressPair) error {
	for i, pair := range pairs {
		if _, err := netip.ParsePrefix(pair.IPAddress); err != nil && !addrOf(pair.IPAddress).IsValid() {
			return badRequest("HTTPBadRequest", "'%s' is not a valid IP address", pair.IPAddress)
		}
		if slices.Contains(pairs[:i], pair) {
			mac := pair.MACAddress
			if mac == "" {
				mac = "None"
			}
			return badRequest("DuplicateAddressPairInRequest", "Request contains duplicate address pair: mac_address %s ip_address %s.", mac, pair.IPAddress)
		}
	}
	return nil
}

// checkPort holds the attributes against what there is, and wants port security for what builds on it.
func (c *Cloud) checkPort(q *request, p *Port, in *portInput) error {
	if in.MACAddress.given() && c.neutron.ports.first(func(o *Port) bool {
		return o.ID != p.ID && o.NetworkID == p.NetworkID && o.MACAddress == in.MACAddress.v
	}) != nil {
		return conflict("MacAddressInUse", "Unable to complete operation for network %s. The mac address %s is in use.", p.NetworkID, in.MACAddress.v)
	}
	for _, id := range in.SecurityGroups.v {
		if g := c.neutron.groups.get(id); g == nil || !q.owns(g.ProjectID) && !g.Shared {
			return groupNotFound(id)
		}
	}
	if p.PortSecurity {
		return nil
	}
	switch {
	case len(in.SecurityGroups.v) > 0:
		return badRequest("PortSecurityAndIPRequiredForSecurityGroups", "Port security must be enabled and port must have an IP address in order to use security groups.")
	case len(in.AllowedAddressPairs.v) > 0, !in.AllowedAddressPairs.set && len(p.AllowedAddressPairs) > 0:
		return conflict("AddressPairAndPortSecurityRequired", "Port Security must be enabled in order to have allowed address pairs on a port.")
	case !in.SecurityGroups.set && len(p.SecurityGroups) > 0:
		return conflict("PortSecurityPortHasSecurityGroup", "Port has security group associated. Cannot disable port security or IP address until security group is removed.")
	}
	return nil
}
