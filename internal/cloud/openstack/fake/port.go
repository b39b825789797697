package fake

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

type portInput struct {
	NetworkID           opt[string]          `json:"network_id"`
	Name                opt[string]          `json:"name"`
	Description         opt[string]          `json:"description"`
	AdminStateUp        opt[bool]            `json:"admin_state_up"`
	MACAddress          opt[string]          `json:"mac_address"`
	DeviceID            opt[string]          `json:"device_id"`
	DeviceOwner         opt[string]          `json:"device_owner"`
	FixedIPs            opt[[]fixedIPInput]  `json:"fixed_ips"`
	SecurityGroups      opt[[]string]        `json:"security_groups"`
	AllowedAddressPairs opt[[]AddressPair]   `json:"allowed_address_pairs"`
	PortSecurity        opt[bool]            `json:"port_security_enabled"`
	VNICType            opt[string]          `json:"binding:vnic_type"`
	HostID              opt[string]          `json:"binding:host_id"`
	Profile             opt[map[string]any]  `json:"binding:profile"`
	Tags                opt[json.RawMessage] `json:"tags"` // checked and forgotten, unless an extension is on that few clouds have
}

func (c *Cloud) portCollection() *collection[Port] {
	ownsNetwork := func(caller *identity, p *Port) bool {
		n := c.neutron.networks.get(p.NetworkID)
		return n != nil && caller.owns(n.ProjectID)
	}
	return &collection[Port]{
		singular: "port", plural: "ports", path: "ports", quota: "port",
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
		SecurityGroups: []string{}, PortSecurity: n.PortSecurity && !strings.HasPrefix(owner, "network:"), VNICType: "normal",
	}
}

func (c *Cloud) createPort(q *request, projectID string, raw json.RawMessage) (*Port, error) {
	var in portInput
	if err := decodeNeutron[Port](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	if !in.NetworkID.set {
		return nil, required("network_id")
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	n, err := c.ownNetwork(q, in.NetworkID.v, "port")
	if err != nil {
		return nil, err
	}
	p := c.newPort(projectID, n, in.DeviceOwner.v, in.DeviceID.v)
	if err := c.applyPort(q, p, &in, "create"); err != nil {
		return nil, err
	}
	if !in.SecurityGroups.set && p.PortSecurity && !strings.HasPrefix(p.DeviceOwner, "network:") {
		p.SecurityGroups = []string{c.ensureDefaultGroup(projectID).ID}
	}
	if in.FixedIPs.given() {
		p.FixedIPs, err = c.assignWithAuto(n, p, in.FixedIPs.v)
	} else {
		p.FixedIPs, err = c.allocateAny(n, p.ID, p.MACAddress)
	}
	if err != nil {
		return nil, err
	}
	return c.neutron.ports.add(p), nil
}

// applyPort sets everything but the addresses.
func (c *Cloud) applyPort(q *request, p *Port, in *portInput, action string) error {
	if err := portPolicy(q, c.neutron.networks.get(p.NetworkID), in, action); err != nil {
		return err
	}
	if in.HostID.v != "" {
		p.Status = "ACTIVE"
	}
	in.PortSecurity.into(&p.PortSecurity)
	if err := c.checkPort(q, p, in); err != nil {
		return err
	}
	if in.MACAddress.given() {
		p.MACAddress = strings.ToLower(in.MACAddress.v)
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
	in.Name.into(&p.Name)
	in.Description.into(&p.Description)
	in.AdminStateUp.into(&p.AdminStateUp)
	in.DeviceID.into(&p.DeviceID)
	in.DeviceOwner.into(&p.DeviceOwner)
	in.VNICType.into(&p.VNICType)
	return nil
}

func (c *Cloud) updatePort(q *request, p *Port, raw json.RawMessage) error {
	var in portInput
	if err := decodeNeutron[Port](raw, &in, http.MethodPut); err != nil {
		return err
	}
	for attribute, sent := range map[string]bool{"network_id": in.NetworkID.set, "tags": in.Tags.set} {
		if sent {
			return badRequest("HTTPBadRequest", "Cannot update read-only attribute %s", attribute)
		}
	}
	if err := in.check(); err != nil {
		return err
	}
	changed := *p
	if err := c.applyPort(q, &changed, &in, "update"); err != nil {
		return err
	}
	if in.FixedIPs.set {
		ips, err := c.replaceFixedIPs(c.neutron.networks.get(p.NetworkID), &changed, in.FixedIPs.v)
		if err != nil {
			return err
		}
		changed.FixedIPs = ips
	}
	*p = changed
	c.touch(p.standard()) // and once more by whoever called: Neutron counts a port's update twice
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
