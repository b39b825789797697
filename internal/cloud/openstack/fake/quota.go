package fake

// Unlimited is the quota of everything unless set.
const Unlimited = -1

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
