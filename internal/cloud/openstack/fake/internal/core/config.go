package core

import (
	"slices"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// CatalogShape is the format of endpoints in the catalog.
type CatalogShape string

// Config configures the cloud: its regions, services, extensions, and transitions.
type Config struct {
	Regions           []string
	Catalog           CatalogShape
	MissingServices   []wire.Service
	TokenLifetime     time.Duration
	Latency           time.Duration
	Zones             []string
	Mtu               int
	PageSize          int
	MissingExtensions []string
	Policy            Policy
	InterfaceOwner    string
	NovaMicro         int
	Transitions       map[string]Transition
	Hosts             int
	DhcpPorts         bool
}

// Policy says what a plain project member may do. The zero value is the services' default.
type Policy struct {
	// SeeExternalSubnets shows the subnets of external networks. By default members only see the IDs.
	SeeExternalSubnets bool
	// SetSNAT allows enable_snat in a router's gateway.
	SetSNAT bool
	// SetGatewaySubnet allows external_fixed_ips that name a subnet only. Many clouds open that, together with
	// SeeExternalSubnets.
	SetGatewaySubnet bool
	// SetGatewayAddress allows external_fixed_ips that name an address.
	SetGatewayAddress bool
	// SetFloatingAddress allows to choose the address of a floating IP.
	SetFloatingAddress bool
}

func (c *Config) has(s wire.Service) bool { return !slices.Contains(c.MissingServices, s) }

// HasExtension reports whether Neutron has the extension.
func (c *Config) HasExtension(alias string) bool { return !slices.Contains(c.MissingExtensions, alias) }

func (c *Config) transition(kind string) Transition { return c.Transitions[kind] }

// The formats. Installers differ; clients must support both.
const (
	Unversioned CatalogShape = "unversioned" // Neutron, Octavia and Glance without their version, as DevStack has it
	Versioned   CatalogShape = "versioned"   // every endpoint with its version
)
