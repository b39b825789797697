package gardener

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"

	"github.com/trellis-garden/trellis/e2e/internal/isolation"
)

// Addresses of a landscape. All of them belong to one host, see Network.
const (
	gardenAPI       = "10.240.0.10"
	etcdOfGarden    = "10.240.0.20"
	gardenServices  = "10.239.0.0/17"
	shootsEtcd      = "10.240.0.21"
	clouds          = "10.240.0.30"
	admission       = "10.240.0.40"
	machines        = "10.250.0.0/16"
	machinesIPv6    = "2001:db8:1::/64"
	httpsPort       = "443"
	etcdPort        = "2379"
	gardenerAPIPort = 8443
)

// Region and Zone are those of all seeds.
const (
	Region = "RegionOne"
	Zone   = "zone-a"
)

// CloudAddress is the IP address for a cloud that pods of all seeds reach.
func CloudAddress() string { return clouds }

// AdmissionAddress is an address for webhooks in the garden, with a port.
func AdmissionAddress() string { return net.JoinHostPort(admission, httpsPort) }

// SeedSpec describes a seed before it is started.
type SeedSpec struct {
	Name string
	// Provider is the type of the seed's provider, and so of the extensions that are installed in it first. The caller sets it.
	Provider string
	// API is the address of the API server, Etcd that of its etcd.
	API, Etcd netip.Addr
	// Nodes, Pods and Services are the cluster's networks.
	Nodes, Pods, Services netip.Prefix
	// Bridge connects the pods and is the only node's address, in a network that has Nodes and Pods.
	Bridge isolation.Bridge
}

// SeedSpecs are the seeds that a landscape can have.
func SeedSpecs() []SeedSpec {
	var specs []SeedSpec
	for i, name := range []string{"seed-one", "seed-two"} {
		n := i + 1
		network := 240 + n
		specs = append(specs, SeedSpec{
			Name:     name,
			API:      netip.MustParseAddr(fmt.Sprintf("10.240.%d.10", n)),
			Etcd:     netip.MustParseAddr(fmt.Sprintf("10.240.%d.20", n)),
			Nodes:    netip.MustParsePrefix(fmt.Sprintf("10.%d.0.0/24", network)),
			Pods:     netip.MustParsePrefix(fmt.Sprintf("10.%d.128.0/17", network)),
			Services: netip.MustParsePrefix(fmt.Sprintf("10.%d.0.0/17", 230+n)),
			Bridge:   isolation.Bridge{Name: fmt.Sprintf("pods%d", n), Address: netip.MustParsePrefix(fmt.Sprintf("10.%d.0.1/16", network))},
		})
	}
	return specs
}

// Network is the network that a landscape needs: with the addresses of API servers, etcds, nodes and shoots' machines on this host, and a bridge
// for the pods of each seed.
func Network() isolation.Network {
	network := isolation.Network{Local: []netip.Prefix{
		netip.MustParsePrefix("10.240.0.0/16"), netip.MustParsePrefix(gardenServices), netip.MustParsePrefix(machines), netip.MustParsePrefix(machinesIPv6),
	}}
	for _, spec := range SeedSpecs() {
		network.Local = append(network.Local, spec.Services)
		network.Bridges = append(network.Bridges, spec.Bridge)
	}
	return network
}

// etcdURL is the URL of an etcd at an address.
func etcdURL(ip string) *url.URL { return &url.URL{Scheme: "http", Host: ip + ":" + etcdPort} }
