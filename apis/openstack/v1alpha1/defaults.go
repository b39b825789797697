package v1alpha1

// Default sets the defaults of unset fields, and replaces the deprecated networks.worker, which has no effect next to
// networks.workers. Decoding calls it; validation and drivers rely on it. It never overwrites other values of the user,
// and is idempotent.
func (c *InfrastructureConfig) Default() {
	networks := &c.Networks
	if networks.Workers == "" {
		networks.Workers = networks.Worker
	}
	networks.Worker = ""
	if networks.ShareNetwork == nil {
		networks.ShareNetwork = &ShareNetwork{}
	}
	if hints := networks.AvailabilityZoneHints; hints != nil && len(hints.Network) == 0 && len(hints.Router) == 0 {
		networks.AvailabilityZoneHints = nil
	}
	// The user owns the rules of an existing security group, so they are not changed.
	if networks.NodePortSourceRanges == nil && networks.SecurityGroupID == nil {
		networks.NodePortSourceRanges = allAddressRanges(networks.IPv6 != nil)
	}
}

func allAddressRanges(dualStack bool) []string {
	if dualStack {
		return []string{"0.0.0.0/0", "::/0"}
	}
	return []string{"0.0.0.0/0"}
}
