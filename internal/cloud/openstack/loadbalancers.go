package openstack

import (
	"context"
	"net/url"
)

// LoadBalancer is an Octavia load balancer.
type LoadBalancer struct {
	ID                 string   `json:"id"`
	Name               string   `json:"name"`
	Description        string   `json:"description"`
	ProjectID          string   `json:"project_id"`
	ProvisioningStatus string   `json:"provisioning_status"` // ACTIVE, ERROR or PENDING_*
	VIPAddress         string   `json:"vip_address"`
	VIPPortID          string   `json:"vip_port_id"`
	VIPSubnetID        string   `json:"vip_subnet_id"`
	VIPNetworkID       string   `json:"vip_network_id"`
	Tags               []string `json:"tags"`
	CreatedAt          Time     `json:"created_at"`
}

// LoadBalancerFilter selects load balancers; all given criteria must match.
type LoadBalancerFilter struct{ VIPNetworkID, VIPSubnetID, Name string }

// HasLoadBalancers reports whether the cloud offers Octavia in the session's region. It makes no call.
func (s *Session) HasLoadBalancers() bool { return s.has(loadBalancerService) }

func (s *Session) loadBalancers() resource[LoadBalancer] {
	return resource[LoadBalancer]{
		session: s, service: loadBalancerService,
		path: "lbaas/loadbalancers", singular: "loadbalancer", plural: "loadbalancers",
	}
}

// ListLoadBalancers returns the load balancers that match the filter. Without Octavia it fails, see IsServiceMissing.
func (s *Session) ListLoadBalancers(ctx context.Context, filter LoadBalancerFilter) ([]LoadBalancer, error) {
	return s.loadBalancers().list(ctx, filter)
}

// DeleteLoadBalancer starts the deletion of a load balancer, which is complete when ListLoadBalancers does not return it any more. With
// cascade its listeners, pools, monitors and members are deleted with it. It fails with cloud.NotFound if there is none, and with
// cloud.Conflict while another change of it is in progress.
func (s *Session) DeleteLoadBalancer(ctx context.Context, id string, cascade bool) error {
	var query url.Values
	if cascade {
		query = url.Values{"cascade": {"true"}}
	}
	return s.loadBalancers().remove(ctx, id, query)
}

func (f LoadBalancerFilter) query() url.Values {
	q := query{}
	q.text("vip_network_id", f.VIPNetworkID)
	q.text("vip_subnet_id", f.VIPSubnetID)
	q.text("name", f.Name)
	return url.Values(q)
}

func (f LoadBalancerFilter) matches(lb LoadBalancer) bool {
	return emptyOrEqual(f.VIPNetworkID, lb.VIPNetworkID) && emptyOrEqual(f.VIPSubnetID, lb.VIPSubnetID) && emptyOrEqual(f.Name, lb.Name)
}
