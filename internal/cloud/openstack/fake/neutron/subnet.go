package neutron

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// subnetInput are the attributes of a subnet that may be sent in a create.
type subnetInput struct {
	subnetChange
	NetworkID       core.Opt[string] `json:"network_id"`
	IPVersion       core.Opt[int]    `json:"ip_version"`
	CIDR            core.Opt[string] `json:"cidr"`
	SubnetPoolID    core.Opt[string] `json:"subnetpool_id"`
	UseDefaultPool  core.Opt[bool]   `json:"use_default_subnetpool"`
	PrefixLen       core.Opt[int]    `json:"prefixlen"`
	IPv6AddressMode core.Opt[string] `json:"ipv6_address_mode"`
	IPv6RAMode      core.Opt[string] `json:"ipv6_ra_mode"`
}

// subnetChange are those that an update may change.
type subnetChange struct {
	Name            core.Opt[string]           `json:"name"`
	Description     core.Opt[string]           `json:"description"`
	GatewayIP       core.Opt[string]           `json:"gateway_ip"`
	EnableDHCP      core.Opt[bool]             `json:"enable_dhcp"`
	DNSNameservers  core.Opt[[]string]         `json:"dns_nameservers"`
	AllocationPools core.Opt[[]AllocationPool] `json:"allocation_pools"`
	HostRoutes      core.Opt[[]HostRoute]      `json:"host_routes"`
	ServiceTypes    core.Opt[[]string]         `json:"service_types"`
}

func (svc *Service) subnetCollection() *collection[Subnet] {
	return &collection[Subnet]{
		singular: "subnet", plural: "subnets", path: "subnets", quota: "subnet",
		rows: svc.Subnets, std: func(s *Subnet) *Standard { return s.Base() },
		missing: subnetNotFound,
		visible: svc.maySeeSubnet,
		deletable: func(caller *core.Identity, s *Subnet) bool {
			return caller.Owns(svc.Networks.Get(s.NetworkID).ProjectID)
		},
		create: svc.createSubnet, update: svc.updateSubnet, remove: svc.deleteSubnet,
		startsAtRevisionZero: true,
		discard:              svc.dropSubnet,
	}
}

func subnetNotFound(id string) *wire.Error {
	return core.NotFound("SubnetNotFound", "Subnet %s could not be found.", id)
}

func invalid(format string, args ...any) *wire.Error {
	e := core.BadRequest("InvalidInput", format, args...)
	e.Message = "Invalid input for operation: " + e.Message + "."
	return e
}

func required(attribute string) *wire.Error {
	return core.BadRequest("HTTPBadRequest", "Failed to parse request. Required attribute '%s' not specified", attribute)
}

