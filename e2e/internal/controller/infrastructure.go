package controller

// Infrastructure is the infrastructure-controller.
func Infrastructure() Binary {
	return withRole(Binary{Name: "infrastructure-controller", Types: []string{"openstack", "aws"}, ObservedTypes: []string{"openstack"}})
}
