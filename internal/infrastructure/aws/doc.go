// Package aws is the Infrastructure driver for AWS: VPC, DHCP options, gateways, route tables, subnets and NAT gateways of each zone, gateway endpoints, the
// security group, role, instance profile and key pair of the nodes.
//
// A reconciliation reads everything in one wave of requests whose number does not depend on the number of zones, decides what is missing or differs, saves what
// it will create, and then works through a graph whose longest path is that of the NAT gateways, which take minutes. Nothing that is equal is written again:
// neither routes nor rules nor policies.
//
// All resources but those of IAM are marked at their creation by the tags that upstream's driver uses, so that each driver adopts what the other one created.
//
// It must not know Manager, Request or Result, other drivers, or the SDK of AWS.
package aws
