package services_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestPathOf(t *testing.T) {
	const dashed, plain = "5f3e81a4-8d7e-4f2a-9f6b-1f0a8f843d49", "b5f1c942e7944990a82dd059cc8e9adc"
	for name, test := range map[string]struct {
		service    wire.Service
		path, want string
	}{
		"nothing":                           {services.Neutron, "", "/"},
		"the root":                          {services.Neutron, "/", "/"},
		"a version":                         {services.Nova, "/v2.1", "/v2.1"},
		"a version with a slash":            {services.Nova, "/v2.1/", "/v2.1/"},
		"a collection":                      {services.Neutron, "/v2.0/networks", "/v2.0/networks"},
		"a member":                          {services.Neutron, "/v2.0/networks/" + dashed, "/v2.0/networks/{id}"},
		"a member by an ID that is none":    {services.Neutron, "/v2.0/networks/nope", "/v2.0/networks/{id}"},
		"an action":                         {services.Neutron, "/v2.0/routers/" + dashed + "/add_router_interface", "/v2.0/routers/{id}/add_router_interface"},
		"an extension":                      {services.Neutron, "/v2.0/extensions/standard-attr-tag", "/v2.0/extensions/{id}"},
		"tags":                              {services.Neutron, "/v2.0/ports/" + dashed + "/tags", "/v2.0/ports/{id}/tags"},
		"a tag":                             {services.Neutron, "/v2.0/ports/" + dashed + "/tags/detail", "/v2.0/ports/{id}/tags/{id}"},
		"a project's quota":                 {services.Neutron, "/v2.0/quotas/" + plain, "/v2.0/quotas/{id}"},
		"a project's quota in detail":       {services.Nova, "/v2.1/os-quota-sets/" + plain + "/detail", "/v2.1/os-quota-sets/{id}/detail"},
		"the quota of nobody":               {services.Octavia, "/v2/lbaas/quotas/defaults", "/v2/lbaas/quotas/defaults"},
		"a group of collections":            {services.Neutron, "/v2.0/qos/policies/" + dashed + "/bandwidth_limit_rules/" + dashed, "/v2.0/qos/policies/{id}/bandwidth_limit_rules/{id}"},
		"servers in detail":                 {services.Nova, "/v2.1/servers/detail", "/v2.1/servers/detail"},
		"a server's action":                 {services.Nova, "/v2.1/servers/" + dashed + "/action", "/v2.1/servers/{id}/action"},
		"a server's volume":                 {services.Nova, "/v2.1/servers/" + dashed + "/os-volume_attachments/" + dashed, "/v2.1/servers/{id}/os-volume_attachments/{id}"},
		"a server's metadata of any name":   {services.Nova, "/v2.1/servers/" + dashed + "/metadata/detail", "/v2.1/servers/{id}/metadata/{id}"},
		"a flavor by a short ID":            {services.Nova, "/v2.1/flavors/1/os-extra_specs", "/v2.1/flavors/{id}/os-extra_specs"},
		"a key pair of any name":            {services.Nova, "/v2.1/os-keypairs/detail", "/v2.1/os-keypairs/{id}"},
		"a key pair with a slash":           {services.Nova, "/v2.1/os-keypairs/a%2Fb", "/v2.1/os-keypairs/{id}"},
		"zones in detail":                   {services.Nova, "/v2.1/os-availability-zone/detail", "/v2.1/os-availability-zone/detail"},
		"a load balancer":                   {services.Octavia, "/v2.0/lbaas/loadbalancers/" + dashed, "/v2.0/lbaas/loadbalancers/{id}"},
		"a load balancer's parts":           {services.Octavia, "/v2/lbaas/loadbalancers/" + dashed + "/status", "/v2/lbaas/loadbalancers/{id}/status"},
		"a member of a pool":                {services.Octavia, "/v2/lbaas/pools/" + dashed + "/members/" + dashed, "/v2/lbaas/pools/{id}/members/{id}"},
		"an image":                          {services.Glance, "/v2/images/" + dashed + "/file", "/v2/images/{id}/file"},
		"a schema":                          {services.Glance, "/v2/schemas/image", "/v2/schemas/image"},
		"a token":                           {services.Keystone, "/v3/auth/tokens", "/v3/auth/tokens"},
		"an application credential":         {services.Keystone, "/v3/users/" + plain + "/application_credentials/" + plain, "/v3/users/{id}/application_credentials/{id}"},
		"a role in a project":               {services.Keystone, "/v3/projects/" + plain + "/users/" + plain + "/roles/" + plain, "/v3/projects/{id}/users/{id}/roles/{id}"},
		"a trust":                           {services.Keystone, "/v3/OS-TRUST/trusts/" + plain, "/v3/OS-TRUST/trusts/{id}"},
		"a volume below its project":        {services.Cinder, "/v3/" + plain + "/volumes/" + dashed, "/v3/{id}/volumes/{id}"},
		"volumes in detail":                 {services.Cinder, "/v3/" + plain + "/volumes/detail", "/v3/{id}/volumes/detail"},
		"the type of volumes":               {services.Cinder, "/v3/" + plain + "/types/default", "/v3/{id}/types/default"},
		"a volume without its project":      {services.Cinder, "/v3/volumes/" + dashed, "/v3/volumes/{id}"},
		"a share network":                   {services.Manila, "/v2/share-networks/" + dashed, "/v2/share-networks/{id}"},
		"a share network below its project": {services.Manila, "/v2/" + plain + "/share-networks/" + dashed, "/v2/{id}/share-networks/{id}"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, services.PathOf(test.service, test.path))
		})
	}
}
