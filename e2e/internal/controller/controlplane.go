package controller

// ControlPlane is the controlplane-controller.
func ControlPlane() Binary {
	return withRole(Binary{Name: "controlplane-controller", Types: []string{"openstack", "aws"}})
}
