package fake

import "fmt"

// Unlimited is the quota of everything unless set.
const Unlimited = -1

// SetQuota limits how many of a resource a project, given by name or ID, may have; Unlimited lifts the limit. Resources
// are named as the services do: network, subnet, subnetpool, port, router, floatingip, security_group,
// security_group_rule; instances, cores, ram, key_pairs, server_groups; load_balancer; share_networks; volumes, gigabytes.
func (c *Cloud) SetQuota(project, resource string, limit int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.keystone.project(project)
	if p == nil {
		return fmt.Errorf("setting a quota: no project %q", project)
	}
	if c.quotas[p.id] == nil {
		c.quotas[p.id] = map[string]int{}
	}
	c.quotas[p.id][resource] = limit
	return nil
}

// limit returns a quota, or Unlimited.
func (c *Cloud) limit(projectID, resource string) int {
	if limit, isSet := c.quotas[projectID][resource]; isSet {
		return limit
	}
	return Unlimited
}

func (c *Cloud) exceeds(projectID, resource string, have, more int) bool {
	limit := c.limit(projectID, resource)
	return limit != Unlimited && have+more > limit
}

// checkQuota answers as Neutron does when a create would go over a quota.
func (c *Cloud) checkQuota(projectID, resource string, have, more int) error {
	if resource != "" && c.exceeds(projectID, resource, have, more) {
		return conflict("OverQuota", "Quota exceeded for resources: ['%s'].", resource)
	}
	return nil
}
