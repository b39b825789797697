package fake

import (
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/sigv4"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// SetTransition delays the change of resources from now on. Kinds without a transition change at once.
func (c *Cloud) SetTransition(kind string, t Transition) {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	c.core.Config.Transitions[kind] = t
}

// SetLag makes what is created or tagged from now on visible late.
func (c *Cloud) SetLag(lag Lag) {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	c.core.Config.Lag = lag
}

// SetQuota limits how many of a resource there may be, see the constants Quota.
func (c *Cloud) SetQuota(name string, limit int) {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	c.core.Config.Quotas[name] = limit
}

// SetDenied replaces the actions that the account's policies deny, such as "ec2:CreateVpc" or "iam:CreateRole".
func (c *Cloud) SetDenied(actions ...string) { c.core.SetDenied(actions...) }

// SetClockOffset makes the cloud's clock differ from that of this machine, for signatures and temporary credentials. Transitions take as long as before.
func (c *Cloud) SetClockOffset(offset time.Duration) { c.core.SetClockOffset(offset) }

// AddKey adds or replaces an access key of a user.
func (c *Cloud) AddKey(user string, key sigv4.Credentials) {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	c.core.AddKey(core.AccessKey{Credentials: key, ARN: c.core.ARN("iam", "", "user/"+user), UserID: core.NewKeyID("AIDA")})
}

// RemoveKey removes an access key, and reports whether it existed.
func (c *Cloud) RemoveKey(keyID string) bool {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return c.core.RemoveKey(keyID)
}

// TrustWebIdentity lets the subject of web identity tokens assume a role. Tokens are not verified.
func (c *Cloud) TrustWebIdentity(roleARN, subject string) {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	c.sts.Trust(roleARN, subject)
}

// ExpireSessions makes all temporary credentials expire now.
func (c *Cloud) ExpireSessions() {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	c.core.ExpireTemporaryKeys()
}

// Do makes a call as another user of the account, without HTTP, and without call log, faults, policies and delayed consistency. Parameters of EFS are named as
// those of IAM: "Tags.member.1.Key".
func (c *Cloud) Do(service wire.Service, action string, parameters url.Values) (protocol.Struct, error) {
	return c.core.Do(string(service), action, parameters)
}

// NotImplemented lists the operations that are in the models and not in the fake, such as "ec2:CreateVpc", sorted.
func (c *Cloud) NotImplemented() []string { return c.core.NotImplemented() }

// AddLoadBalancer adds a load balancer with its network interfaces, as a controller in a cluster does, and returns its name, or its ARN if it is not
// classic.
func (c *Cloud) AddLoadBalancer(l LoadBalancer) (string, error) {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return c.elb.Add(l)
}

// AddNetworkInterface adds a network interface of a service of AWS, with its type and description, and returns its ID. Clients cannot delete it.
func (c *Cloud) AddNetworkInterface(subnetID, kind, description string, groups ...string) (string, error) {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return c.ec2.AddInterface(subnetID, kind, description, groups...)
}

// AddImage adds an image with a root device such as "/dev/xvda", and returns its ID.
func (c *Cloud) AddImage(name, rootDevice string) string {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return c.ec2.AddImage(name, rootDevice)
}

// InterruptInstance terminates an instance as AWS does when it needs the capacity of a spot instance.
func (c *Cloud) InterruptInstance(id string) error {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return c.ec2.InterruptInstance(id)
}

// AddIPAMPool adds a pool of IPv6 addresses of the account, from which VPCs get their blocks, and returns its ID.
func (c *Cloud) AddIPAMPool(prefix netip.Prefix) string {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return c.ec2.AddIPAMPool(prefix)
}

// RemoveNetworkInterface removes a network interface, as the service that owns it does.
func (c *Cloud) RemoveNetworkInterface(id string) {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	c.ec2.RemoveInterface(id)
}

// Dependants lists the IDs of what prevents the deletion of a resource of EC2, sorted. AWS' own error does not name them.
func (c *Cloud) Dependants(id string) []string {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return c.ec2.Dependants(id)
}

// Resources lists everything that was created and not deleted, sorted: the IDs of EC2 and EFS, "role/name", "instance-profile/name", "loadbalancer/name",
// "targetgroup/name". What AWS makes with a VPC, deleted NAT gateways, and rules of security groups are left out.
func (c *Cloud) Resources() []string {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return slices.Concat(c.ec2.IDs(), c.efs.IDs(), c.iam.Names(), c.elb.Names())
}
