package controller

// Worker is the worker-controller.
func Worker() Binary {
	return withRole(Binary{Name: "worker-controller", Types: []string{"openstack", "aws"}})
}
