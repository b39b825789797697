package v1alpha1

// Default sets the defaults of unset fields. Decoding calls it; validation and drivers rely on it. It never overwrites values of the user, and is
// idempotent.
func (c *InfrastructureConfig) Default() {
	if c.EnableECRAccess == nil {
		c.EnableECRAccess = new(true)
	}
	if c.EnableDedicatedTenancyForVPC == nil {
		c.EnableDedicatedTenancyForVPC = new(false)
	}
	if c.EnableMTUCustomizer == nil {
		c.EnableMTUCustomizer = new(true)
	}
}

// Default sets the defaults of unset fields, as InfrastructureConfig's does.
func (c *ControlPlaneConfig) Default() {
	if c.Storage == nil {
		c.Storage = &Storage{}
	}
	if c.Storage.ManagedDefaultClass == nil {
		c.Storage.ManagedDefaultClass = new(true)
	}
}
