package openstack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/contract"
)

// Leftovers are recorded in the state as "<prefix>/<ID>", since nothing refers to them once the load balancer is gone.
const (
	leftoverFloatingIP    = "floatingip"
	leftoverSecurityGroup = "securitygroup"
)

// portsPerQuery limits the length of a request's URL: each ID adds 45 characters.
const portsPerQuery = 50

// removeLoadBalancers removes a cloud-controller-manager's load balancers, and then their floating IPs and security groups.
func (rec *reconciliation) removeLoadBalancers(ctx context.Context) error {
	if rec.cloud.HasLoadBalancers() && rec.toDelete.networkID != "" {
		balancers, err := rec.orphanedLoadBalancers(ctx)
		if err != nil {
			return err
		}
		if len(balancers) > 0 {
			if err := rec.recordLeftovers(ctx, balancers); err != nil {
				return err
			}
			if err := rec.deleteLoadBalancersAndWait(ctx, balancers); err != nil {
				return err
			}
		}
	}
	return rec.removeLeftovers(ctx)
}

// orphanedLoadBalancers returns the load balancers of the shoot: all of them in its own network, elsewhere those whose description or name is that of
// exactly this cluster's cloud-controller-manager.
func (rec *reconciliation) orphanedLoadBalancers(ctx context.Context) ([]cloudopenstack.LoadBalancer, error) {
	found, err := rec.cloud.ListLoadBalancers(ctx, cloudopenstack.LoadBalancerFilter{VIPNetworkID: rec.toDelete.networkID})
	if err != nil {
		return nil, fmt.Errorf("looking for load balancers in network %s: %w", rec.toDelete.networkID, err)
	}
	ownNetwork := slices.Contains(rec.toDelete.network, rec.toDelete.networkID)
	return slices.DeleteFunc(found, func(balancer cloudopenstack.LoadBalancer) bool {
		return !ownNetwork && !rec.createdForCluster(balancer)
	}), nil
}

// recordLeftovers saves what remains after the load balancers, before the first of them is deleted.
func (rec *reconciliation) recordLeftovers(ctx context.Context, balancers []cloudopenstack.LoadBalancer) error {
	leftovers := rec.state.leftovers()
	ips, err := rec.floatingIPsOf(ctx, balancers)
	if err != nil {
		return err
	}
	groups, err := rec.groupsOf(ctx, balancers)
	if err != nil {
		return err
	}
	leftovers = append(append(leftovers, ips...), groups...)
	if len(leftovers) == 0 {
		return nil
	}
	rec.saving.Lock()
	defer rec.saving.Unlock()
	rec.state.setLeftovers(leftovers)
	if err := rec.recorder.RecordIntent(ctx, rec.state.infrastructureState()); err != nil {
		return fmt.Errorf("saving what load balancers leave behind: %w", err)
	}
	return nil
}

// floatingIPsOf returns the floating IPs that the cloud-controller-manager created. A user's has another description and stays.
func (rec *reconciliation) floatingIPsOf(ctx context.Context, balancers []cloudopenstack.LoadBalancer) ([]string, error) {
	var portIDs []string
	for _, balancer := range balancers {
		if balancer.VIPPortID != "" {
			portIDs = append(portIDs, balancer.VIPPortID)
		}
	}
	var leftovers []string
	for some := range slices.Chunk(portIDs, portsPerQuery) {
		ips, err := rec.cloud.ListFloatingIPs(ctx, cloudopenstack.FloatingIPFilter{PortIDs: some})
		if err != nil {
			return nil, fmt.Errorf("looking for floating IPs of load balancers: %w", err)
		}
		for _, ip := range ips {
			if service, ok := ccmFloatingIPService(ip.Description); ok && slices.Contains(rec.clusterNames, service.cluster) {
				leftovers = append(leftovers, leftoverFloatingIP+"/"+ip.ID)
			}
		}
	}
	return leftovers, nil
}

