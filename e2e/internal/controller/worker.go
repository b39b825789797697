package controller

// Worker is the worker-controller.
func Worker() Binary { return WorkerFor("openstack", "aws") }

// WorkerFor is the worker-controller for some provider types.
func WorkerFor(types ...string) Binary {
	return withRole(Binary{Name: "worker-controller", Types: types})
}
