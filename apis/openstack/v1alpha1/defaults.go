package v1alpha1

// Default fills in what the user left out, and replaces the deprecated networks.worker, which says nothing next to
// networks.workers. Decoding does it; validation and drivers rely on it. It never overwrites what the user gave
// otherwise, and doing it twice changes nothing.
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
	// The rules of a given security group are not ours, so nothing is opened there.
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
