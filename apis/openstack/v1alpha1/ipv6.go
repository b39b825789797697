package v1alpha1

// HasRanges reports whether any range is set, so that no range comes from the subnet pool.
func (c *IPv6Config) HasRanges() bool {
	return c.NodeCIDR != "" || c.PodCIDR != "" || c.ServiceCIDR != ""
}
