package v1alpha1

import "slices"

// HasExistingSubnets reports whether the user gives the subnets of nodes: then zones get no subnets, gateways and route tables.
func (n *Networks) HasExistingSubnets() bool {
	return slices.ContainsFunc(n.Zones, func(zone Zone) bool { return zone.WorkersSubnetID != nil })
}

// UsesElasticFileSystem reports whether the shoot has an elastic file system.
func (c *InfrastructureConfig) UsesElasticFileSystem() bool {
	return c.ElasticFileSystem != nil && c.ElasticFileSystem.Enabled
}

// UsesDualStack reports whether the former switch for dual stack is on.
func (c *InfrastructureConfig) UsesDualStack() bool { return c.DualStack != nil && c.DualStack.Enabled }

// UsesCustomRouteController reports whether the aws-custom-route-controller programs the routes for pods.
func (c *ControlPlaneConfig) UsesCustomRouteController() bool {
	manager := c.CloudControllerManager
	return manager != nil && manager.UseCustomRouteController != nil && *manager.UseCustomRouteController
}

// FindSubnet returns the subnet of a purpose in a zone, or nil.
func (s *VPCStatus) FindSubnet(purpose Purpose, zone string) *Subnet {
	i := slices.IndexFunc(s.Subnets, func(subnet Subnet) bool { return subnet.Purpose == purpose && subnet.Zone == zone })
	if i < 0 {
		return nil
	}
	return &s.Subnets[i]
}

// FindSecurityGroup returns the security group of a purpose, or nil.
func (s *VPCStatus) FindSecurityGroup(purpose Purpose) *SecurityGroup {
	i := slices.IndexFunc(s.SecurityGroups, func(group SecurityGroup) bool { return group.Purpose == purpose })
	if i < 0 {
		return nil
	}
	return &s.SecurityGroups[i]
}

// FindInstanceProfile returns the instance profile of a purpose, or nil.
func (i *IAM) FindInstanceProfile(purpose Purpose) *InstanceProfile {
	at := slices.IndexFunc(i.InstanceProfiles, func(profile InstanceProfile) bool { return profile.Purpose == purpose })
	if at < 0 {
		return nil
	}
	return &i.InstanceProfiles[at]
}

// FindRole returns the role of a purpose, or nil.
func (i *IAM) FindRole(purpose Purpose) *Role {
	at := slices.IndexFunc(i.Roles, func(role Role) bool { return role.Purpose == purpose })
	if at < 0 {
		return nil
	}
	return &i.Roles[at]
}

// FindDataVolume returns the configuration of a data volume of the pool, or nil.
func (c *WorkerConfig) FindDataVolume(name string) *DataVolume {
	i := slices.IndexFunc(c.DataVolumes, func(volume DataVolume) bool { return volume.Name == name })
	if i < 0 {
		return nil
	}
	return &c.DataVolumes[i]
}
