package openstack

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// outcome is the outcome of a successful reconciliation.
func (rec *reconciliation) outcome() *infrastructure.Outcome {
	addresses := externalAddresses(rec)
	result := &infrastructure.Outcome{
		ProviderStatus: rec.providerStatus(addresses),
		State:          rec.state.infrastructureState(),
		EgressCIDRs:    egressRanges(rec, addresses),
		Pods:           nonEmptyList(rec.pods),
		Nodes:          nonEmptyList(rec.nodes),
		Services:       nonEmptyList(rec.services),
		Findings:       rec.allFindings(),
	}
	if nodes := rec.subnets[0]; nodes.cidr == "" { // the pool or the given subnet chose
		cidr := rec.ensuredSubnet(kindSubnet).CIDR
		result.NodesCIDR = &cidr
		result.Nodes = []string{cidr}
	}
	if rec.dualStack() {
		result.Nodes = append(result.Nodes, rec.state.Fact(openstackv1alpha1.StateKeyNodeSubnetIPv6CIDR))
		result.Pods = append(result.Pods, rec.state.Fact(openstackv1alpha1.StateKeyPodSubnetIPv6CIDR))
		result.Services = append(result.Services, rec.state.Fact(openstackv1alpha1.StateKeyServiceSubnetIPv6CIDR))
	}
	return result
}

// nonEmptyList returns the text in a list, and no list of nothing.
func nonEmptyList(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

func (rec *reconciliation) providerStatus(addresses []string) *openstackv1alpha1.InfrastructureStatus {
	status := &openstackv1alpha1.InfrastructureStatus{
		TypeMeta: metav1.TypeMeta{APIVersion: openstackv1alpha1.GroupVersion().String(), Kind: "InfrastructureStatus"},
		Networks: openstackv1alpha1.NetworkStatus{
			ID: rec.net.ID, Name: rec.net.Name,
			FloatingPool: openstackv1alpha1.FloatingPoolStatus{ID: rec.external.ID, Name: rec.external.Name},
			Router:       openstackv1alpha1.RouterStatus{ID: rec.router.ID, ExternalFixedIPs: addresses},
		},
		Node: openstackv1alpha1.NodeStatus{KeyName: rec.state.ID(kindKeyPair)},
		SecurityGroups: []openstackv1alpha1.SecurityGroup{
			{Purpose: openstackv1alpha1.PurposeNodes, ID: rec.secGroup.ID, Name: rec.secGroup.Name},
		},
	}
	if len(addresses) > 0 {
		status.Networks.Router.IP = addresses[0]
	}
	for _, wanted := range rec.subnets {
		subnet := rec.ensuredSubnet(wanted.kind)
		status.Networks.Subnets = append(status.Networks.Subnets,
			openstackv1alpha1.Subnet{Purpose: wanted.purpose, ID: subnet.ID, CIDR: subnet.CIDR})
	}
	if id := rec.state.ID(kindShareNetwork); id != "" {
		status.Networks.ShareNetwork = &openstackv1alpha1.ShareNetworkStatus{
			ID: id, Name: rec.state.Fact(openstackv1alpha1.StateKeyShareNetworkName),
		}
	}
	return status
}

// externalAddresses are the router's addresses in the floating network.
func externalAddresses(rec *reconciliation) []string {
	addresses := []string{}
	if rec.readyRouter.Gateway != nil {
		for _, ip := range rec.readyRouter.Gateway.FixedIPs {
			addresses = append(addresses, ip.IPAddress)
		}
	}
	return addresses
}

// egressRanges are the source addresses of the nodes' traffic behind the router: none if the router is known not to translate addresses.
func egressRanges(rec *reconciliation, addresses []string) []string {
	if gateway := rec.readyRouter.Gateway; gateway != nil && gateway.EnableSNAT != nil && !*gateway.EnableSNAT {
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
