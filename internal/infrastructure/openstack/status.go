package openstack

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// outcome is what came of a completed pass.
func (p *pass) outcome() *infrastructure.Outcome {
	addresses := externalAddresses(p)
	result := &infrastructure.Outcome{
		ProviderStatus: p.providerStatus(addresses),
		State:          p.ledger.state(),
		EgressCIDRs:    egressRanges(p, addresses),
		Pods:           present(p.pods),
		Nodes:          present(p.nodes),
		Services:       present(p.services),
		Findings:       p.allFindings(),
	}
	if nodes := p.subnets[0]; nodes.cidr == "" { // the pool or the given subnet chose
		cidr := p.heldSubnet(kindSubnet).CIDR
		result.NodesCIDR = &cidr
		result.Nodes = []string{cidr}
	}
	if p.dualStack() {
		result.Nodes = append(result.Nodes, p.ledger.fact(openstackv1alpha1.StateKeyNodeSubnetIPv6CIDR))
		result.Pods = append(result.Pods, p.ledger.fact(openstackv1alpha1.StateKeyPodSubnetIPv6CIDR))
		result.Services = append(result.Services, p.ledger.fact(openstackv1alpha1.StateKeyServiceSubnetIPv6CIDR))
	}
	return result
}

// present returns the text in a list, and no list of nothing.
func present(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

func (p *pass) providerStatus(addresses []string) *openstackv1alpha1.InfrastructureStatus {
	status := &openstackv1alpha1.InfrastructureStatus{
		TypeMeta: metav1.TypeMeta{APIVersion: openstackv1alpha1.GroupVersion().String(), Kind: "InfrastructureStatus"},
		Networks: openstackv1alpha1.NetworkStatus{
			ID: p.net.ID, Name: p.net.Name,
			FloatingPool: openstackv1alpha1.FloatingPoolStatus{ID: p.external.ID, Name: p.external.Name},
			Router:       openstackv1alpha1.RouterStatus{ID: p.router.ID, ExternalFixedIPs: addresses},
		},
		Node: openstackv1alpha1.NodeStatus{KeyName: p.ledger.id(kindKeyPair)},
		SecurityGroups: []openstackv1alpha1.SecurityGroup{
			{Purpose: openstackv1alpha1.PurposeNodes, ID: p.secGroup.ID, Name: p.secGroup.Name},
		},
	}
	if len(addresses) > 0 {
		status.Networks.Router.IP = addresses[0]
	}
	for _, wanted := range p.subnets {
		subnet := p.heldSubnet(wanted.kind)
		status.Networks.Subnets = append(status.Networks.Subnets,
			openstackv1alpha1.Subnet{Purpose: wanted.purpose, ID: subnet.ID, CIDR: subnet.CIDR})
	}
	if id := p.ledger.id(kindShareNetwork); id != "" {
		status.Networks.ShareNetwork = &openstackv1alpha1.ShareNetworkStatus{
			ID: id, Name: p.ledger.fact(openstackv1alpha1.StateKeyShareNetworkName),
		}
	}
	return status
}

// externalAddresses are those of the router on the floating network.
func externalAddresses(p *pass) []string {
	addresses := []string{}
	if p.reachable.Gateway != nil {
		for _, ip := range p.reachable.Gateway.FixedIPs {
			addresses = append(addresses, ip.IPAddress)
		}
	}
	return addresses
}

// egressRanges are the addresses behind which the nodes' traffic leaves the router: none when the router is known not to
// translate.
func egressRanges(p *pass, addresses []string) []string {
	if gateway := p.reachable.Gateway; gateway != nil && gateway.EnableSNAT != nil && !*gateway.EnableSNAT {
		return nil
	}
	var ranges []string
	for _, address := range addresses {
		if prefix, err := parsePrefix(address); err == nil {
			ranges = append(ranges, prefix.String())
		}
	}
	return ranges
}
