package fake

import (
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/ec2"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/efs"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/elb"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// The services, as the call log names them.
const (
	EC2   wire.Service = "ec2"
	EFS   wire.Service = "efs"
	IAM   wire.Service = "iam"
	STS   wire.Service = "sts"
	ELB   wire.Service = "elb"   // classic load balancers
	ELBv2 wire.Service = "elbv2" // application and network load balancers
)

// Transition says how long a resource stays in its first status.
type Transition = core.Transition

// Lag is how long the services take until they show what was changed.
type Lag = core.Lag

// LoadBalancer is a load balancer that is added by the operator.
type LoadBalancer = elb.LoadBalancer

// The types of load balancers.
const (
	Classic     = elb.Classic
	Application = elb.Application
	Network     = elb.NetworkType
)

// The kinds of transitions.
const (
	NATGatewayCreate   = core.NATGatewayCreate   // pending to available; Fail: failed
	NATGatewayDelete   = core.NATGatewayDelete   // deleting to deleted
	NATGatewayForget   = core.NATGatewayForget   // deleted until it is gone; without a transition it stays
	VPCCIDRAssociate   = core.VPCCIDRAssociate   // associating to associated, for IPv6
	VPCEndpointDelete  = core.VPCEndpointDelete  // deleting until it is gone
	LoadBalancerDelete = core.LoadBalancerDelete // the interfaces stay until then
	FileSystemCreate   = core.FileSystemCreate   // creating to available; Fail: error
	FileSystemDelete   = core.FileSystemDelete   // deleting until it is gone
	MountTargetCreate  = core.MountTargetCreate  // creating to available; Fail: error
	MountTargetDelete  = core.MountTargetDelete  // deleting until it is gone, with its interface
	InstanceStart      = core.InstanceStart      // pending to running; Fail: terminated
	InstanceTerminate  = core.InstanceTerminate  // shutting-down to terminated; interfaces and volumes stay until then
	InstanceForget     = core.InstanceForget     // terminated until it is gone; after an hour by default
)

// Quotas, see packages ec2 and efs for their scope.
const (
	QuotaVPCs        = ec2.QuotaVPCs
	QuotaSubnets     = ec2.QuotaSubnets
	QuotaRouteTables = ec2.QuotaRouteTables
	QuotaRoutes      = ec2.QuotaRoutes
	QuotaNATGateways = ec2.QuotaNATGateways
	QuotaAddresses   = ec2.QuotaAddresses
	QuotaGroups      = ec2.QuotaGroups
	QuotaRules       = ec2.QuotaRules
	QuotaInstances   = ec2.QuotaInstances
	QuotaVCPUs       = ec2.QuotaVCPUs
	QuotaFileSystems = efs.QuotaFileSystems

	QuotaInternetGateways = ec2.QuotaInternetGateways
)

// QuotaCapacity is the quota of instances that a zone has hardware for.
func QuotaCapacity(zone string) string { return ec2.QuotaCapacity(zone) }

// Throttled is the fault of a service that has received too many calls of an action; the action may be a pattern such as "Describe*".
func Throttled(service wire.Service, action string) wire.Fault {
	fault := wire.Fault{Match: wire.Match{Service: service, Path: action}}
	switch service {
	case EC2:
		fault.Status, fault.Type, fault.Message = http.StatusServiceUnavailable, "RequestLimitExceeded", "Request limit exceeded."
	case EFS:
		fault.Status, fault.Type, fault.Message = http.StatusBadRequest, "ThrottlingException", "Rate exceeded"
	default:
		fault.Status, fault.Type, fault.Message = http.StatusBadRequest, "Throttling", "Rate exceeded"
	}
	return fault
}
