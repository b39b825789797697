package stack

import "github.com/trellis-garden/trellis/e2e/internal/standin"

// StandIns lists what is not real in the cloud.
func StandIns() []standin.StandIn {
	const hardware = "it takes hardware, or a network of the machine"
	return []standin.StandIn{
		{Name: "hypervisors of OpenStack: Nova's own fake driver; servers are records, which are ACTIVE at once, and boot no operating system", Reason: "they take virtualization in hardware"},
		{Name: "data plane of Neutron: ports, routers and security groups are records without agents; no packet is sent, and no DHCP or metadata served", Reason: hardware},
		{Name: "amphorae of Octavia: a thread reports load balancers, listeners, pools and members as ACTIVE; no connection is accepted", Reason: "they are servers"},
		{Name: "disks of Cinder: volumes are records without bytes", Reason: hardware},
		{Name: "images of Glance: they are empty", Reason: "no server boots from them"},
	}
}
