package controller

// Machine is the machine controller. It runs in the shoots' namespaces, with the rights of machine-controller-manager: see package mcm.
func Machine() Binary { return Binary{Name: "machine-controller-openstack"} }