func (svc *Service) createSubnet(q *core.Request, projectID string, raw json.RawMessage) (*Subnet, error) {
	var in subnetInput
	if err := decodeNeutron[Subnet](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	network, err := svc.ownNetwork(q, in.NetworkID.Value, "subnet")
	if err != nil {
		return nil, err
	}
	prefix, err := in.prefix()
	if err != nil {
		return nil, err
	}
	pool, err := svc.poolOf(q, &in, prefix)
	if err != nil {
		return nil, err
	}
	s := svc.NewSubnet(projectID, network.ID, "")
	s.IPVersion, s.SubnetPoolID = in.IPVersion.Value, core.Null(in.SubnetPoolID.Value)
	s.IPv6AddressMode, s.IPv6RAMode = core.Null(in.IPv6AddressMode.Value), core.Null(in.IPv6RAMode.Value)
	if pool == nil {
		if err := svc.checkSubnet(&in, prefix); err != nil {
			return nil, err
		}
	} else {
		s.SubnetPoolID = core.Null(pool.ID)
		if prefix, err = svc.prefixFromPool(pool, &in, prefix); err != nil {
			return nil, err
		}
	}
	s.CIDR = prefix.String()
	if !in.GatewayIP.Set {
		s.GatewayIP = core.Null(defaultGateway(prefix, pool != nil && !in.CIDR.Given()).String())
	}
	if err := svc.applySubnet(s, &in.subnetChange, true); err != nil {
		return nil, err
	}
	if err := svc.checkCapacity(network, s, prefix); err != nil {
		return nil, err
	}
	svc.StoreSubnet(network, s)
	svc.addAutoAddresses(s)
	svc.addDHCPAddress(network, s)
	return s, nil
}

// ownNetwork returns the network of a new resource of the caller.
func (svc *Service) ownNetwork(q *core.Request, id, what string) (*Network, error) {
	n, err := svc.ReadableNetwork(q.Identity, id)
	switch {
	case err != nil:
		return nil, err
	case q.Owns(n.ProjectID) || n.Shared:
		return n, nil
	default:
		return nil, core.Forbidden("HTTPForbidden", "Tenant %s not allowed to create %s on this network", q.ProjectID, what)
	}
}

// checkRoom refuses a subnet that overlaps another one in its network.
func (svc *Service) checkCapacity(n *Network, s *Subnet, prefix netip.Prefix) error {
	if prefix.Bits() == 0 {
		return invalid("0 is not allowed as CIDR prefix length")
	}
	for _, id := range n.Subnets {
		if PrefixOf(svc.Subnets.Get(id)).Overlaps(prefix) {
			return invalid("Requested subnet with cidr: %s for network: %s overlaps with another subnet", prefix, n.ID)
		}
	}
	for _, id := range n.Subnets {
		if other := svc.Subnets.Get(id); other.IPVersion == s.IPVersion && other.SubnetPoolID != s.SubnetPoolID {
			return core.BadRequest("NetworkSubnetPoolAffinityError", "Subnets hosted on the same network must be allocated from the same subnet pool.")
		}
	}
	return nil
}

// NewSubnet is an IPv4 subnet with defaults, without a gateway and not stored yet.
func (svc *Service) NewSubnet(projectID, networkID, cidr string) *Subnet {
	return &Subnet{
		Standard: svc.newStandard(projectID, ""), NetworkID: networkID, IPVersion: 4, CIDR: cidr, EnableDHCP: true,
		DNSNameservers: []string{}, HostRoutes: []HostRoute{}, ServiceTypes: []string{},
	}
}

// StoreSubnet adds a subnet to its network.
func (svc *Service) StoreSubnet(n *Network, s *Subnet) {
	svc.Subnets.Add(s)
	n.Subnets = core.With(n.Subnets, s.ID)
	svc.Touch(n.Base())
}

func (svc *Service) updateSubnet(_ *core.Request, s *Subnet, raw json.RawMessage) error {
	var in subnetChange
	if err := decodeNeutron[Subnet](raw, &in, http.MethodPut); err != nil {
		return err
	}
	if err := in.check(); err != nil {
		return err
	}
	changed := *s
	if err := svc.applySubnet(&changed, &in, false); err != nil {
		return err
	}
	*s = changed
	svc.Touch(svc.Networks.Get(s.NetworkID).Base())
	return nil
}

// applySubnet validates and sets the attributes of a subnet that may change. A new subnet gets the default allocation pools.
func (svc *Service) applySubnet(s *Subnet, in *subnetChange, isNew bool) error {
	if err := svc.checkChange(s, in, isNew); err != nil {
		return err
	}
	if in.GatewayIP.Set {
		s.GatewayIP = core.Null(in.GatewayIP.Value)
	}
	switch {
	case in.AllocationPools.Given():
		s.AllocationPools = in.AllocationPools.Value
	case isNew:
		s.AllocationPools = DefaultPools(s)
	}
	in.Name.Into(&s.Name)
	in.Description.Into(&s.Description)
	in.EnableDHCP.Into(&s.EnableDHCP)
	if in.ServiceTypes.Given() {
		s.ServiceTypes = in.ServiceTypes.Value
	}
	if in.HostRoutes.Set {
		s.HostRoutes = append([]HostRoute{}, in.HostRoutes.Value...)
	}
	if in.DNSNameservers.Set {
		s.DNSNameservers = append([]string{}, in.DNSNameservers.Value...)
	}
	return nil
}

// deleteSubnet refuses while a port has an address, except addresses that Neutron itself allocated.
func (svc *Service) deleteSubnet(_ *core.Request, s *Subnet) error {
	on := svc.Ports.Where(func(p *Port) bool { return portIn(p, s.ID) })
	for _, p := range on {
		if p.DeviceOwner == ownerDHCP || isAuto(s) && !IsRouterInterface(p.DeviceOwner) {
			continue
		}
		return core.Conflict("SubnetInUse", "Unable to complete operation on subnet %s: One or more ports have an IP allocation from this subnet.", s.ID)
	}
	for _, p := range on {
		p.FixedIPs = core.Without(p.FixedIPs, func(ip FixedIP) bool { return ip.SubnetID == s.ID })
		if p.DeviceOwner == ownerDHCP && len(p.FixedIPs) == 0 {
			svc.DropPort(p)
		}
	}
	svc.dropSubnet(s)
	return nil
}

func (svc *Service) dropSubnet(s *Subnet) {
	svc.Subnets.Remove(s.ID)
	delete(svc.Used, s.ID)
	if n := svc.Networks.Get(s.NetworkID); n != nil {
		n.Subnets = core.Without(n.Subnets, func(id string) bool { return id == s.ID })
		svc.Touch(n.Base())
	}
}

func portIn(p *Port, subnetID string) bool {
	return slices.ContainsFunc(p.FixedIPs, func(ip FixedIP) bool { return ip.SubnetID == subnetID })
}
