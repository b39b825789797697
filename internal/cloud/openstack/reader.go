package openstack

import (
	"context"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
)

// Reader reads the resources of one account. It is for callers that only observe: its type has no method that changes anything, and its session rejects all
// requests but reads. It is safe for concurrent use.
type Reader struct{ session *Session }

// Readers has the Readers of all accounts, with sessions of their own. It exists as long as the process, and is safe for concurrent use.
type Readers struct{ sessions *Sessions }

// The rate of a Reader's requests, so that clients that work get most of what a cloud permits. The burst is a wave of reads.
const (
	readerQPS   = 2
	readerBurst = 20
)

// NewReaders returns an empty cache. Options.ReadOnly is set, and the defaults of QPS and Burst are low. It panics if the registerer has other metrics with
// the same names.
func NewReaders(options Options) *Readers {
	options.ReadOnly = true
	if options.QPS == 0 {
		options.QPS = readerQPS
	}
	if options.Burst == 0 {
		options.Burst = readerBurst
	}
	return &Readers{sessions: NewSessions(options)}
}

// Account identifies an account: the same credentials at the same address and region.
type Account cloud.Fingerprint

// Account returns the key of an account. It makes no call, and does not check the credentials.
func (r *Readers) Account(credentials auth.Credentials, region string) Account {
	return Account(credentials.SessionKey(region))
}

// Get returns the account's Reader, logged in, see Sessions.Get.
func (r *Readers) Get(ctx context.Context, credentials auth.Credentials, region string) (*Reader, error) {
	session, err := r.sessions.Get(ctx, credentials, region)
	if err != nil {
		return nil, err
	}
	return &Reader{session}, nil
}

// GetLogin returns a description of the last login.
func (r *Reader) GetLogin() Token { return r.session.Token() }

// GetCredentialExpiry returns when the credentials of the last login expire, see Session.GetCredentialExpiry.
func (r *Reader) GetCredentialExpiry(ctx context.Context) (time.Time, error) {
	return r.session.GetCredentialExpiry(ctx)
}

// HasShares reports whether the cloud offers Manila.
func (r *Reader) HasShares() bool { return r.session.HasShares() }

// HasLoadBalancers reports whether the cloud offers Octavia.
func (r *Reader) HasLoadBalancers() bool { return r.session.HasLoadBalancers() }

// HasVolumes reports whether the cloud offers Cinder.
func (r *Reader) HasVolumes() bool { return r.session.HasVolumes() }

// ListNetworks returns the networks that match the filter.
func (r *Reader) ListNetworks(ctx context.Context, filter NetworkFilter) ([]Network, error) {
	return r.session.ListNetworks(ctx, filter)
}

// ListSubnets returns the subnets that match the filter.
func (r *Reader) ListSubnets(ctx context.Context, filter SubnetFilter) ([]Subnet, error) {
	return r.session.ListSubnets(ctx, filter)
}

// ListRouters returns the routers that match the filter.
func (r *Reader) ListRouters(ctx context.Context, filter RouterFilter) ([]Router, error) {
	return r.session.ListRouters(ctx, filter)
}

// ListPorts returns the ports that match the filter.
func (r *Reader) ListPorts(ctx context.Context, filter PortFilter) ([]Port, error) {
	return r.session.ListPorts(ctx, filter)
}

// ListSecurityGroups returns the security groups that match the filter, with their rules.
func (r *Reader) ListSecurityGroups(ctx context.Context, filter SecurityGroupFilter) ([]SecurityGroup, error) {
	return r.session.ListSecurityGroups(ctx, filter)
}

// ListKeyPairs returns all key pairs of the user.
func (r *Reader) ListKeyPairs(ctx context.Context) ([]KeyPair, error) {
	return r.session.ListKeyPairs(ctx)
}

// ListShareNetworks returns the share networks that match the filter. Without Manila it fails, see IsServiceMissing.
func (r *Reader) ListShareNetworks(ctx context.Context, filter ShareNetworkFilter) ([]ShareNetwork, error) {
	return r.session.ListShareNetworks(ctx, filter)
}

// ListLoadBalancers returns the load balancers that match the filter. Without Octavia it fails, see IsServiceMissing.
func (r *Reader) ListLoadBalancers(ctx context.Context, filter LoadBalancerFilter) ([]LoadBalancer, error) {
	return r.session.ListLoadBalancers(ctx, filter)
}

// ListFloatingIPs returns the floating IPs that match the filter.
func (r *Reader) ListFloatingIPs(ctx context.Context, filter FloatingIPFilter) ([]FloatingIP, error) {
	return r.session.ListFloatingIPs(ctx, filter)
}

// ListServers returns the servers that match the filter.
func (r *Reader) ListServers(ctx context.Context, filter ServerFilter) ([]Server, error) {
	return r.session.ListServers(ctx, filter)
}

// ListFlavors returns the flavors that the project may use.
func (r *Reader) ListFlavors(ctx context.Context) ([]Flavor, error) {
	return r.session.ListFlavors(ctx)
}

// ListVolumes returns the volumes that match the filter. Without Cinder it fails, see IsServiceMissing.
func (r *Reader) ListVolumes(ctx context.Context, filter VolumeFilter) ([]Volume, error) {
	return r.session.ListVolumes(ctx, filter)
}

// GetComputeLimits returns Nova's limits and usage of the project.
func (r *Reader) GetComputeLimits(ctx context.Context) (ComputeLimits, error) {
	return r.session.GetComputeLimits(ctx)
}

// GetNetworkQuota returns Neutron's quotas of the project.
func (r *Reader) GetNetworkQuota(ctx context.Context) (NetworkQuota, error) {
	return r.session.GetNetworkQuota(ctx)
}

// GetVolumeQuota returns Cinder's quotas of the project. Without Cinder it fails, see IsServiceMissing.
func (r *Reader) GetVolumeQuota(ctx context.Context) (VolumeQuota, error) {
	return r.session.GetVolumeQuota(ctx)
}
