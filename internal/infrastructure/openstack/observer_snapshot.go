package openstack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/infrastructure"
	"github.com/trellis-garden/trellis/internal/observer"
)

// part is a part of a snapshot, as errors name it.
type part string

const (
	partNetworks       part = "networks"
	partSubnets        part = "subnets"
	partRouters        part = "routers"
	partPorts          part = "ports"
	partGroups         part = "security groups"
	partKeyPairs       part = "key pairs"
	partShareNetworks  part = "share networks"
	partFloatingIPs    part = "floating IPs"
	partLoadBalancers  part = "load balancers"
	partServers        part = "servers"
	partFlavors        part = "flavors"
	partComputeLimits  part = "limits of Nova"
	partNetworkQuota   part = "quotas of Neutron"
	partVolumes        part = "volumes"
	partVolumeQuota    part = "quotas of Cinder"
	partExpiryOfLogins part = "expiry of the credentials"
)

// partsOf returns what an observation depends on. The quota of Neutron is the smallest response that shows whether the credentials are still accepted.
func partsOf(observation string) []part {
	switch observation {
	case infrastructure.ObservationDrift:
		return []part{partNetworks, partSubnets, partRouters, partPorts, partGroups, partKeyPairs, partShareNetworks}
	case infrastructure.ObservationQuota:
		return []part{partComputeLimits, partNetworkQuota, partVolumeQuota, partVolumes, partServers, partFlavors, partPorts}
	case infrastructure.ObservationOrphans:
		return []part{partNetworks, partSubnets, partRouters, partGroups, partShareNetworks, partLoadBalancers, partVolumes}
	case infrastructure.ObservationDeletionBlockers:
		return []part{partPorts, partServers, partRouters, partLoadBalancers, partFloatingIPs}
	case infrastructure.ObservationCredentials:
		return []part{partNetworkQuota, partExpiryOfLogins}
	default:
		return nil
	}
}

// snapshot has the resources of an account. It is not changed after it was read.
type snapshot struct {
	login cloudopenstack.Token
	// namespaces are those of the Infrastructures in this seed before the cloud was read.
	namespaces map[string]bool

	networks      []cloudopenstack.Network
	subnets       []cloudopenstack.Subnet
	routers       []cloudopenstack.Router
	ports         []cloudopenstack.Port
	groups        []cloudopenstack.SecurityGroup
	keyPairs      []cloudopenstack.KeyPair
	shareNetworks []cloudopenstack.ShareNetwork
	floatingIPs   []cloudopenstack.FloatingIP
	loadBalancers []cloudopenstack.LoadBalancer
	servers       []cloudopenstack.Server
	flavors       []cloudopenstack.Flavor
	computeLimits cloudopenstack.ComputeLimits
	networkQuota  cloudopenstack.NetworkQuota
	volumes       []cloudopenstack.Volume
	volumeQuota   cloudopenstack.VolumeQuota
	// expiry is when the credentials expire; zero for never, or if it is unknown.
	expiry time.Time

	// failed are the parts that could not be read.
	failed map[part]error
}

// readSnapshot reads the parts that are wanted in one wave of parallel requests, one for each part. A part that fails concerns only what depends on it.
func readSnapshot(ctx context.Context, reader *cloudopenstack.Reader, input *infrastructure.ObserverInput) (*snapshot, error) {
	s := &snapshot{login: reader.GetLogin(), failed: map[part]error{}}
	var err error
	if s.namespaces, err = input.Namespaces(ctx); err != nil {
		return nil, err
	}
	var mutex sync.Mutex
	var wave sync.WaitGroup
	for one, read := range s.reads(reader) {
		if !isNeeded(one, input.Wanted) {
			continue
		}
		wave.Go(func() {
			if err := read(ctx); err != nil {
				mutex.Lock()
				defer mutex.Unlock()
				s.failed[one] = fmt.Errorf("reading the %s: %w", one, err)
			}
		})
	}
	wave.Wait()
	return s, ctx.Err()
}

func isNeeded(one part, wanted observer.Names) bool {
	for name := range wanted {
		if slices.Contains(partsOf(name), one) {
			return true
		}
	}
	return false
}

