package fake

import (
	"cmp"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

type portInput struct {
	NetworkID           opt[string]         `json:"network_id"`
	Name                opt[string]         `json:"name"`
	Description         opt[string]         `json:"description"`
	AdminStateUp        opt[bool]           `json:"admin_state_up"`
	MACAddress          opt[string]         `json:"mac_address"`
	DeviceID            opt[string]         `json:"device_id"`
	DeviceOwner         opt[string]         `json:"device_owner"`
	FixedIPs            opt[[]fixedIPInput] `json:"fixed_ips"`
	SecurityGroups      opt[[]string]       `json:"security_groups"`
	AllowedAddressPairs opt[[]AddressPair]  `json:"allowed_address_pairs"`
	PortSecurity        opt[bool]           `json:"port_security_enabled"`
	VNICType            opt[string]         `json:"binding:vnic_type"`
	Tags                opt[[]string]       `json:"tags"`
}

func (c *Cloud) portCollection() *collection[Port] {
	ownsNetwork := func(who *identity, p *Port) bool {
		n := c.neutron.networks.get(p.NetworkID)
		return n != nil && who.owns(n.ProjectID)
	}
	return &collection[Port]{
		one: "port", many: "ports", path: "ports", quota: "port",
		rows: c.neutron.ports, std: func(p *Port) *Standard { return p.standard() },
		missing: portNotFound,
		visible: ownsNetwork, deletable: ownsNetwork,
		create: c.createPort, update: c.updatePort, remove: c.deletePort,
		discard: c.dropPort,
	}
}

func portNotFound(id string) *wire.Error {
	return notFound("PortNotFound", "Port %s could not be found.", id)
}

func (c *Cloud) ownPorts(projectID string) int {
	return c.neutron.ports.count(func(p *Port) bool { return p.ProjectID == projectID })
}

// newPort is a port that is not yet stored and has no address.
func (c *Cloud) newPort(projectID string, n *Network, owner, deviceID string) *Port {
	return &Port{
		Standard: c.newStandard(projectID, ""), NetworkID: n.ID, Status: "DOWN", AdminStateUp: true, MACAddress: newMAC(),
		DeviceID: deviceID, DeviceOwner: owner, FixedIPs: []FixedIP{}, AllowedAddressPairs: []AddressPair{},
		SecurityGroups: []string{}, PortSecurity: n.PortSecurity, VNICType: "normal",
	}
}

func (c *Cloud) createPort(q *request, projectID string, raw json.RawMessage) (*Port, error) {
	var in portInput
	if err := decodeNeutron[Port](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	if !in.NetworkID.given() {
		return nil, required("network_id")
	}
	n, err := c.readableNetwork(q.identity, in.NetworkID.v)
	if err != nil {
		return nil, err
	}
	if !q.owns(n.ProjectID) && !n.Shared {
		return nil, forbidden("PolicyNotAuthorized", "rule:create_port is disallowed by policy")
	}
	p := c.newPort(projectID, n, in.DeviceOwner.v, in.DeviceID.v)
	if err := c.applyPort(q, p, &in); err != nil {
		return nil, err
	}
	if !in.SecurityGroups.set && p.PortSecurity && !strings.HasPrefix(p.DeviceOwner, "network:") {
		p.SecurityGroups = []string{c.ensureDefaultGroup(projectID).ID}
	}
	if in.FixedIPs.given() {
		p.FixedIPs, err = c.assign(n, p.ID, p.MACAddress, in.FixedIPs.v)
	} else {
		p.FixedIPs, err = c.allocateAny(n, p.ID, p.MACAddress)
	}
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(p.DeviceOwner, "compute:") || strings.HasPrefix(p.DeviceOwner, "network:") {
		p.Status = "ACTIVE"
	}
	return c.neutron.ports.add(p), nil
}

// applyPort sets everything but the addresses.
func (c *Cloud) applyPort(q *request, p *Port, in *portInput) error {
	in.PortSecurity.into(&p.PortSecurity)
	if err := c.checkPort(q, p, in); err != nil {
		return err
	}
	if in.MACAddress.given() {
		hw, err := net.ParseMAC(in.MACAddress.v)
		if err != nil || len(hw) != 6 {
			return badRequest("HTTPBadRequest", "Invalid input for mac_address. Reason: '%s' is not a valid MAC address.", in.MACAddress.v)
		}
		p.MACAddress = hw.String()
	}
	if in.SecurityGroups.set {
		p.SecurityGroups = append([]string{}, in.SecurityGroups.v...)
	}
	if in.AllowedAddressPairs.set {
		p.AllowedAddressPairs = []AddressPair{}
		for _, pair := range in.AllowedAddressPairs.v {
			pair.MACAddress = cmp.Or(pair.MACAddress, p.MACAddress)
			p.AllowedAddressPairs = append(p.AllowedAddressPairs, pair)
		}
	}
	if in.Tags.given() {
		p.Tags = append([]string{}, in.Tags.v...)
	}
	in.Name.into(&p.Name)
	in.Description.into(&p.Description)
	in.AdminStateUp.into(&p.AdminStateUp)
	in.DeviceID.into(&p.DeviceID)
	in.DeviceOwner.into(&p.DeviceOwner)
	in.VNICType.into(&p.VNICType)
	return nil
}

// checkPort looks up the security groups and wants port security for what builds on it.
func (c *Cloud) checkPort(q *request, p *Port, in *portInput) error {
	for _, id := range in.SecurityGroups.v {
		if g := c.neutron.groups.get(id); g == nil || !q.owns(g.ProjectID) && !g.Shared {
			return groupNotFound(id)
		}
	}
	if !p.PortSecurity && len(in.SecurityGroups.v) > 0 {
		return conflict("PortSecurityAndIPRequiredForSecurityGroups", "Port security must be enabled and port must have an IP address in order to use security groups.")
	}
	if !p.PortSecurity && len(in.AllowedAddressPairs.v) > 0 {
		return conflict("AddressPairAndPortSecurityRequired", "Port Security must be enabled in order to have allowed address pairs on a port.")
	}
	return nil
}

func (c *Cloud) updatePort(q *request, p *Port, raw json.RawMessage) error {
	var in portInput
	if err := decodeNeutron[Port](raw, &in, http.MethodPut); err != nil {
		return err
	}
	if in.NetworkID.set {
		return badRequest("HTTPBadRequest", "Cannot update read-only attribute network_id")
	}
	if in.Tags.set {
		return badRequest("HTTPBadRequest", "Cannot update read-only attribute tags")
	}
	changed := *p
	if err := c.applyPort(q, &changed, &in); err != nil {
		return err
	}
	if in.FixedIPs.set {
		c.release(p.FixedIPs)
		ips, err := c.assign(c.neutron.networks.get(p.NetworkID), p.ID, changed.MACAddress, in.FixedIPs.v)
		if err != nil {
			for _, ip := range p.FixedIPs {
				c.neutron.used[ip.SubnetID][addrOf(ip.IPAddress)] = p.ID
			}
			return err
		}
		changed.FixedIPs = ips
	}
	*p = changed
	return nil
}

// deletePort refuses ports that routers and floating IPs stand on.
func (c *Cloud) deletePort(_ *request, p *Port) error {
	owners := []string{ownerGateway, ownerFloatingIP}
	if slices.Contains(owners, p.DeviceOwner) || isRouterInterface(p.DeviceOwner) {
		return conflict("ServicePortInUse", "Port %s cannot be deleted directly via the port API: has device owner %s.", p.ID, p.DeviceOwner)
	}
	c.dropPort(p)
	return nil
}

// dropPort removes a port, gives its addresses back and disconnects its floating IPs.
func (c *Cloud) dropPort(p *Port) {
	c.release(p.FixedIPs)
	delete(c.pending, p.ID)
	c.neutron.ports.remove(p.ID)
	for _, f := range c.neutron.fips.rows {
		if string(f.PortID) == p.ID {
			c.disconnect(f)
			c.touch(f.standard())
		}
	}
}
