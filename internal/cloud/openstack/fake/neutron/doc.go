// Package neutron is Neutron of the fake cloud: networks, subnets and their pools, routers, ports, floating IPs and security
// groups, with address management, policy and quotas. Users of the fake import package fake only.
package neutron
