package openstack

import (
	"fmt"
	"slices"
	"strings"

	openstackmachine "github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/observer"
)

// deletionBlockers reports what would prevent a deletion of the shoot's own resources, and is neither the shoot's nor removed by the deletion.
func (s *observedShoot) deletionBlockers() observer.Finding {
	uses := s.ownUses()
	var sentences []string
	for _, port := range s.cloud.ports {
		if isDeletedWithNetwork(port) || s.isOwnPort(port) {
			continue
		}
		if use := uses.of(port); use != "" {
			sentences = append(sentences, fmt.Sprintf("%s %s: remove it before the shoot is deleted", s.cloud.describePort(port), use))
		}
	}
	for _, ip := range s.cloud.floatingIPs {
		port := byID(s.cloud.ports, ip.PortID, func(p cloudopenstack.Port) string { return p.ID })
		if port != nil && ip.RouterID == uses.routerID && inSubnet(*port, uses.attachedSubnetID) && !s.isOwnPort(*port) {
			sentences = append(sentences, fmt.Sprintf("floating IP %s (%s) leads to %s through router %s, which is connected to subnet %s for the shoot only: "+
				"remove it before the shoot is deleted", ip.Address, ip.ID, s.cloud.describePort(*port), ip.RouterID, uses.attachedSubnetID))
		}
	}
	slices.Sort(sentences)
	return findingOf(sentences, "Nothing that is not the shoot's own would prevent the deletion of its network, subnets, router and security group.")
}

// ownUses are the IDs of the resources that are deleted with the shoot; empty for those that are not.
type ownUses struct {
	networkID, groupID, ownRouterID string
	subnetIDs                       []string
	// attachedSubnetID is a given subnet with an interface of the shoot, and routerID its router.
	attachedSubnetID, routerID string
}

func (s *observedShoot) ownUses() ownUses {
	var uses ownUses
	if s.owns(kindNetwork, s.plan.network.givenID) {
		uses.networkID = s.state.ID(kindNetwork)
	}
	if s.owns(kindSecurityGroup, s.plan.group.givenID) {
		uses.groupID = s.state.ID(kindSecurityGroup)
	}
	if s.owns(kindRouter, s.plan.router.givenID) {
		uses.ownRouterID = s.state.ID(kindRouter)
	}
	for _, k := range subnetKinds() {
		wanted, _ := s.subnet(k)
		if id := s.state.ID(k); id != "" && s.owns(k, wanted.givenID) {
			uses.subnetIDs = append(uses.subnetIDs, id)
		}
	}
	uses.routerID = s.knownID(kindRouter, s.plan.router.givenID)
	nodes, _ := s.subnet(kindSubnet)
	if uses.attachedSubnetID = s.state.ID(kindInterface); uses.attachedSubnetID == "" && uses.ownRouterID != "" {
		uses.attachedSubnetID = nodes.givenID
	}
	return uses
}

// of returns how a port uses a resource of the shoot, or "".
func (u ownUses) of(port cloudopenstack.Port) string {
	if port.DeviceID == u.ownRouterID && u.ownRouterID != "" && isRouterInterface(port) {
		return "connects the shoot's router to a subnet that is not the shoot's"
	}
	if port.NetworkID == u.networkID && u.networkID != "" {
		return "is in the shoot's network " + u.networkID
	}
	for _, id := range u.subnetIDs {
		if inSubnet(port, id) {
			return "is in the shoot's subnet " + id
		}
	}
	if u.groupID != "" && slices.Contains(port.SecurityGroupIDs, u.groupID) {
		return "has the shoot's security group " + u.groupID
	}
	return ""
}

// isOwnPort reports whether a port is the shoot's, or is removed by the deletion of what is the shoot's.
func (s *observedShoot) isOwnPort(port cloudopenstack.Port) bool {
	switch {
	case s.isMachinePort(port):
		return true
	case isRouterInterface(port):
		return port.DeviceID == s.knownID(kindRouter, s.plan.router.givenID) && s.inShootSubnets(port)
	case port.DeviceOwner == "manila:share":
		return s.plan.shareNetwork
	}
	if balancer := byID(s.cloud.loadBalancers, port.ID, func(b cloudopenstack.LoadBalancer) string { return b.VIPPortID }); balancer != nil {
		return s.ownsNetworkOf(port) || s.createdForCluster(*balancer)
	}
	return s.cloud.isInternalOfLoadBalancer(port)
}

// isMachinePort reports whether a port belongs to a machine of the shoot: by the port's description, or by the tags of its server if the upstream extension
// created it.
func (s *observedShoot) isMachinePort(port cloudopenstack.Port) bool {
	if port.Description == openstackmachine.TagClusterPrefix+s.technicalID {
		return true
	}
	server := s.cloud.serverOf(port)
	return server != nil && s.isMachine(*server)
}

// isMachine reports whether a server is a machine of the shoot.
func (s *observedShoot) isMachine(server cloudopenstack.Server) bool {
	_, tagged := server.Metadata[openstackmachine.TagClusterPrefix+s.technicalID]
	return tagged
}

func (s *observedShoot) inShootSubnets(port cloudopenstack.Port) bool {
	return !slices.ContainsFunc(port.FixedIPs, func(ip cloudopenstack.FixedIP) bool {
		isRecorded := slices.ContainsFunc(subnetKinds(), func(k kind) bool { return s.state.ID(k) == ip.SubnetID })
		return !isRecorded && !s.isGiven(ip.SubnetID)
	})
}

func (s *observedShoot) ownsNetworkOf(port cloudopenstack.Port) bool {
	return s.owns(kindNetwork, s.plan.network.givenID) && port.NetworkID == s.state.ID(kindNetwork)
}

// isInternalOfLoadBalancer reports whether a port belongs to Octavia itself, which deletes it with the load balancer: those of its machines are in its own
// project, those of health monitors have names that begin like this.
func (s *snapshot) isInternalOfLoadBalancer(port cloudopenstack.Port) bool {
	if len(s.loadBalancers) == 0 {
		return false
	}
	return strings.HasPrefix(port.Name, "octavia-lb-") && port.ProjectID != s.login.ProjectID || strings.HasPrefix(port.DeviceOwner, "ovn-lb-hm:")
}

func (s *snapshot) describePort(port cloudopenstack.Port) string {
	if server := s.serverOf(port); server != nil {
		return describePort(port, server.Name)
	}
	return describePort(port, "")
}

// serverOf returns the server of a port, or nil.
func (s *snapshot) serverOf(port cloudopenstack.Port) *cloudopenstack.Server {
	return byID(s.servers, port.DeviceID, func(one cloudopenstack.Server) string { return one.ID })
}
