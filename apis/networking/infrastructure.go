package networking

import (
	"fmt"
	"slices"
)

// Infrastructure is what the network of a cloud lets machines do, as far as network plugins have to know.
type Infrastructure struct {
	// Type is that of the shoot's infrastructure, e.g. "openstack".
	Type string
	// IPIP and VXLAN are true when machines may send each other packets of that kind.
	IPIP, VXLAN bool
	// IPv6 is true when pods can have addresses of IPv6.
	IPv6 bool
	// CloudRoutes is true when the cloud-controller-manager's route controller can make the cloud's network route packets to the
	// addresses of pods.
	CloudRoutes bool
	// RoutesReported is true when that route controller is known to say on each node (condition NetworkUnavailable) that there is a route.
	RoutesReported bool
	// PodRoutes is true when nodes have to know the way to each other's pods themselves where packets are not encapsulated: the
	// cloud has no routes, or they lead everything over one router although the machines share a link.
	PodRoutes bool
	// BPFDataInterfaces is a regular expression for the network interfaces by which packets from other nodes come in, where a
	// plugin with an eBPF data plane does not find them by itself.
	BPFDataInterfaces string
}

// Infrastructures is the table. It stands for the webhooks by which clouds would otherwise change the Networks of plugins that
// they have heard of.
func Infrastructures() []Infrastructure {
	return []Infrastructure{
		{Type: "alicloud", IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true},
		{Type: "aws", IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true, RoutesReported: true},
		// Azure drops IP-in-IP, and upstream knows no IPv6 there. With accelerated networking interfaces come in pairs.
		{Type: "azure", VXLAN: true, CloudRoutes: true, RoutesReported: true, BPFDataInterfaces: azureInterfaces},
		{Type: "gcp", IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true, RoutesReported: true},
		// Machines are pods of the seed, which share no link, and there is no cloud to route.
		{Type: "local", IPIP: true, VXLAN: true, IPv6: true},
		{Type: "openstack", IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true, RoutesReported: true, PodRoutes: true},
	}
}

// azureInterfaces is what Felix looks at anyway, but for names such as enP1s0: those are the virtual functions, which pass on what
// comes in to their partners. It is what the provider extension for Azure gives to calico-node there (acceleratednetwork).
const azureInterfaces = `^((en|wl|ww|sl|ib)[opsx].*|(eth|wlan|wwan).*|tunl0$|vxlan.calico$|wireguard.cali$|wg-v6.cali$)`

// InfrastructureOf returns the row for a type of infrastructure. One that is not known is taken for one that forbids nothing.
func InfrastructureOf(infrastructureType string) Infrastructure {
	table := Infrastructures()
	if row := slices.IndexFunc(table, func(i Infrastructure) bool { return i.Type == infrastructureType }); row >= 0 {
		return table[row]
	}
	return Infrastructure{Type: infrastructureType, IPIP: true, VXLAN: true, IPv6: true, CloudRoutes: true}
}

// IPv6UnsupportedMessage says what is wrong with IPv6 in the families of a shoot on an infrastructure that has none.
func (i Infrastructure) IPv6UnsupportedMessage() string {
	return fmt.Sprintf("pods cannot have addresses of IPv6 on infrastructure %q: leave IPv6 out", i.Type)
}

// KubeProxyRequiredMessage says what is wrong with a shoot without kube-proxy whose network type does not route Services, as it is configured.
// remedy tells how it would, and is empty where it never does.
func KubeProxyRequiredMessage(networkType, remedy string) string {
	if remedy == "" {
		return fmt.Sprintf("without kube-proxy nobody routes Services, which network type %q cannot: leave kube-proxy enabled", networkType)
	}
	return fmt.Sprintf("without kube-proxy nobody routes Services, which network type %q does only when it is told to: %s, or leave kube-proxy enabled",
		networkType, remedy)
}
