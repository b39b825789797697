package fake_test

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/attributestags"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/pagination"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// names lists networks by a query and returns their names in the order of the answer.
func names(t *testing.T, c *client, query string) []string {
	t.Helper()
	pager := pagination.NewPager(c.network, c.network.ServiceURL("networks")+"?"+query, func(r pagination.PageResult) pagination.Page {
		return networks.NetworkPage{LinkedPageBase: pagination.LinkedPageBase{PageResult: r}}
	})
	pages, err := pager.AllPages(t.Context())
	require.NoError(t, err)
	all, err := networks.ExtractNetworks(pages)
	require.NoError(t, err)
	out := []string{}
	for _, n := range all {
		out = append(out, n.Name)
	}
	return out
}

func TestList_Filters(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	a := createResource(t, cloud, "networks", fake.Attrs{"name": "a", "description": "one", "mtu": 1400})
	b := createResource(t, cloud, "networks", fake.Attrs{"name": "b", "description": "two"})
	createResource(t, cloud, "networks", fake.Attrs{"name": "c", "description": "two", "admin_state_up": false})
	for id, tags := range map[string][]string{a: {"x"}, b: {"x", "y"}} {
		_, err := attributestags.ReplaceAll(t.Context(), c.network, "networks", id, attributestags.ReplaceAllOpts{Tags: tags}).Extract()
		require.NoError(t, err)
	}
	for query, want := range map[string][]string{
		"":                       {"public", "a", "b", "c"},
		"name=a":                 {"a"},
		"name=a&name=c":          {"a", "c"},
		"name=a&description=two": {},
		"id=" + b + "&id=" + a:   {"b", "a"},
		"id=nope":                {},
		"description=two":        {"b", "c"},
		"router:external=True":   {"public"},
		"admin_state_up=false":   {"c"},
		"mtu=1400":               {"a"},
		"tags=x":                 {"a", "b"},
		"tags=x,y":               {"b"},
		"tags-any=y,z":           {"b"},
		"not-tags=x,y":           {"public", "a", "c"},
		"not-tags-any=x,y":       {"public", "c"},
	} {
		t.Run(query, func(t *testing.T) { require.ElementsMatch(t, want, names(t, c, query)) })
	}
}

func TestList_Sorting(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	byID := map[string]string{externalNetworkID(t, cloud): "public"}
	for _, name := range []string{"b", "a", "c"} {
		byID[createResource(t, cloud, "networks", fake.Attrs{"name": name})] = name
	}
	want := []string{}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		want = append(want, byID[id])
	}
	require.Equal(t, want, names(t, c, ""))
	require.Equal(t, []string{"public", "c", "b", "a"}, names(t, c, "sort_key=name&sort_dir=desc"))
}

func TestList_UnknownMarker(t *testing.T) {
	c := member(t, start(t))
	_, err := networks.List(c.network, networks.ListOpts{Marker: "nope", Limit: 1}).AllPages(t.Context())
	require.Equal(t, "404 NetworkNotFound", errorText(err))
}

func TestList_Pages(t *testing.T) {
	for name, opts := range map[string][]fake.Option{"of the client's size": nil, "of the cloud's size": {fake.WithPageSize(2)}} {
		t.Run(name, func(t *testing.T) {
			cloud := start(t, opts...)
			c := member(t, cloud)
			want := []string{"public"}
			for i := range 4 {
				want = append(want, strconv.Itoa(i))
				createResource(t, cloud, "networks", fake.Attrs{"name": strconv.Itoa(i)})
			}
			query := ""
			if opts == nil {
				query = "limit=2"
			}
			cloud.ResetLog()
			require.ElementsMatch(t, want, names(t, c, query))
			require.Len(t, cloud.Log(), 3)
		})
	}
}

func TestList_Fields(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	var body struct {
		Networks []map[string]any `json:"networks"`
	}
	response, err := c.network.Get(t.Context(), c.network.ServiceURL("networks")+"?fields=id&fields=name", &body, nil)
	require.NoError(t, closeResponse(response, err))
	require.Equal(t, []map[string]any{{"id": externalNetworkID(t, cloud), "name": "public"}}, body.Networks)
}

func TestListPorts_FixedIPs(t *testing.T) {
	s := newTestEnv(t)
	host := s.port(t)
	for name, test := range map[string]struct {
		opts ports.ListOpts
		want []string
	}{
		"by subnet":              {ports.ListOpts{FixedIPs: []ports.FixedIPOpts{{SubnetID: s.subnetID}}}, []string{s.interfaceID, host.ID}},
		"by address":             {ports.ListOpts{FixedIPs: []ports.FixedIPOpts{{IPAddress: "10.250.0.1"}}}, []string{s.interfaceID}},
		"by another subnet":      {ports.ListOpts{FixedIPs: []ports.FixedIPOpts{{SubnetID: "nope"}}}, []string{}},
		"by device and subnet":   {ports.ListOpts{DeviceID: s.routerID, FixedIPs: []ports.FixedIPOpts{{SubnetID: s.subnetID}}}, []string{s.interfaceID}},
		"by security group":      {ports.ListOpts{SecurityGroups: host.SecurityGroups}, []string{host.ID}},
		"by network and no name": {ports.ListOpts{NetworkID: s.networkID}, []string{s.interfaceID, host.ID}},
	} {
		t.Run(name, func(t *testing.T) {
			pages, err := ports.List(s.network, test.opts).AllPages(t.Context())
			require.NoError(t, err)
			all, err := ports.ExtractPorts(pages)
			require.NoError(t, err)
			got := []string{}
			for _, p := range all {
				got = append(got, p.ID)
			}
			require.ElementsMatch(t, test.want, got)
		})
	}
}

func TestTags(t *testing.T) {
	s := newTestEnv(t)
	on := func(kind, id string) {
		tags, err := attributestags.ReplaceAll(t.Context(), s.network, kind, id, attributestags.ReplaceAllOpts{Tags: []string{"a", "b"}}).Extract()
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b"}, tags)
		require.NoError(t, attributestags.Add(t.Context(), s.network, kind, id, "c").ExtractErr())
		require.NoError(t, attributestags.Delete(t.Context(), s.network, kind, id, "a").ExtractErr())
		require.Equal(t, "404 TagNotFound", errorText(attributestags.Delete(t.Context(), s.network, kind, id, "a").ExtractErr()))
		got, err := attributestags.List(t.Context(), s.network, kind, id).Extract()
		require.NoError(t, err)
		require.Equal(t, []string{"b", "c"}, slices.Sorted(slices.Values(got)))
		there, err := attributestags.Confirm(t.Context(), s.network, kind, id, "b").Extract()
		require.NoError(t, err)
		require.True(t, there)
		require.NoError(t, attributestags.DeleteAll(t.Context(), s.network, kind, id).ExtractErr())
	}
	on("networks", s.networkID)
	on("subnets", s.subnetID)
	on("routers", s.routerID)
	on("security-groups", createResource(t, s.cloud, "security-groups", fake.Attrs{"name": "g"}))
	require.NoError(t, attributestags.Add(t.Context(), s.network, "networks", s.publicID, "mine").ExtractErr(), "what everybody sees takes everybody's tags")

	without := start(t, fake.WithoutExtensions("standard-attr-tag"))
	n := createResource(t, without, "networks", fake.Attrs{})
	err := attributestags.Add(t.Context(), member(t, without).network, "networks", n, "a").ExtractErr()
	require.Equal(t, "404 HTTPNotFound", errorText(err))
}
