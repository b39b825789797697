package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

func TestPathOf(t *testing.T) {
	const dashed, plain = "5f3e81a4-8d7e-4f2a-9f6b-1f0a8f843d49", "b5f1c942e7944990a82dd059cc8e9adc"
	for name, test := range map[string]struct {
		service    wire.Service
		path, want string
	}{
		"nothing":                           {wire.Neutron, "", "/"},
		"the root":                          {wire.Neutron, "/", "/"},
		"a version":                         {wire.Nova, "/v2.1", "/v2.1"},
		"a version with a slash":            {wire.Nova, "/v2.1/", "/v2.1/"},
		"a collection":                      {wire.Neutron, "/v2.0/networks", "/v2.0/networks"},
		"a member":                          {wire.Neutron, "/v2.0/networks/" + dashed, "/v2.0/networks/{id}"},
		"a member by an ID that is none":    {wire.Neutron, "/v2.0/networks/nope", "/v2.0/networks/{id}"},
		"an action":                         {wire.Neutron, "/v2.0/routers/" + dashed + "/add_router_interface", "/v2.0/routers/{id}/add_router_interface"},
		"an extension":                      {wire.Neutron, "/v2.0/extensions/standard-attr-tag", "/v2.0/extensions/{id}"},
		"tags":                              {wire.Neutron, "/v2.0/ports/" + dashed + "/tags", "/v2.0/ports/{id}/tags"},
		"a tag":                             {wire.Neutron, "/v2.0/ports/" + dashed + "/tags/detail", "/v2.0/ports/{id}/tags/{id}"},
		"a project's quota":                 {wire.Neutron, "/v2.0/quotas/" + plain, "/v2.0/quotas/{id}"},
		"a project's quota in detail":       {wire.Nova, "/v2.1/os-quota-sets/" + plain + "/detail", "/v2.1/os-quota-sets/{id}/detail"},
		"the quota of nobody":               {wire.Octavia, "/v2/lbaas/quotas/defaults", "/v2/lbaas/quotas/defaults"},
		"a group of collections":            {wire.Neutron, "/v2.0/qos/policies/" + dashed + "/bandwidth_limit_rules/" + dashed, "/v2.0/qos/policies/{id}/bandwidth_limit_rules/{id}"},
		"servers in detail":                 {wire.Nova, "/v2.1/servers/detail", "/v2.1/servers/detail"},
		"a server's action":                 {wire.Nova, "/v2.1/servers/" + dashed + "/action", "/v2.1/servers/{id}/action"},
		"a server's volume":                 {wire.Nova, "/v2.1/servers/" + dashed + "/os-volume_attachments/" + dashed, "/v2.1/servers/{id}/os-volume_attachments/{id}"},
		"a server's metadata of any name":   {wire.Nova, "/v2.1/servers/" + dashed + "/metadata/detail", "/v2.1/servers/{id}/metadata/{id}"},
		"a flavor by a short ID":            {wire.Nova, "/v2.1/flavors/1/os-extra_specs", "/v2.1/flavors/{id}/os-extra_specs"},
		"a key pair of any name":            {wire.Nova, "/v2.1/os-keypairs/detail", "/v2.1/os-keypairs/{id}"},
		"a key pair with a slash":           {wire.Nova, "/v2.1/os-keypairs/a%2Fb", "/v2.1/os-keypairs/{id}"},
		"zones in detail":                   {wire.Nova, "/v2.1/os-availability-zone/detail", "/v2.1/os-availability-zone/detail"},
		"a load balancer":                   {wire.Octavia, "/v2.0/lbaas/loadbalancers/" + dashed, "/v2.0/lbaas/loadbalancers/{id}"},
		"a load balancer's parts":           {wire.Octavia, "/v2/lbaas/loadbalancers/" + dashed + "/status", "/v2/lbaas/loadbalancers/{id}/status"},
		"a member of a pool":                {wire.Octavia, "/v2/lbaas/pools/" + dashed + "/members/" + dashed, "/v2/lbaas/pools/{id}/members/{id}"},
		"an image":                          {wire.Glance, "/v2/images/" + dashed + "/file", "/v2/images/{id}/file"},
		"a schema":                          {wire.Glance, "/v2/schemas/image", "/v2/schemas/image"},
		"a token":                           {wire.Keystone, "/v3/auth/tokens", "/v3/auth/tokens"},
		"an application credential":         {wire.Keystone, "/v3/users/" + plain + "/application_credentials/" + plain, "/v3/users/{id}/application_credentials/{id}"},
		"a role in a project":               {wire.Keystone, "/v3/projects/" + plain + "/users/" + plain + "/roles/" + plain, "/v3/projects/{id}/users/{id}/roles/{id}"},
		"a trust":                           {wire.Keystone, "/v3/OS-TRUST/trusts/" + plain, "/v3/OS-TRUST/trusts/{id}"},
		"a volume below its project":        {wire.Cinder, "/v3/" + plain + "/volumes/" + dashed, "/v3/{id}/volumes/{id}"},
		"volumes in detail":                 {wire.Cinder, "/v3/" + plain + "/volumes/detail", "/v3/{id}/volumes/detail"},
		"the type of volumes":               {wire.Cinder, "/v3/" + plain + "/types/default", "/v3/{id}/types/default"},
		"a volume without its project":      {wire.Cinder, "/v3/volumes/" + dashed, "/v3/volumes/{id}"},
		"a share network":                   {wire.Manila, "/v2/share-networks/" + dashed, "/v2/share-networks/{id}"},
		"a share network below its project": {wire.Manila, "/v2/" + plain + "/share-networks/" + dashed, "/v2/{id}/share-networks/{id}"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, wire.PathOf(test.service, test.path))
		})
	}
}
