package octavia

import (
	"errors"
	"net/http"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/neutron"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// OwnerOctavia is the device owner of Octavia's ports.
const OwnerOctavia = "Octavia"

type balancerInput struct {
	Name             string                 `json:"name"`
	Description      string                 `json:"description"`
	AdminStateUp     core.Opt[bool]         `json:"admin_state_up"`
	VIPPortID        string                 `json:"vip_port_id"`
	VIPSubnetID      string                 `json:"vip_subnet_id"`
	VIPNetworkID     string                 `json:"vip_network_id"`
	VIPAddress       string                 `json:"vip_address"`
	AdditionalVIPs   []neutron.FixedIPInput `json:"additional_vips"`
	ProjectID        string                 `json:"project_id"`
	TenantID         string                 `json:"tenant_id"`
	Provider         string                 `json:"provider"`
	FlavorID         string                 `json:"flavor_id"`
	AvailabilityZone string                 `json:"availability_zone"`
	Tags             []string               `json:"tags"`
	Listeners        []map[string]any       `json:"listeners"`
	Pools            []map[string]any       `json:"pools"`
}

func (in *balancerInput) project(q *core.Request) string {
	for _, id := range []string{in.ProjectID, in.TenantID} {
		if id != "" {
			return id
		}
	}
	return q.ProjectID
}

func validationFailure(format string, args ...any) *wire.Error {
	return core.BadRequest("", "Validation failure: "+format, args...)
}

func (svc *Service) createBalancer(q *core.Request) (core.Reply, error) {
	attrs, invalid := svc.body.read(q.Body, false)
	if invalid != nil {
		return core.Reply{}, invalid
	}
	var in balancerInput
	if err := decodeInto(attrs, &in); err != nil {
		return core.Reply{}, err
	}
	projectID := in.project(q)
	if err := checkBalancerRole(q, projectID); err != nil {
		return core.Reply{}, err
	}
	network, err := svc.chooseVIP(q, &in)
	if err != nil {
		return core.Reply{}, err
	}
	if err := svc.checkSupported(&in, projectID); err != nil {
		return core.Reply{}, err
	}
	b := &LoadBalancer{
		ID: core.NewUUID(), Name: in.Name, Description: in.Description, ProjectID: projectID, TenantID: projectID,
		ProvisioningStatus: lbPendingCreate, OperatingStatus: operatingOffline, AdminStateUp: in.AdminStateUp.Or(true),
		VIPPortID: in.VIPPortID, VIPSubnetID: in.VIPSubnetID, VIPNetworkID: network.ID, VIPAddress: in.VIPAddress,
		AdditionalVIPs: []VIP{}, Provider: in.Provider, Tags: append([]string{}, in.Tags...),
		Listeners: []Ref{}, Pools: []Ref{}, CreatedAt: octaviaTime(svc.Now()),
	}
	if b.Provider == "" {
		b.Provider = "amphora"
	}
	parts, err := svc.newTree(b, &in)
	if err != nil {
		return core.Reply{}, err
	}
	if err := svc.createVIPPort(b, &in, network); err != nil {
		return core.Reply{}, err
	}
	svc.Balancers.Add(b)
	for _, p := range parts {
		svc.addPart(b, p)
	}
	view, err := svc.fullView(b)
	if err != nil {
		return core.Reply{}, err
	}
	svc.BeginTransition(core.LoadBalancerCreate, b.ID, func(failed bool) { svc.finishBalancerTransition(b, failed) })
	return core.Created(map[string]any{"loadbalancer": view})
}

// checkSupported refuses features that a cloud may lack. This one has neither flavors nor zones.
func (svc *Service) checkSupported(in *balancerInput, projectID string) error {
	mine := func(b *LoadBalancer) bool { return b.ProjectID == projectID }
	switch {
	case in.FlavorID != "":
		return validationFailure("Invalid flavor_id.")
	case in.AvailabilityZone != "":
		return validationFailure("Invalid availability zone.")
	case in.Provider != "" && !slices.Contains([]string{"amphora", "octavia", "ovn"}, in.Provider):
		return core.BadRequest("", "Provider '%s' is not enabled.", in.Provider)
	case svc.Exceeds(projectID, "load_balancer", svc.Balancers.Count(mine), 1):
		return core.Forbidden("", "Quota has been met for resources: Load Balancer")
	default:
		return nil
	}
}

// chooseVIP determines the network and the subnet of a load balancer's address.
func (svc *Service) chooseVIP(q *core.Request, in *balancerInput) (*neutron.Network, error) {
	var network *neutron.Network
	var err error
	switch {
	case in.VIPPortID != "":
		network, err = svc.chooseVIPOnPort(q, in)
	case in.VIPNetworkID != "":
		network, err = svc.chooseVIPInNetwork(q, in)
	case in.VIPSubnetID != "":
		s := svc.visibleSubnet(q.Identity, in.VIPSubnetID)
		if s == nil {
			return nil, core.BadRequest("", "Subnet %s not found.", in.VIPSubnetID)
		}
		network = svc.neutron.Networks.Get(s.NetworkID)
	default:
		return nil, validationFailure("VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.")
	}
	if err != nil {
		return nil, err
	}
	used := []string{in.VIPSubnetID}
	for _, vip := range in.AdditionalVIPs {
		switch {
		case slices.Contains(used, vip.SubnetID):
			return nil, validationFailure("Duplicate VIP subnet(s) specified. Only one IP can be bound per subnet.")
		case !slices.Contains(network.Subnets, vip.SubnetID):
			return nil, validationFailure("All VIP subnets must belong to the same network.")
		}
		used = append(used, vip.SubnetID)
	}
	return network, nil
}

func (svc *Service) visibleSubnet(caller *core.Identity, id string) *neutron.Subnet {
	s := svc.neutron.Subnets.Get(id)
	if s == nil {
		return nil
	}
	if _, err := svc.neutron.ReadableNetwork(caller, s.NetworkID); err != nil {
		return nil
	}
	return s
}

func (svc *Service) chooseVIPOnPort(q *core.Request, in *balancerInput) (*neutron.Network, error) {
	p := svc.neutron.Ports.Get(in.VIPPortID)
	if p == nil || !q.Owns(p.ProjectID) {
		return nil, core.BadRequest("", "Port %s not found.", in.VIPPortID)
	}
	if p.DeviceID != "" {
		return nil, validationFailure("Port %s is already used by device %s ", p.ID, p.DeviceID)
	}
	fits := func(ip neutron.FixedIP) bool {
		if in.VIPSubnetID == "" && in.VIPAddress == "" {
			return len(p.FixedIPs) == 1
		}
		return (in.VIPSubnetID == "" || ip.SubnetID == in.VIPSubnetID) && (in.VIPAddress == "" || ip.IPAddress == in.VIPAddress)
	}
	at := slices.IndexFunc(p.FixedIPs, fits)
	switch {
	case at >= 0:
		in.VIPSubnetID, in.VIPAddress = p.FixedIPs[at].SubnetID, p.FixedIPs[at].IPAddress
		return svc.neutron.Networks.Get(p.NetworkID), nil
	case in.VIPSubnetID != "":
		return nil, validationFailure("No VIP address found on the specified VIP port within the specified subnet.")
	case in.VIPAddress != "":
		return nil, validationFailure("Specified VIP address not found on the specified VIP port.")
	default:
		return nil, validationFailure("VIP port's subnet could not be determined. Please specify either a VIP subnet or address.")
	}
}

func (svc *Service) chooseVIPInNetwork(q *core.Request, in *balancerInput) (*neutron.Network, error) {
	n, err := svc.neutron.ReadableNetwork(q.Identity, in.VIPNetworkID)
	if err != nil {
		return nil, core.BadRequest("", "Network %s not found.", in.VIPNetworkID)
	}
	if in.VIPSubnetID != "" {
		if !slices.Contains(n.Subnets, in.VIPSubnetID) {
			return nil, core.BadRequest("", "Subnet %s not found.", in.VIPSubnetID)
		}
		return n, nil
	}
	if in.VIPAddress != "" {
		for _, id := range n.Subnets {
			if neutron.PrefixOf(svc.neutron.Subnets.Get(id)).Contains(neutron.AddrOf(in.VIPAddress)) {
				in.VIPSubnetID = id
				return n, nil
			}
		}
		return nil, validationFailure("Supplied network does not contain a subnet for VIP address specified.")
	}
	if len(n.Subnets) == 0 {
		return nil, validationFailure("Supplied network does not contain a subnet.")
	}
	for _, id := range n.Subnets {
		s := svc.neutron.Subnets.Get(id)
		if svc.hasFreeAddresses(s, minFreeAddresses) && (in.VIPSubnetID == "" || s.IPVersion == 4) {
			in.VIPSubnetID = id
			if s.IPVersion == 4 {
				break
			}
		}
	}
	if in.VIPSubnetID == "" {
		return nil, validationFailure("Subnet(s) in the supplied network do not contain enough available IPs.")
	}
	return n, nil
}

// minFreeAddresses is how many addresses must be free in a subnet that Octavia selects itself.
const minFreeAddresses = 2

// hasFreeAddresses reports whether a subnet has some free addresses.
func (svc *Service) hasFreeAddresses(s *neutron.Subnet, wanted int) bool {
	if svc.neutron.Full[s.ID] {
		return false
	}
	for _, pool := range s.AllocationPools {
		end := neutron.AddrOf(pool.End)
		for addr := neutron.AddrOf(pool.Start); addr.Compare(end) <= 0; addr = addr.Next() {
			if _, taken := svc.neutron.Used[s.ID][addr]; !taken {
				wanted--
			}
			if wanted == 0 {
				return true
			}
		}
	}
	return false
}

// createVIPPort creates the port with the addresses of a load balancer, unless the caller gave one.
func (svc *Service) createVIPPort(b *LoadBalancer, in *balancerInput, n *neutron.Network) error {
	if b.VIPPortID != "" {
		return nil
	}
	p := svc.neutron.NewPort(b.ProjectID, n, OwnerOctavia, "lb-"+b.ID)
	p.Name, p.AdminStateUp = "octavia-lb-"+b.ID, false
	p.SecurityGroups = []string{svc.neutron.EnsureDefaultGroup(b.ProjectID).ID}
	wanted := append([]neutron.FixedIPInput{{SubnetID: in.VIPSubnetID, IPAddress: in.VIPAddress}}, in.AdditionalVIPs...)
	ips, err := svc.neutron.Assign(n, p.ID, p.MACAddress, wanted)
	if err != nil {
		return vipPortError(b, err)
	}
	p.FixedIPs = ips
	svc.neutron.Ports.Add(p)
	b.VIPPortID, b.VIPAddress, b.VIPSubnetID = p.ID, ips[0].IPAddress, ips[0].SubnetID
	for _, ip := range ips[1:] {
		b.AdditionalVIPs = append(b.AdditionalVIPs, VIP(ip))
	}
	return nil
}

// vipPortError converts an error of the port's creation.
func vipPortError(b *LoadBalancer, err error) error {
	message := err.Error()
	if e, isError := errors.AsType[*wire.Error](err); isError {
		message = e.Message
	}
	return core.Fail(http.StatusInternalServerError, "", "Provider '%s' reports error: %s\nNeutron server returns request_ids: ['req-%s']",
		b.Provider, message, core.NewUUID())
}
