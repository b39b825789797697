package fake

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// networkInput are the attributes of a network that may be sent in a create; an update takes all but the hints.
type networkInput struct {
	Name                  opt[string]   `json:"name"`
	Description           opt[string]   `json:"description"`
	AdminStateUp          opt[bool]     `json:"admin_state_up"`
	Shared                opt[bool]     `json:"shared"`
	External              opt[bool]     `json:"router:external"`
	PortSecurity          opt[bool]     `json:"port_security_enabled"`
	MTU                   opt[int]      `json:"mtu"`
	IsDefault             opt[bool]     `json:"is_default"`
	AvailabilityZoneHints opt[[]string] `json:"availability_zone_hints"`
	PhysicalNetwork       opt[string]   `json:"provider:physical_network"` // only checked, as are the next two
	NetworkType           opt[string]   `json:"provider:network_type"`
	SegmentationID        opt[int]      `json:"provider:segmentation_id"`
}

func (c *Cloud) networkCollection() *collection[Network] {
	return &collection[Network]{
		singular: "network", plural: "networks", path: "networks", quota: "network",
		rows: c.neutron.networks, std: func(n *Network) *Standard { return n.standard() },
		missing: networkNotFound,
		visible: func(_ *identity, n *Network) bool { return n.Shared || n.External },
		create:  c.createNetwork, update: c.updateNetwork, remove: c.deleteNetwork,
		discard: func(n *Network) { c.neutron.networks.remove(n.ID) },
	}
}

func networkNotFound(id string) *wire.Error {
	return notFound("NetworkNotFound", "Network %s could not be found.", id)
}

// readableNetwork returns a network that the caller may see.
func (c *Cloud) readableNetwork(caller *identity, id string) (*Network, error) {
	n := c.neutron.networks.get(id)
	if n == nil || !caller.owns(n.ProjectID) && !n.Shared && !n.External {
		return nil, networkNotFound(id)
	}
	return n, nil
}

func (c *Cloud) createNetwork(q *request, projectID string, raw json.RawMessage) (*Network, error) {
	var in networkInput
	if err := decodeNeutron[Network](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	if err := c.checkNetwork(q, &in); err != nil {
		return nil, err
	}
	if err := c.checkZones(in.AvailabilityZoneHints.v); err != nil {
		return nil, err
	}
	c.ensureDefaultGroup(projectID)
	n := c.newNetwork(projectID)
	if in.AvailabilityZoneHints.given() {
		n.AvailabilityZoneHints = in.AvailabilityZoneHints.v
	}
	c.applyNetwork(n, &in)
	return c.neutron.networks.add(n), nil
}

// newNetwork is a network with the defaults, not yet stored.
func (c *Cloud) newNetwork(projectID string) *Network {
	return &Network{
		Standard: c.newStandard(projectID, ""), Status: "ACTIVE", AdminStateUp: true, PortSecurity: true,
		MTU: c.config.mtu, Subnets: []string{}, AvailabilityZoneHints: []string{}, AvailabilityZones: []string{},
	}
}

func (c *Cloud) updateNetwork(q *request, n *Network, raw json.RawMessage) error {
	var in networkInput
	if err := decodeNeutron[Network](raw, &in, http.MethodPut); err != nil {
		return err
	}
	if in.AvailabilityZoneHints.set {
		return badRequest("HTTPBadRequest", "Cannot update read-only attribute availability_zone_hints")
	}
	if err := c.checkNetwork(q, &in); err != nil {
		return err
	}
	c.applyNetwork(n, &in)
	return nil
}

func (c *Cloud) checkNetwork(q *request, in *networkInput) error {
	if err := networkPolicy(q, in); err != nil {
		return err
	}
	if !in.MTU.given() {
		return nil
	}
	if in.MTU.v < 0 {
		return badValue("mtu", "'%d' should be non-negative", in.MTU.v)
	}
	if in.MTU.v > c.config.mtu {
		return badRequest("InvalidInput", "Invalid input for operation: Requested MTU is too big, maximum is %d.", c.config.mtu)
	}
	return nil
}

func (c *Cloud) applyNetwork(n *Network, in *networkInput) {
	in.Name.into(&n.Name)
	in.Description.into(&n.Description)
	in.AdminStateUp.into(&n.AdminStateUp)
	in.Shared.into(&n.Shared)
	in.External.into(&n.External)
	in.PortSecurity.into(&n.PortSecurity)
	if in.MTU.given() {
		n.MTU = cmp.Or(in.MTU.v, c.config.mtu) // zero asks for the largest one
	}
}

// deleteNetwork takes the subnets along, and the ports that Neutron made for itself. Any other port is in its way.
func (c *Cloud) deleteNetwork(_ *request, n *Network) error {
	on := c.neutron.ports.where(func(p *Port) bool { return p.NetworkID == n.ID })
	var inUse []string
	for _, p := range on {
		if p.DeviceOwner != ownerDHCP {
			inUse = append(inUse, p.ID)
		}
	}
	if len(inUse) > 0 {
		return conflict("NetworkInUse", "Unable to complete operation on network %s. There are one or more ports still in use on the network, id for these ports is: %s.", n.ID, strings.Join(inUse, ","))
	}
	for _, p := range on {
		c.dropPort(p)
	}
	for _, id := range n.Subnets {
		c.neutron.subnets.remove(id)
		delete(c.neutron.used, id)
	}
	c.neutron.networks.remove(n.ID)
	return nil
}
