// Package ec2 is the network part of EC2: VPCs, subnets, gateways, route tables, addresses, security groups, endpoints, key pairs, network interfaces and
// tags. It must not know HTTP, signatures or encodings; see package core. It starts no instances.
package ec2
