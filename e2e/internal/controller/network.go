package controller

// Network is the network-controller.
func Network() Binary {
	return withRole(Binary{Name: "network-controller", Types: []string{"calico", "gardenet"}})
}
