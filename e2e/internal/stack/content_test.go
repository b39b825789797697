package stack

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// One test can run against the fake and against this cloud because both start with the same content.
func TestContent_SameAsFake(t *testing.T) {
	cloud := fake.New()
	require.NoError(t, cloud.Start(IP+":0"))
	t.Cleanup(func() { assert.NoError(t, cloud.Close()) })
	c, err := login(t.Context(), cloud.AuthURL(), fake.DefaultUser, fake.DefaultPassword, fake.DefaultProject)
	require.NoError(t, err)
	endpoints := c.endpoints(t)
	list := func(service, path, key string) []object {
		items, err := c.list(t.Context(), endpoints[service]+path, key)
		require.NoError(t, err)
		return items
	}

	var theirFlavors []flavor
	for _, f := range list("compute", "/flavors/detail", "flavors") {
		theirFlavors = append(theirFlavors, flavor{text(f, "name"), number(f, "vcpus"), number(f, "ram"), number(f, "disk")})
	}
	assert.ElementsMatch(t, theirFlavors, flavors())

	var theirImages []image
	for _, i := range list("image", "/v2/images", "images") {
		theirImages = append(theirImages, image{text(i, "name"), text(i, "architecture")})
		assert.Equal(t, []any{"public", "qcow2", "bare", 1., float64(len(emptyDisk()))},
			[]any{i["visibility"], i["disk_format"], i["container_format"], i["min_disk"], i["size"]})
	}
	assert.ElementsMatch(t, theirImages, images())

	networks := list("network", "/v2.0/networks?router:external=true", "networks")
	require.Len(t, networks, 1)
	assert.Equal(t, fake.ExternalNetwork, text(networks[0], "name"))

	admin, err := login(t.Context(), cloud.AuthURL(), fake.AdminUser, fake.AdminPassword, fake.AdminProject)
	require.NoError(t, err)
	items, err := admin.list(t.Context(), endpoints["network"]+"/v2.0/subnets", "subnets")
	require.NoError(t, err)
	var theirSubnets []subnet
	for _, s := range items {
		theirSubnets = append(theirSubnets, subnet{text(s, "name"), text(s, "cidr"), text(s, "gateway_ip")})
		assert.Equal(t, false, s["enable_dhcp"])
	}
	assert.ElementsMatch(t, theirSubnets, externalSubnets())

	var theirZones []string
	for _, z := range list("compute", "/os-availability-zone", "availabilityZoneInfo") {
		theirZones = append(theirZones, text(z, "zoneName"))
	}
	assert.Equal(t, theirZones, Zones())
}

func TestCatalog_SameAsFake(t *testing.T) {
	cloud := fake.New()
	require.NoError(t, cloud.Start(IP+":0"))
	t.Cleanup(func() { assert.NoError(t, cloud.Close()) })
	c, err := login(t.Context(), cloud.AuthURL(), fake.DefaultUser, fake.DefaultPassword, fake.DefaultProject)
	require.NoError(t, err)
	kinds := c.endpoints(t)
	for _, s := range catalog() {
		if s.kind == "placement" || s.kind == "volumev3" {
			continue // the fake has no Placement, and gives Cinder the name of a later release
		}
		assert.Contains(t, kinds, s.kind)
	}
}

// endpoints are the URLs of the catalog by kind of service.
func (c *client) endpoints(t *testing.T) map[string]string {
	t.Helper()
	var answer struct {
		Catalog []struct {
			Type      string
			Endpoints []struct{ Interface, URL string }
		}
	}
	_, err := c.call(t.Context(), http.MethodGet, c.keystone+"/auth/catalog", nil, &answer)
	require.NoError(t, err)
	urls := map[string]string{}
	for _, service := range answer.Catalog {
		for _, e := range service.Endpoints {
			if e.Interface == "public" {
				urls[service.Type] = e.URL
			}
		}
	}
	return urls
}

func number(o object, key string) int {
	n, _ := o[key].(float64)
	return int(n)
}
