package aws

import (
	awsmachine "github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

// interfaces are the network interfaces of machines in the zone of a subnet, one by default. All are in the security group of the nodes. The first one has the
// IPv6 addresses of machine and pods.
func (p *plan) interfaces(subnet string) []awsmachine.NetworkInterface {
	var interfaces []awsmachine.NetworkInterface
	for i := range p.config.NetworkInterfaces {
		interfaces = append(interfaces, p.interfacesOf(&p.config.NetworkInterfaces[i], subnet)...)
	}
	if len(interfaces) == 0 {
		interfaces = []awsmachine.NetworkInterface{{SubnetID: subnet, SecurityGroupIDs: []string{p.securityGroup}}}
	}
	if p.in.usesIPv6() {
		interfaces[0].IPv6AddressCount, interfaces[0].IPv6PrefixCount = new(int32(1)), new(int32(1))
	}
	return interfaces
}

// interfacesOf are the interfaces that an entry describes: one on each of its network cards.
func (p *plan) interfacesOf(given *awsv1alpha1.NetworkInterface, subnet string) []awsmachine.NetworkInterface {
	cards := awsv1alpha1.IndexRange{From: value(given.NetworkCardIndex), To: value(given.NetworkCardIndex)}
	if given.NetworkCardIndexRange != nil {
		cards = *given.NetworkCardIndexRange
	}
	if given.SubnetID != nil {
		subnet = *given.SubnetID
	}
	var interfaces []awsmachine.NetworkInterface
	for card := cards.From; card <= cards.To; card++ {
		interfaces = append(interfaces, awsmachine.NetworkInterface{
			DeviceIndex: new(int32(value(given.DeviceIndex))), NetworkCardIndex: new(int32(card)),
			SubnetID: subnet, SecurityGroupIDs: []string{p.securityGroup},
			InterfaceType: new(interfaceType(given)), Description: given.Description,
			AssociatePublicIPAddress: new(false), DeleteOnTermination: new(true),
		})
	}
	return interfaces
}

// interfaceType is that of the machine: AWS' default is written out.
func interfaceType(given *awsv1alpha1.NetworkInterface) string {
	if kind := value(given.Type); kind != "" {
		return kind
	}
	return awsv1alpha1.NetworkInterfaceStandard
}

// index converts an index or a number, which the validation limits.
func index(given *int64) *int32 {
	if given == nil {
		return nil
	}
	return new(int32(*given))
}
