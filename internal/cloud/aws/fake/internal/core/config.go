package core

import (
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
)

// Config configures the cloud: an account in a region.
type Config struct {
	AccountID string
	Partition string
	Region    string
	Zones     []string
	Latency   time.Duration
	// ClockSkew is the maximum difference between the date of a signature and the cloud's clock.
	ClockSkew time.Duration
	// TokenLifetime is the maximum lifetime of temporary credentials.
	TokenLifetime time.Duration
	Transitions   map[string]Transition
	Lag           Lag
	Quotas        map[string]int
	// Models are the services' models, which are only read; nil to load them.
	Models map[string]*model.Service
}

// Lag is how long the services take until they show what was changed. AWS calls that eventual consistency.
type Lag struct {
	// Reads is how many times a new resource is missing: a read that names its ID fails, a list does not contain it.
	Reads int
	// TagReads is how many lists that filter by tags miss a resource by its new tags.
	TagReads int
	// For is how long a new resource is missing, also for requests of EC2 that change it or use it.
	For time.Duration
	// TagsFor is how long lists that filter by tags miss a resource by its new tags.
	TagsFor time.Duration
}

// Transition says how long a resource stays in its first status: until both conditions hold.
type Transition struct {
	// Reads is how many times the resource must be in a response.
	Reads int
	// After is the minimum time.
	After time.Duration
	// Fail ends the transition in the kind's status of failure, with the code and message that are configured.
	Fail          bool
	Code, Message string
}

// The kinds of transitions.
const (
	NATGatewayCreate   = "nat-gateway-create"   // pending to available; Fail: failed
	NATGatewayDelete   = "nat-gateway-delete"   // deleting to deleted
	NATGatewayForget   = "nat-gateway-forget"   // deleted until it is gone; without a transition it stays
	VPCCIDRAssociate   = "vpc-cidr-associate"   // associating to associated, for IPv6
	VPCEndpointDelete  = "vpc-endpoint-delete"  // deleting until it is gone
	LoadBalancerDelete = "load-balancer-delete" // the interfaces stay until then
	FileSystemCreate   = "file-system-create"   // creating to available; Fail: error
	FileSystemDelete   = "file-system-delete"   // deleting until it is gone
	MountTargetCreate  = "mount-target-create"  // creating to available; Fail: error
	MountTargetDelete  = "mount-target-delete"  // deleting until it is gone, with its interface
	InstanceStart      = "instance-start"       // pending to running; Fail: terminated
	InstanceTerminate  = "instance-terminate"   // shutting-down to terminated; interfaces and volumes stay until then
	InstanceForget     = "instance-forget"      // terminated until it is gone
)
