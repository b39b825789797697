package v1alpha1

// DefaultEncapsulation works on every infrastructure.
const DefaultEncapsulation = EncapsulationVXLAN

// Default returns the configuration with defaults for fields that are not set.
func (c *NetworkConfig) Default() *NetworkConfig {
	effective := c.DeepCopy()
	if effective.Encapsulation == "" {
		effective.Encapsulation = DefaultEncapsulation
	}
	return effective
}
