package neutron

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// networkInput are the attributes of a network that may be sent in a create; an update takes all but the hints.
type networkInput struct {
	Name                  core.Opt[string]   `json:"name"`
	Description           core.Opt[string]   `json:"description"`
	AdminStateUp          core.Opt[bool]     `json:"admin_state_up"`
	Shared                core.Opt[bool]     `json:"shared"`
	External              core.Opt[bool]     `json:"router:external"`
	PortSecurity          core.Opt[bool]     `json:"port_security_enabled"`
	MTU                   core.Opt[int]      `json:"mtu"`
	IsDefault             core.Opt[bool]     `json:"is_default"`
	AvailabilityZoneHints core.Opt[[]string] `json:"availability_zone_hints"`
	PhysicalNetwork       core.Opt[string]   `json:"provider:physical_network"` // only checked, as are the next two
	NetworkType           core.Opt[string]   `json:"provider:network_type"`
	SegmentationID        core.Opt[int]      `json:"provider:segmentation_id"`
}

func (svc *Service) networkCollection() *collection[Network] {
	return &collection[Network]{
		singular: "network", plural: "networks", path: "networks", quota: "network",
		rows: svc.Networks, std: func(n *Network) *Standard { return n.Base() },
		missing: networkNotFound,
		visible: func(_ *core.Identity, n *Network) bool { return n.Shared || n.External },
		create:  svc.createNetwork, update: svc.updateNetwork, remove: svc.deleteNetwork,
		discard: func(n *Network) { svc.Networks.Remove(n.ID) },
	}
}

func networkNotFound(id string) *wire.Error {
	return core.NotFound("NetworkNotFound", "Network %s could not be found.", id)
}

// ReadableNetwork returns a network that the caller may read.
func (svc *Service) ReadableNetwork(caller *core.Identity, id string) (*Network, error) {
	n := svc.Networks.Get(id)
	if n == nil || !caller.Owns(n.ProjectID) && !n.Shared && !n.External {
		return nil, networkNotFound(id)
	}
	return n, nil
}

func (svc *Service) createNetwork(q *core.Request, projectID string, raw json.RawMessage) (*Network, error) {
	var in networkInput
	if err := decodeNeutron[Network](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	if err := svc.checkNetwork(q, &in); err != nil {
		return nil, err
	}
	if err := svc.checkZones(in.AvailabilityZoneHints.Value); err != nil {
		return nil, err
	}
	svc.EnsureDefaultGroup(projectID)
	n := svc.NewNetwork(projectID)
	if in.AvailabilityZoneHints.Given() {
		n.AvailabilityZoneHints = in.AvailabilityZoneHints.Value
	}
	svc.applyNetwork(n, &in)
	return svc.Networks.Add(n), nil
}

// NewNetwork is a network with defaults that is not stored yet.
func (svc *Service) NewNetwork(projectID string) *Network {
	return &Network{
		Standard: svc.newStandard(projectID, ""), Status: "ACTIVE", AdminStateUp: true, PortSecurity: true,
		MTU: svc.Config.Mtu, Subnets: []string{}, AvailabilityZoneHints: []string{}, AvailabilityZones: []string{},
	}
}

func (svc *Service) updateNetwork(q *core.Request, n *Network, raw json.RawMessage) error {
	var in networkInput
	if err := decodeNeutron[Network](raw, &in, http.MethodPut); err != nil {
		return err
	}
	if in.AvailabilityZoneHints.Set {
		return core.BadRequest("HTTPBadRequest", "Cannot update read-only attribute availability_zone_hints")
	}
	if err := svc.checkNetwork(q, &in); err != nil {
		return err
	}
	svc.applyNetwork(n, &in)
	return nil
}

func (svc *Service) checkNetwork(q *core.Request, in *networkInput) error {
	if err := networkPolicy(q, in); err != nil {
		return err
	}
	if !in.MTU.Given() {
		return nil
	}
	if in.MTU.Value < 0 {
		return badValue("mtu", "'%d' should be non-negative", in.MTU.Value)
	}
	if in.MTU.Value > svc.Config.Mtu {
		return core.BadRequest("InvalidInput", "Invalid input for operation: Requested MTU is too big, maximum is %d.", svc.Config.Mtu)
	}
	return nil
}

func (svc *Service) applyNetwork(n *Network, in *networkInput) {
	in.Name.Into(&n.Name)
	in.Description.Into(&n.Description)
	in.AdminStateUp.Into(&n.AdminStateUp)
	in.Shared.Into(&n.Shared)
	in.External.Into(&n.External)
	in.PortSecurity.Into(&n.PortSecurity)
	if in.MTU.Given() {
		n.MTU = cmp.Or(in.MTU.Value, svc.Config.Mtu) // zero asks for the largest one
	}
}

// deleteNetwork also deletes the subnets, and Neutron's own ports. Any other port prevents it.
func (svc *Service) deleteNetwork(_ *core.Request, n *Network) error {
	on := svc.Ports.Where(func(p *Port) bool { return p.NetworkID == n.ID })
	var inUse []string
	for _, p := range on {
		if p.DeviceOwner != ownerDHCP {
			inUse = append(inUse, p.ID)
		}
	}
	if len(inUse) > 0 {
		return core.Conflict("NetworkInUse", "Unable to complete operation on network %s. There are one or more ports still in use on the network, id for these ports is: %s.", n.ID, strings.Join(inUse, ","))
	}
	for _, p := range on {
		svc.DropPort(p)
	}
	for _, id := range n.Subnets {
		svc.Subnets.Remove(id)
		delete(svc.Used, id)
	}
	svc.Networks.Remove(n.ID)
	return nil
}
