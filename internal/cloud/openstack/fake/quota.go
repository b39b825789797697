package fake

// Unlimited is the quota of everything unless set.
const Unlimited = -1

// limit returns a quota, or Unlimited.
func (c *shared) limit(projectID, resource string) int {
	if limit, isSet := c.quotas[projectID][resource]; isSet {
		return limit
	}
	return Unlimited
}

func (c *shared) exceeds(projectID, resource string, have, more int) bool {
	limit := c.limit(projectID, resource)
	return limit != Unlimited && have+more > limit
}

func (c *shared) setQuota(projectID, resource string, limit int) {
	if c.quotas[projectID] == nil {
		c.quotas[projectID] = map[string]int{}
	}
	c.quotas[projectID][resource] = limit
}
