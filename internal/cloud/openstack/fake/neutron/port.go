package neutron

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

type portInput struct {
	NetworkID           core.Opt[string]          `json:"network_id"`
	Name                core.Opt[string]          `json:"name"`
	Description         core.Opt[string]          `json:"description"`
	AdminStateUp        core.Opt[bool]            `json:"admin_state_up"`
	MACAddress          core.Opt[string]          `json:"mac_address"`
	DeviceID            core.Opt[string]          `json:"device_id"`
	DeviceOwner         core.Opt[string]          `json:"device_owner"`
	FixedIPs            core.Opt[[]FixedIPInput]  `json:"fixed_ips"`
	SecurityGroups      core.Opt[[]string]        `json:"security_groups"`
	AllowedAddressPairs core.Opt[[]AddressPair]   `json:"allowed_address_pairs"`
	PortSecurity        core.Opt[bool]            `json:"port_security_enabled"`
	VNICType            core.Opt[string]          `json:"binding:vnic_type"`
	HostID              core.Opt[string]          `json:"binding:host_id"`
	Profile             core.Opt[map[string]any]  `json:"binding:profile"`
	Tags                core.Opt[json.RawMessage] `json:"tags"` // checked and forgotten, unless an extension is on that few clouds have
}

func (svc *Service) portCollection() *collection[Port] {
	ownsNetwork := func(caller *core.Identity, p *Port) bool {
		n := svc.Networks.Get(p.NetworkID)
		return n != nil && caller.Owns(n.ProjectID)
	}
	return &collection[Port]{
		singular: "port", plural: "ports", path: "ports", quota: "port",
		rows: svc.Ports, std: func(p *Port) *Standard { return p.Base() },
		missing: portNotFound,
		visible: ownsNetwork, deletable: ownsNetwork,
		create: svc.createPort, update: svc.updatePort, remove: svc.deletePort,
		discard: svc.DropPort, discardBulk: svc.discardPorts, inBulk: forgetPairs,
	}
}

// forgetPairs is what Zed's Neutron does with the address pairs of ports that are created in bulk.
func forgetPairs(p *Port) { p.AllowedAddressPairs = []AddressPair{} }

// discardPorts deletes the first ports of a bulk of which a later one was refused. Zed's Neutron allocates the addresses of all ports first, and releases none if
// that fails: they are lost until their subnet is deleted.
func (svc *Service) discardPorts(ports []*Port, err error) {
	refusal, _ := errors.AsType[*wire.Error](err)
	for _, p := range ports {
		if refusal != nil && isAllocationError(refusal.Type) {
			p.FixedIPs = nil
		}
		svc.DropPort(p)
	}
}

// isAllocationError reports whether an error is from the allocation of a port's addresses.
func isAllocationError(name string) bool {
	return slices.Contains([]string{
		"IpAddressGenerationFailure", "SubnetNotFound", "InvalidIpForNetwork", "InvalidIpForSubnet", "IpAddressAlreadyAllocated", "AllocationOnAutoAddressSubnet",
	}, name)
}

func portNotFound(id string) *wire.Error {
	return core.NotFound("PortNotFound", "Port %s could not be found.", id)
}

// OwnPorts returns the number of ports of a project.
func (svc *Service) OwnPorts(projectID string) int {
	return svc.Ports.Count(func(p *Port) bool { return p.ProjectID == projectID })
}

// NewPort is a port that is not stored yet and has no address.
func (svc *Service) NewPort(projectID string, n *Network, owner, deviceID string) *Port {
	return &Port{
		Standard: svc.newStandard(projectID, ""), NetworkID: n.ID, Status: "DOWN", AdminStateUp: true, MACAddress: core.NewMAC(),
		DeviceID: deviceID, DeviceOwner: owner, FixedIPs: []FixedIP{}, AllowedAddressPairs: []AddressPair{},
		SecurityGroups: []string{}, PortSecurity: n.PortSecurity && !strings.HasPrefix(owner, "network:"), VNICType: "normal",
	}
}

