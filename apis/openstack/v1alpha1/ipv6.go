package v1alpha1

// HasRanges reports whether any range is given, so that all come from here and none from the subnet pool.
func (c *IPv6Config) HasRanges() bool {
	return c.NodeCIDR != "" || c.PodCIDR != "" || c.ServiceCIDR != ""
}
