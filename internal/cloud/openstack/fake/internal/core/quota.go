package core

// Unlimited is the default of all quotas.
const Unlimited = -1

// Limit returns a quota, or Unlimited.
func (c *Cloud) Limit(projectID, resource string) int {
	if limit, isSet := c.Quotas[projectID][resource]; isSet {
		return limit
	}
	return Unlimited
}

// Exceeds reports whether a project with a number of resources would exceed its quota with more.
func (c *Cloud) Exceeds(projectID, resource string, have, more int) bool {
	limit := c.Limit(projectID, resource)
	return limit != Unlimited && have+more > limit
}

// SetQuota sets how many of a resource a project may have.
func (c *Cloud) SetQuota(projectID, resource string, limit int) {
	if c.Quotas[projectID] == nil {
		c.Quotas[projectID] = map[string]int{}
	}
	c.Quotas[projectID][resource] = limit
}