// groupsOf returns the security groups that the cloud-controller-manager created for the load balancers' Services. Their descriptions are known exactly, so
// the requests filter by them.
func (rec *reconciliation) groupsOf(ctx context.Context, balancers []cloudopenstack.LoadBalancer) ([]string, error) {
	found := make([][]string, len(balancers))
	var steps []func() error
	for i, balancer := range balancers {
		service, ok := ccmLoadBalancerService(balancer.Name, balancer.Description)
		if !ok || !slices.Contains(rec.clusterNames, service.cluster) {
			continue
		}
		steps = append(steps, func() error {
			groups, err := rec.cloud.ListSecurityGroups(ctx, cloudopenstack.SecurityGroupFilter{Description: service.securityGroupDescription()})
			if err != nil {
				return fmt.Errorf("looking for the security group of load balancer %s: %w", balancer.ID, err)
			}
			for _, group := range groups {
				found[i] = append(found[i], leftoverSecurityGroup+"/"+group.ID)
			}
			return nil
		})
	}
	err := contract.InParallel(steps...)
	return slices.Concat(found...), err
}

// deleteLoadBalancersAndWait deletes each load balancer as soon as it is not pending, and waits until all are gone. One that fails is deleted again.
func (rec *reconciliation) deleteLoadBalancersAndWait(ctx context.Context, balancers []cloudopenstack.LoadBalancer) error {
	first := true
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		if !first {
			var err error
			if balancers, err = rec.orphanedLoadBalancers(ctx); err != nil {
				return "", err
			}
		}
		first = false
		if err := rec.deleteLoadBalancers(ctx, balancers); err != nil {
			return "", err
		}
		return describeLoadBalancers(balancers), nil
	})
}

// deleteLoadBalancers deletes, in parallel, those that are not pending.
func (rec *reconciliation) deleteLoadBalancers(ctx context.Context, balancers []cloudopenstack.LoadBalancer) error {
	var steps []func() error
	for _, balancer := range balancers {
		if strings.HasPrefix(balancer.ProvisioningStatus, "PENDING_") || balancer.ProvisioningStatus == "DELETED" {
			continue
		}
		steps = append(steps, func() error {
			err := rec.cloud.DeleteLoadBalancer(ctx, balancer.ID, true)
			switch kind := cloud.KindOf(err); {
			case err == nil:
				rec.log.Info("Deleted load balancer", "id", balancer.ID, "name", balancer.Name)
			case kind == cloud.NotFound || kind == cloud.Conflict: // gone, or changing: the next look tells
			default:
				return fmt.Errorf("deleting load balancer %s (%s): %w", balancer.ID, balancer.Name, err)
			}
			return nil
		})
	}
	return contract.InParallel(steps...)
}

// describeLoadBalancers is the reason of the wait; empty if there is nothing to wait for.
func describeLoadBalancers(balancers []cloudopenstack.LoadBalancer) string {
	var names []string
	for _, balancer := range balancers {
		if balancer.ProvisioningStatus != "DELETED" {
			names = append(names, fmt.Sprintf("%s (%s, %s)", balancer.ID, balancer.Name, balancer.ProvisioningStatus))
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "load balancers are still there: " + strings.Join(names, ", ")
}

// removeLeftovers removes what is recorded as left by load balancers.
func (rec *reconciliation) removeLeftovers(ctx context.Context) error {
	var steps []func() error
	for _, leftover := range rec.state.leftovers() {
		leftoverKind, id, _ := strings.Cut(leftover, "/")
		steps = append(steps, func() error {
			err := rec.removeLeftover(ctx, leftoverKind, id)
			if err != nil && !cloud.IsNotFound(err) {
				return fmt.Errorf("deleting %s %s of a load balancer: %w", leftoverKind, id, err)
			}
			return nil
		})
	}
	if len(steps) == 0 {
		return nil
	}
	if err := contract.InParallel(steps...); err != nil {
		return err
	}
	rec.log.Info("Deleted leftover load balancer resources", "count", len(steps))
	rec.updateState(func(s *state) { s.setLeftovers(nil) })
	return nil
}

func (rec *reconciliation) removeLeftover(ctx context.Context, leftoverKind, id string) error {
	switch leftoverKind {
	case leftoverFloatingIP:
		return rec.cloud.DeleteFloatingIP(ctx, id)
	case leftoverSecurityGroup:
		return rec.explainInUse(ctx, rec.cloud.DeleteSecurityGroup(ctx, id), func(ctx context.Context) ([]blocker, error) {
			return rec.blockingPortsWithGroup(ctx, id)
		})
	default:
		return nil
	}
}
