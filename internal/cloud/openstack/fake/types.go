package fake

import (
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/cinder"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/manila"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/neutron"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/nova"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/octavia"
)

// How a cloud is configured.
type (
	// CatalogShape says how the endpoints in the catalog are written.
	CatalogShape = core.CatalogShape
	// Policy says what a plain project member may do. The zero value is that of a stock cloud.
	Policy = core.Policy
	// Transition says how long a resource stays in its first status.
	Transition = core.Transition
)

// The shapes of the catalog.
const (
	Unversioned = core.Unversioned
	Versioned   = core.Versioned
)

// The kinds of transitions.
const (
	ServerBuild        = core.ServerBuild
	ServerDelete       = core.ServerDelete
	LoadBalancerCreate = core.LoadBalancerCreate
	LoadBalancerUpdate = core.LoadBalancerUpdate
	LoadBalancerDelete = core.LoadBalancerDelete
	RouterInterface    = core.RouterInterface
	VolumeCreate       = core.VolumeCreate
	VolumeDelete       = core.VolumeDelete
)

// Unlimited is the quota of everything unless set.
const Unlimited = core.Unlimited

// The resources in a State, and what they consist of.
type (
	Network           = neutron.Network
	Subnet            = neutron.Subnet
	AllocationPool    = neutron.AllocationPool
	HostRoute         = neutron.HostRoute
	SubnetPool        = neutron.SubnetPool
	Router            = neutron.Router
	GatewayInfo       = neutron.GatewayInfo
	Port              = neutron.Port
	FixedIP           = neutron.FixedIP
	AddressPair       = neutron.AddressPair
	FloatingIP        = neutron.FloatingIP
	SecurityGroup     = neutron.SecurityGroup
	SecurityGroupRule = neutron.SecurityGroupRule
	KeyPair           = nova.KeyPair
	Flavor            = nova.Flavor
	Server            = nova.Server
	ServerGroup       = nova.ServerGroup
	LoadBalancer      = octavia.LoadBalancer
	ShareNetwork      = manila.ShareNetwork
	Volume            = cinder.Volume
)
