package fake

import (
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/keystone"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/neutron"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/nova"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// createTarget is the path at which resources of a collection are created.
type createTarget struct {
	service   wire.Service
	path, key string
}

func createTargetFor(collection string) (createTarget, bool) {
	p, found := map[string]createTarget{
		"networks":             {services.Neutron, "/v2.0/", "network"},
		"subnets":              {services.Neutron, "/v2.0/", "subnet"},
		"subnetpools":          {services.Neutron, "/v2.0/", "subnetpool"},
		"routers":              {services.Neutron, "/v2.0/", "router"},
		"ports":                {services.Neutron, "/v2.0/", "port"},
		"floatingips":          {services.Neutron, "/v2.0/", "floatingip"},
		"security-groups":      {services.Neutron, "/v2.0/", "security_group"},
		"security-group-rules": {services.Neutron, "/v2.0/", "security_group_rule"},
		"os-keypairs":          {services.Nova, "/v2.1/", "keypair"},
		"os-server-groups":     {services.Nova, "/v2.1/", "server_group"},
		"servers":              {services.Nova, "/v2.1/", "server"},
		"loadbalancers":        {services.Octavia, "/v2.0/lbaas/", "loadbalancer"},
		"share-networks":       {services.Manila, "/v2/", "share_network"},
		"volumes":              {services.Cinder, "/v3/operator/", "volume"},
	}[collection]
	return p, found
}

// addDefaultContent creates the default content.
func (c *Cloud) addDefaultContent() {
	admin, garden := c.keystone.AddProject(AdminProject), c.keystone.AddProject(DefaultProject)
	c.keystone.AddUser(AdminUser, AdminPassword, []string{core.RoleAdmin, core.RoleMember}, admin)
	member := c.keystone.AddUser(DefaultUser, DefaultPassword, keystone.MemberRoles(), garden)
	c.keystone.AddAppCredential(DefaultAppCredentialName, DefaultAppCredentialSecret, member, garden)

	public := c.neutron.NewNetwork(admin.ID)
	public.Name, public.External = ExternalNetwork, true
	c.neutron.Networks.Add(public)
	for _, s := range []struct{ name, cidr, gateway string }{
		{ExternalSubnetA, "198.18.0.0/17", "198.18.0.1"},
		{ExternalSubnetB, "198.18.128.0/17", "198.18.128.1"},
	} {
		subnet := c.neutron.NewSubnet(admin.ID, public.ID, s.cidr)
		subnet.Name, subnet.GatewayIP, subnet.EnableDHCP = s.name, core.Null(s.gateway), false
		subnet.AllocationPools = neutron.DefaultPools(subnet)
		c.neutron.StoreSubnet(public, subnet)
	}
	for _, f := range []nova.Flavor{
		{Name: "m1.tiny", VCPUs: 1, RAM: 512, Disk: 1},
		{Name: "m1.small", VCPUs: 1, RAM: 2048, Disk: 20},
		{Name: "m1.medium", VCPUs: 2, RAM: 4096, Disk: 40},
		{Name: "m1.large", VCPUs: 4, RAM: 8192, Disk: 80},
		{Name: "m1.diskless", VCPUs: 2, RAM: 4096},
	} {
		c.AddFlavor(f)
	}
	c.AddImage("tiny", "x86_64")
	c.AddImage("gardenlinux", "x86_64")
	c.AddImage("gardenlinux-arm64", "aarch64")
}