func (svc *Service) createPort(q *core.Request, projectID string, raw json.RawMessage) (*Port, error) {
	var in portInput
	if err := decodeNeutron[Port](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	if !in.NetworkID.Set {
		return nil, required("network_id")
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	n, err := svc.ownNetwork(q, in.NetworkID.Value, "port")
	if err != nil {
		return nil, err
	}
	p := svc.NewPort(projectID, n, in.DeviceOwner.Value, in.DeviceID.Value)
	if err := svc.applyPort(q, p, &in, "create"); err != nil {
		return nil, err
	}
	if !in.SecurityGroups.Set && p.PortSecurity && !strings.HasPrefix(p.DeviceOwner, "network:") {
		p.SecurityGroups = []string{svc.EnsureDefaultGroup(projectID).ID}
	}
	if in.FixedIPs.Given() {
		p.FixedIPs, err = svc.assignWithAuto(n, p, in.FixedIPs.Value)
	} else {
		p.FixedIPs, err = svc.AllocateAny(n, p.ID, p.MACAddress)
	}
	if err != nil {
		return nil, err
	}
	return svc.Ports.Add(p), nil
}

// applyPort sets all attributes except the addresses.
func (svc *Service) applyPort(q *core.Request, p *Port, in *portInput, action string) error {
	if err := portPolicy(q, svc.Networks.Get(p.NetworkID), in, action); err != nil {
		return err
	}
	if in.HostID.Value != "" {
		p.Status = "ACTIVE"
	}
	in.PortSecurity.Into(&p.PortSecurity)
	if err := svc.checkPort(q, p, in); err != nil {
		return err
	}
	if in.MACAddress.Given() {
		p.MACAddress = strings.ToLower(in.MACAddress.Value)
	}
	if in.SecurityGroups.Set {
		p.SecurityGroups = append([]string{}, in.SecurityGroups.Value...)
	}
	if in.AllowedAddressPairs.Set {
		p.AllowedAddressPairs = []AddressPair{}
		for _, pair := range in.AllowedAddressPairs.Value {
			pair.MACAddress = cmp.Or(pair.MACAddress, p.MACAddress)
			p.AllowedAddressPairs = append(p.AllowedAddressPairs, pair)
		}
	}
	in.Name.Into(&p.Name)
	in.Description.Into(&p.Description)
	in.AdminStateUp.Into(&p.AdminStateUp)
	in.DeviceID.Into(&p.DeviceID)
	in.DeviceOwner.Into(&p.DeviceOwner)
	in.VNICType.Into(&p.VNICType)
	return nil
}

func (svc *Service) updatePort(q *core.Request, p *Port, raw json.RawMessage) error {
	var in portInput
	if err := decodeNeutron[Port](raw, &in, http.MethodPut); err != nil {
		return err
	}
	for attribute, sent := range map[string]bool{"network_id": in.NetworkID.Set, "tags": in.Tags.Set} {
		if sent {
			return core.BadRequest("HTTPBadRequest", "Cannot update read-only attribute %s", attribute)
		}
	}
	if err := in.check(); err != nil {
		return err
	}
	changed := *p
	if err := svc.applyPort(q, &changed, &in, "update"); err != nil {
		return err
	}
	if in.FixedIPs.Set {
		ips, err := svc.replaceFixedIPs(svc.Networks.Get(p.NetworkID), &changed, in.FixedIPs.Value)
		if err != nil {
			return err
		}
		changed.FixedIPs = ips
	}
	*p = changed
	svc.Touch(p.Base()) // and once more by whoever called: Neutron counts a port's update twice
	return nil
}

// deletePort refuses ports that routers and floating IPs use.
func (svc *Service) deletePort(_ *core.Request, p *Port) error {
	owners := []string{ownerGateway, ownerFloatingIP}
	if slices.Contains(owners, p.DeviceOwner) || IsRouterInterface(p.DeviceOwner) {
		return core.Conflict("ServicePortInUse", "Port %s cannot be deleted directly via the port API: has device owner %s.", p.ID, p.DeviceOwner)
	}
	svc.DropPort(p)
	return nil
}

// DropPort deletes a port, releases its addresses and disconnects its floating IPs.
func (svc *Service) DropPort(p *Port) {
	svc.release(p.FixedIPs)
	svc.CancelTransition(p.ID)
	svc.Ports.Remove(p.ID)
	for _, f := range svc.Fips.Rows {
		if string(f.PortID) == p.ID {
			svc.disconnect(f)
			svc.Touch(f.Base())
		}
	}
}
