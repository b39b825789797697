package neutron

import (
	"net"
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

// check validates the attributes of a port on their own.
func (in *portInput) check() error {
	if in.NetworkID.Set {
		if err := checkID("network_id", in.NetworkID); err != nil {
			return err
		}
	}
	if in.MACAddress.Set {
		if hw, err := net.ParseMAC(in.MACAddress.Value); err != nil || len(hw) != 6 {
			return badValue("mac_address", "'%s' is not a valid MAC address", in.MACAddress.Value)
		}
	}
	if err := checkFixedIPs(in.FixedIPs.Value); err != nil {
		return err
	}
	for _, id := range in.SecurityGroups.Value {
		if !isUUID(id) {
			return badValue("security_groups", "'%s' is not a valid UUID", id)
		}
	}
	if in.Tags.Set {
		if _, wrong := readTags(in.Tags.Value); wrong != "" {
			return badValue("tags", "%s", wrong)
		}
	}
	return checkPairs(in.AllowedAddressPairs.Value)
}

func checkFixedIPs(ips []FixedIPInput) error {
	for i, ip := range ips {
		if ip.IPAddress != "" {
			if _, err := netip.ParseAddr(ip.IPAddress); err != nil {
				return badValue("fixed_ips", "'%s' is not a valid IP address", ip.IPAddress)
			}
			if slices.ContainsFunc(ips[:i], func(other FixedIPInput) bool { return other.IPAddress == ip.IPAddress }) {
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
		if _, err := netip.ParsePrefix(pair.IPAddress); err != nil && !AddrOf(pair.IPAddress).IsValid() {
			return core.BadRequest("HTTPBadRequest", "'%s' is not a valid IP address", pair.IPAddress)
		}
		if slices.Contains(pairs[:i], pair) {
			mac := pair.MACAddress
			if mac == "" {
				mac = "None"
			}
			return core.BadRequest("DuplicateAddressPairInRequest", "Request contains duplicate address pair: mac_address %s ip_address %s.", mac, pair.IPAddress)
		}
	}
	return nil
}

// checkPort validates the attributes against existing resources; some require port security.
func (svc *Service) checkPort(q *core.Request, p *Port, in *portInput) error {
	if in.MACAddress.Given() && svc.Ports.First(func(o *Port) bool {
		return o.ID != p.ID && o.NetworkID == p.NetworkID && o.MACAddress == in.MACAddress.Value
	}) != nil {
		return core.Conflict("MacAddressInUse", "Unable to complete operation for network %s. The mac address %s is in use.", p.NetworkID, in.MACAddress.Value)
	}
	for _, id := range in.SecurityGroups.Value {
		if g := svc.Groups.Get(id); g == nil || !q.Owns(g.ProjectID) && !g.Shared {
			return groupNotFound(id)
		}
	}
	if p.PortSecurity {
		return nil
	}
	switch {
	case len(in.SecurityGroups.Value) > 0:
		return core.BadRequest("PortSecurityAndIPRequiredForSecurityGroups", "Port security must be enabled and port must have an IP address in order to use security groups.")
	case len(in.AllowedAddressPairs.Value) > 0, !in.AllowedAddressPairs.Set && len(p.AllowedAddressPairs) > 0:
		return core.Conflict("AddressPairAndPortSecurityRequired", "Port Security must be enabled in order to have allowed address pairs on a port.")
	case !in.SecurityGroups.Set && len(p.SecurityGroups) > 0:
		return core.Conflict("PortSecurityPortHasSecurityGroup", "Port has security group associated. Cannot disable port security or IP address until security group is removed.")
	}
	return nil
}
