package controller

// Machine is the machine controller for OpenStack.
func Machine() Binary { return MachineFor("openstack") }

// MachineFor is the machine controller for a provider type. It runs in the shoots' namespaces, with the rights of machine-controller-manager: see
// package mcm.
func MachineFor(providerType string) Binary {
	return Binary{Name: "machine-controller-" + providerType}
}
