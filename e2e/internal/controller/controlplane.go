package controller

const controlPlane = "controlplane-controller"

// ControlPlane is the controlplane-controller.
func ControlPlane() Binary { return ControlPlaneFor("openstack", "aws") }

// ControlPlaneFor is the controlplane-controller for some provider types.
func ControlPlaneFor(types ...string) Binary {
	return withRole(Binary{Name: controlPlane, Types: types})
}
