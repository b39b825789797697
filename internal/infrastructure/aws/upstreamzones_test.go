package aws

import (
	"encoding/base64"
	"net/netip"
	"strconv"
	"strings"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

// The documents that upstream's extension writes, as it formats them.
const (
	upstreamTrust = `{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Effect": "Allow",
      "Principal": {
        "Service": "ec2.amazonaws.com"
      },
      "Action": "sts:AssumeRole"
    }
  ]
}`
	upstreamPolicy = `{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Effect": "Allow",
      "Action": [
        "ec2:DescribeInstances"
      ],
      "Resource": [
        "*"
      ]
    },
    {
      "Effect": "Allow",
      "Action": [
        "ecr:GetAuthorizationToken",
        "ecr:BatchCheckLayerAvailability",
        "ecr:GetDownloadUrlForLayer",
        "ecr:GetRepositoryPolicy",
        "ecr:DescribeRepositories",
        "ecr:ListImages",
        "ecr:BatchGetImage"
      ],
      "Resource": [
        "*"
      ]
    }
  ]
}`
)

// upstreamZone makes what a zone consists of. The NAT gateway is recorded as unknown before it is made.
func (u *upstreamShoot) upstreamZone(i int, zone awsv1alpha1.Zone) []upstreamStep {
	key := func(name string) string { return awsv1alpha1.ZoneStateKey(zone.Name, name) }
	subnet := func(what, name, stateKey, cidr string, number int, tags ...string) upstreamStep {
		return upstreamStep{what + " of " + zone.Name, func(u *upstreamShoot) map[string]string {
			return u.upstreamSubnet(zone.Name, technicalID+"-"+name+"-"+zoneNumber(i), key(stateKey), cidr, 3*i+number, tags...)
		}}
	}
	table := "the route table of " + zone.Name
	steps := []upstreamStep{
		subnet("the subnet of nodes", "nodes", awsv1alpha1.ZoneKeySubnetWorkers, *zone.Workers, 0),
		subnet("the internal subnet", "private-utility", awsv1alpha1.ZoneKeySubnetInternal, *zone.Internal, 1, tagInnerBalancer, "1"),
		subnet("the public subnet", "public-utility", awsv1alpha1.ZoneKeySubnetPublic, *zone.Public, 2, tagPublicBalancer, "1"),
		{"the elastic IP of " + zone.Name, func(u *upstreamShoot) map[string]string {
			return map[string]string{
				key(awsv1alpha1.ZoneKeySuffix): zoneNumber(i), key(awsv1alpha1.ZoneKeyNATGateway): "",
				key(awsv1alpha1.ZoneKeyElasticIP): u.create("AllocateAddress", "AllocationId", "elastic-ip", technicalID+"-eip-natgw-"+zoneNumber(i), "Domain", "vpc"),
			}
		}},
		{"the NAT gateway of " + zone.Name, func(u *upstreamShoot) map[string]string {
			return map[string]string{key(awsv1alpha1.ZoneKeyNATGateway): u.create("CreateNatGateway", "NatGateway/NatGatewayId", "natgateway",
				technicalID+"-natgw-"+zoneNumber(i), "SubnetId", u.made[key(awsv1alpha1.ZoneKeySubnetPublic)], "AllocationId", u.made[key(awsv1alpha1.ZoneKeyElasticIP)])}
		}},
		{table, func(u *upstreamShoot) map[string]string {
			return map[string]string{key(awsv1alpha1.ZoneKeyRouteTable): u.create("CreateRouteTable", "RouteTable/RouteTableId", "route-table",
				technicalID+"-private-"+zone.Name, "VpcId", u.made[awsv1alpha1.StateKeyVPC])}
		}},
		upstreamRoute(table, key(awsv1alpha1.ZoneKeyRouteTable), anywhere, "NatGatewayId", key(awsv1alpha1.ZoneKeyNATGateway)),
	}
	if u.hasIPv6() {
		steps = append(steps,
			upstreamRoute(table, key(awsv1alpha1.ZoneKeyRouteTable), anywhereIPv6, "EgressOnlyInternetGatewayId", awsv1alpha1.StateKeyEgressOnlyInternetGateway),
			upstreamRoute(table, key(awsv1alpha1.ZoneKeyRouteTable), translated, "NatGatewayId", key(awsv1alpha1.ZoneKeyNATGateway)))
	}
	for _, association := range []struct{ what, key, subnet, table string }{
		{"public", awsv1alpha1.ZoneKeyPublicRouteTableAssoc, awsv1alpha1.ZoneKeySubnetPublic, awsv1alpha1.StateKeyMainRouteTable},
		{"internal", awsv1alpha1.ZoneKeyInternalRouteTableAssoc, awsv1alpha1.ZoneKeySubnetInternal, key(awsv1alpha1.ZoneKeyRouteTable)},
		{"nodes'", awsv1alpha1.ZoneKeyWorkersRouteTableAssoc, awsv1alpha1.ZoneKeySubnetWorkers, key(awsv1alpha1.ZoneKeyRouteTable)},
	} {
		steps = append(steps, upstreamStep{"the association of the " + association.what + " subnet of " + zone.Name, func(u *upstreamShoot) map[string]string {
			return map[string]string{key(association.key): u.do("AssociateRouteTable", "RouteTableId", u.made[association.table],
				"SubnetId", u.made[key(association.subnet)]).String("AssociationId")}
		}})
	}
	for _, service := range u.config.Networks.VPC.GatewayEndpoints {
		steps = append(steps, upstreamStep{table + " in the gateway endpoint of " + service, func(u *upstreamShoot) map[string]string {
			u.do("ModifyVpcEndpoint", "VpcEndpointId", u.made[awsv1alpha1.VPCEndpointStateKey(service)], "AddRouteTableId.1", u.made[key(awsv1alpha1.ZoneKeyRouteTable)])
			return nil
		}})
	}
	return steps
}

// upstreamSubnet makes a subnet with more tags. With IPv6, it has the range of its number.
func (u *upstreamShoot) upstreamSubnet(zone, name, stateKey, cidr string, number int, tags ...string) map[string]string {
	parameters := []string{"VpcId", u.made[awsv1alpha1.StateKeyVPC], "AvailabilityZone", zone, "CidrBlock", cidr}
	if u.hasIPv6() {
		parameters = append(parameters, "Ipv6CidrBlock", subnetOf(netip.MustParsePrefix(u.made[awsv1alpha1.StateKeyVPCIPv6CIDR]), subnetBits, number).String())
	}
	for i := 0; i < len(tags); i += 2 {
		prefix := "TagSpecification.1.Tag." + strconv.Itoa(3+i/2) + "."
		parameters = append(parameters, prefix+"Key", tags[i], prefix+"Value", tags[i+1])
	}
	id := u.create("CreateSubnet", "Subnet/SubnetId", "subnet", name, parameters...)
	if u.hasIPv6() && strings.Contains(name, "-nodes-") {
		u.do("ModifySubnetAttribute", "SubnetId", id, "AssignIpv6AddressOnCreation.Value", "true")
	}
	return map[string]string{stateKey: id}
}

// upstreamNodesGroup makes the security group of nodes. Its rules are given in one request, each with its own protocol and ports, and EC2 merges them.
func (u *upstreamShoot) upstreamNodesGroup() []upstreamStep {
	return []upstreamStep{
		{"the security group of nodes", func(u *upstreamShoot) map[string]string {
			return map[string]string{awsv1alpha1.StateKeyNodesSecurityGroup: u.create("CreateSecurityGroup", "GroupId", "security-group", technicalID+"-nodes",
				"VpcId", u.made[awsv1alpha1.StateKeyVPC], "GroupName", technicalID+"-nodes", "GroupDescription", "Security group for nodes")}
		}},
		{"the rules of the security group of nodes", func(u *upstreamShoot) map[string]string {
			id := u.made[awsv1alpha1.StateKeyNodesSecurityGroup]
			ingress := []string{"GroupId", id, "IpPermissions.1.IpProtocol", "-1", "IpPermissions.1.Groups.1.GroupId", id}
			number := 1
			add := func(peer, value string) {
				for _, protocol := range []string{"tcp", "udp"} {
					number++
					prefix := "IpPermissions." + strconv.Itoa(number) + "."
					ingress = append(ingress, prefix+"IpProtocol", protocol, prefix+"FromPort", "30000", prefix+"ToPort", "32767", prefix+peer, value)
				}
			}
			add("IpRanges.1.CidrIp", anywhere)
			for _, zone := range u.config.Networks.Zones {
				add("IpRanges.1.CidrIp", *zone.Internal)
				add("IpRanges.1.CidrIp", *zone.Public)
			}
			if u.hasIPv6() {
				add("Ipv6Ranges.1.CidrIpv6", anywhereIPv6)
				u.ensureIPv6Egress(id)
			}
			u.do("AuthorizeSecurityGroupIngress", ingress...)
			return nil
		}},
	}
}

// ensureIPv6Egress adds the rule for IPv6 unless EC2 has made it with the group.
func (u *upstreamShoot) ensureIPv6Egress(id string) {
	for _, permission := range u.do("DescribeSecurityGroups", "GroupId.1", id).Structs("SecurityGroups")[0].Structs("IpPermissionsEgress") {
		if len(permission.Structs("Ipv6Ranges")) > 0 {
			return
		}
	}
	u.do("AuthorizeSecurityGroupEgress", "GroupId", id, "IpPermissions.1.IpProtocol", "-1", "IpPermissions.1.Ipv6Ranges.1.CidrIpv6", anywhereIPv6)
}

// upstreamIPv6Services reserves the range of Services, which is the second of the first subnet of nodes by ID. It records the egress addresses, too.
func (u *upstreamShoot) upstreamIPv6Services() []upstreamStep {
	egress := upstreamStep{"the record of egress addresses", func(u *upstreamShoot) map[string]string {
		var all []string
		for _, gateway := range u.do("DescribeNatGateways").Structs("NatGateways") {
			all = append(all, gateway.Structs("NatGatewayAddresses")[0].String("PublicIp")+"/32")
		}
		return map[string]string{awsv1alpha1.StateKeyEgressCIDRs: strings.Join(all, ",")}
	}}
	if !u.hasIPv6() {
		return []upstreamStep{egress}
	}
	return []upstreamStep{egress, {"the reserved range of Services", func(u *upstreamShoot) map[string]string {
		first, number := "", 0
		for i, zone := range u.config.Networks.Zones {
			if id := u.made[awsv1alpha1.ZoneStateKey(zone.Name, awsv1alpha1.ZoneKeySubnetWorkers)]; first == "" || id < first {
				first, number = id, 3*i
			}
		}
		cidr := subnetOf(subnetOf(netip.MustParsePrefix(u.made[awsv1alpha1.StateKeyVPCIPv6CIDR]), subnetBits, number), serviceBits, 1).String()
		u.create("CreateSubnetCidrReservation", "SubnetCidrReservation/SubnetCidrReservationId", "subnet-cidr-reservation", technicalID,
			"SubnetId", first, "Cidr", cidr, "ReservationType", "explicit")
		return map[string]string{awsv1alpha1.StateKeyServiceCIDR: cidr}
	}}}
}

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
