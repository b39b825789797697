package networking

import (
	"fmt"
	"slices"
)

// Infrastructure describes the network of a cloud for network plugins.
type Infrastructure struct {
	// Type is the type of the shoot's infrastructure, e.g. "openstack".
	Type string
	// IPIP and VXLAN are true if machines may exchange such packets.
	IPIP, VXLAN bool
	// IPv6 is true if pods can have IPv6 addresses.
	IPv6 bool
	// CloudRoutes is true when a route controller can make the cloud's network route packets to the addresses of pods: that of the
	// cloud-controller-manager, or on AWS the aws-custom-route-controller, which supports a route table in each zone.
	CloudRoutes bool
	// NativeIPv6 is true if the cloud's network routes packets to IPv6 addresses of pods without any route: they are addresses of their node's network
	// interface. The route controller then programs routes of IPv4 only, and reports none in a shoot without IPv4.
	NativeIPv6 bool
	// RoutesReported is true if that route controller is known to report the route on each node (condition NetworkUnavailable).
	RoutesReported bool
	// PodRoutes is true if nodes need routes to each other's pods where packets are not encapsulated: the cloud has no routes,
	// or they lead over one router although the machines share a link.
	PodRoutes bool
	// BPFDataInterfaces is a regular expression for the network interfaces that receive packets from other nodes, if a plugin
	// with an eBPF data plane does not detect them itself.
	BPFDataInterfaces string
	// MTU is that of the cloud's networks in bytes, if all have the same; else 0. See NetworkMTU.
	MTU int
	// RouteTable is the limit of CloudRoutes. It is empty if the cloud has none, or it is not known.
	RouteTable RouteTable
}

// RouteTable is what one route table of a cloud takes. Each has a route for each node.
type RouteTable struct {
	// Routes is the number of routes of an IP family, of which Reserved are not for nodes.
	Routes, Reserved int
	// Remedy tells how the number can be increased; empty if it cannot.
	Remedy string
}

// Infrastructures returns the table. It replaces the webhooks by which upstream's cloud extensions change the Networks of
// plugins that they know.
func Infrastructures() []Infrastructure {
	return []Infrastructure{
		{Type: "alicloud", IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true},
		// Routes and MTU: AWS, "Amazon VPC quotas", and "Network maximum transmission unit (MTU) for your EC2 instance". Reserved are those to NAT
		// gateways, internet gateways and endpoints.
		{
			Type: "aws", IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true, NativeIPv6: true, RoutesReported: true, MTU: 9001,
			RouteTable: RouteTable{Routes: 500, Reserved: 5, Remedy: `raise the quota "Routes per route table", which can be 1000, in the account`},
		},
		// Azure drops IP-in-IP, and upstream does not support IPv6 there. With accelerated networking interfaces come in
		// pairs. Routes and MTU: "Azure subscription and service limits", and "TCP/IP performance tuning for Azure VMs".
		{
			Type: "azure", VXLAN: true, CloudRoutes: true, RoutesReported: true, BPFDataInterfaces: azureInterfaces, MTU: 1500,
			RouteTable: RouteTable{Routes: 1000},
		},
		{Type: "gcp", IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true, RoutesReported: true},
		// Machines are pods of the seed, which share no link, and there is no cloud to route.
		{Type: "local", IPIP: true, VXLAN: true, IPv6: true},
		{Type: "openstack", IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true, RoutesReported: true, PodRoutes: true},
	}
}

// RoutesPods reports whether a route controller has to program routes to the pods of a shoot whose packets are not encapsulated.
func (i Infrastructure) RoutesPods(hasIPv4 bool) bool {
	return i.CloudRoutes && (hasIPv4 || !i.NativeIPv6)
}

// GardenetOverlay is the default of overlay.enabled of gardenet: packets between nodes are encapsulated where the cloud cannot route to pods.
func GardenetOverlay(infrastructure Infrastructure) bool { return !infrastructure.CloudRoutes }

// azureInterfaces is Felix's default without names such as enP1s0: those are the virtual functions, which pass received packets to
// their partner interfaces. The provider extension for Azure configures the same for calico-node (acceleratednetwork).
const azureInterfaces = `^((en|wl|ww|sl|ib)[opsx].*|(eth|wlan|wwan).*|tunl0$|vxlan.calico$|wireguard.cali$|wg-v6.cali$)`

// InfrastructureOf returns the row for a type of infrastructure. An unknown type has no restrictions.
func InfrastructureOf(infrastructureType string) Infrastructure {
	table := Infrastructures()
	if row := slices.IndexFunc(table, func(i Infrastructure) bool { return i.Type == infrastructureType }); row >= 0 {
		return table[row]
	}
	return Infrastructure{Type: infrastructureType, IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true}
}

// IPv6UnsupportedMessage is the error message for IPv6 in the families of a shoot on an infrastructure without IPv6.
func (i Infrastructure) IPv6UnsupportedMessage() string {
	return fmt.Sprintf("pods cannot have addresses of IPv6 on infrastructure %q: leave IPv6 out", i.Type)
}

// KubeProxyRequiredMessage is the error message for a shoot without kube-proxy whose network type, as configured, does not route Services.
// remedy tells how to enable that, and is empty if the type does not support it.
func KubeProxyRequiredMessage(networkType, remedy string) string {
	if remedy == "" {
		return fmt.Sprintf("without kube-proxy nobody routes Services, which network type %q cannot: leave kube-proxy enabled", networkType)
	}
	return fmt.Sprintf("without kube-proxy nobody routes Services, which network type %q does only when it is told to: %s, or leave kube-proxy enabled",
		networkType, remedy)
}