// reads returns how each part is read. A service that the cloud does not have has no resources.
func (s *snapshot) reads(reader *cloudopenstack.Reader) map[part]func(context.Context) error {
	reads := map[part]func(context.Context) error{
		partNetworks: into(&s.networks, func(ctx context.Context) ([]cloudopenstack.Network, error) {
			return reader.ListNetworks(ctx, cloudopenstack.NetworkFilter{})
		}),
		partSubnets: into(&s.subnets, func(ctx context.Context) ([]cloudopenstack.Subnet, error) {
			return reader.ListSubnets(ctx, cloudopenstack.SubnetFilter{})
		}),
		partRouters: into(&s.routers, func(ctx context.Context) ([]cloudopenstack.Router, error) {
			return reader.ListRouters(ctx, cloudopenstack.RouterFilter{})
		}),
		partPorts: into(&s.ports, func(ctx context.Context) ([]cloudopenstack.Port, error) {
			return reader.ListPorts(ctx, cloudopenstack.PortFilter{})
		}),
		partGroups: into(&s.groups, func(ctx context.Context) ([]cloudopenstack.SecurityGroup, error) {
			return reader.ListSecurityGroups(ctx, cloudopenstack.SecurityGroupFilter{})
		}),
		partFloatingIPs: into(&s.floatingIPs, func(ctx context.Context) ([]cloudopenstack.FloatingIP, error) {
			return reader.ListFloatingIPs(ctx, cloudopenstack.FloatingIPFilter{})
		}),
		partServers: into(&s.servers, func(ctx context.Context) ([]cloudopenstack.Server, error) {
			return reader.ListServers(ctx, cloudopenstack.ServerFilter{})
		}),
		partKeyPairs:       into(&s.keyPairs, reader.ListKeyPairs),
		partFlavors:        into(&s.flavors, reader.ListFlavors),
		partComputeLimits:  into(&s.computeLimits, reader.GetComputeLimits),
		partNetworkQuota:   into(&s.networkQuota, reader.GetNetworkQuota),
		partExpiryOfLogins: into(&s.expiry, reader.GetCredentialExpiry),
	}
	if reader.HasShares() {
		reads[partShareNetworks] = into(&s.shareNetworks, func(ctx context.Context) ([]cloudopenstack.ShareNetwork, error) {
			return reader.ListShareNetworks(ctx, cloudopenstack.ShareNetworkFilter{})
		})
	}
	if reader.HasLoadBalancers() {
		reads[partLoadBalancers] = into(&s.loadBalancers, func(ctx context.Context) ([]cloudopenstack.LoadBalancer, error) {
			return reader.ListLoadBalancers(ctx, cloudopenstack.LoadBalancerFilter{})
		})
	}
	if reader.HasVolumes() {
		reads[partVolumes] = into(&s.volumes, func(ctx context.Context) ([]cloudopenstack.Volume, error) {
			return reader.ListVolumes(ctx, cloudopenstack.VolumeFilter{})
		})
		reads[partVolumeQuota] = into(&s.volumeQuota, reader.GetVolumeQuota)
	}
	return reads
}

// into stores what a call returns.
func into[T any](target *T, read func(context.Context) (T, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		value, err := read(ctx)
		if err == nil {
			*target = value
		}
		return err
	}
}

// missing returns the errors of the parts that an observation depends on. Credentials are observed by the errors themselves.
func (s *snapshot) missing(observation string) error {
	if observation == infrastructure.ObservationCredentials {
		return nil
	}
	var errs []error
	for _, one := range partsOf(observation) {
		errs = append(errs, s.failed[one])
	}
	return errors.Join(errs...)
}

// expiryWarning is how long before their end credentials are reported.
const expiryWarning = 14 * 24 * time.Hour

// credentials reports whether the credentials are accepted, and how long. Their end is unknown if Keystone does not tell it.
func (s *snapshot) credentials(now time.Time) observer.Finding {
	for _, one := range slices.Sorted(maps.Keys(s.failed)) {
		if err := s.failed[one]; cloud.KindOf(err) == cloud.Unauthenticated {
			return observer.Finding{Message: err.Error()}
		}
	}
	if err := s.failed[partNetworkQuota]; err != nil && cloud.KindOf(err) != cloud.Unauthorized {
		return observer.Finding{Err: err}
	}
	what, remedy := "The password of user "+s.login.UserID, "change it, and then the Secret"
	if id := s.login.AppCredentialID; id != "" {
		what, remedy = "Application credential "+id, "create another one, and write it to the Secret"
	}
	switch {
	case !s.expiry.IsZero() && s.expiry.Sub(now) < expiryWarning:
		return observer.Finding{Message: fmt.Sprintf("%s expires at %s: %s", what, s.expiry.UTC().Format(time.RFC3339), remedy)}
	case !s.expiry.IsZero():
		return observer.Finding{Healthy: true, Message: fmt.Sprintf("Keystone accepts the credentials. %s expires at %s.", what, s.expiry.UTC().Format(time.RFC3339))}
	case s.failed[partExpiryOfLogins] != nil:
		return observer.Finding{Healthy: true, Message: "Keystone accepts the credentials, and does not tell when they expire."}
	default:
		return observer.Finding{Healthy: true, Message: "Keystone accepts the credentials, and they do not expire."}
	}
}
