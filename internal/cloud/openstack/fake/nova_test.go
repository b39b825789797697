package fake_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/availabilityzones"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/keypairs"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servergroups"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/volumeattach"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMmW0oDrR2bVIrOeGFnF0Cv2bIiAOlp0i9q5Ov6Vn7fX someone"

func TestKeyPairs(t *testing.T) {
	cloud := start(t)
	c, other := member(t, cloud), otherMember(t, cloud)
	create := func(c *client, name, key string) error {
		return keypairs.Create(t.Context(), c.compute, keypairs.CreateOpts{Name: name, PublicKey: key}).Err
	}
	require.NoError(t, create(c, "k", publicKey))
	require.Equal(t, "409 conflictingRequest", errorText(create(c, "k", publicKey)))
	require.NoError(t, create(other, "k", publicKey), "names are per user")
	require.Equal(t, "400 badRequest", errorText(create(c, "broken", "ssh-ed25519 rubbish")))
	require.Equal(t, "400 badRequest", errorText(create(c, " spaces ", publicKey)))

	k, err := keypairs.Get(t.Context(), c.compute, "k", nil).Extract()
	require.NoError(t, err)
	require.Equal(t, publicKey, k.PublicKey)
	require.Regexp(t, "^([0-9a-f]{2}:){15}[0-9a-f]{2}$", k.Fingerprint)
	require.Equal(t, cloud.UserID(fake.DefaultUser), k.UserID)
	pages, err := keypairs.List(c.compute, nil).AllPages(t.Context())
	require.NoError(t, err)
	all, err := keypairs.ExtractKeyPairs(pages)
	require.NoError(t, err)
	require.Len(t, all, 1)

	require.NoError(t, cloud.SetQuota("garden", "key_pairs", 1))
	require.Equal(t, "403 forbidden", errorText(create(c, "more", publicKey)))
	require.NoError(t, keypairs.Delete(t.Context(), c.compute, "k", nil).ExtractErr())
	require.Equal(t, "404 itemNotFound", errorText(keypairs.Delete(t.Context(), c.compute, "k", nil).ExtractErr()))
	require.Len(t, cloud.State("").KeyPairs, 1, "the other user's")
}

func TestMicroversions(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	create := func(version string, opts keypairs.CreateOpts) (string, *keypairs.KeyPair) {
		c.compute.Microversion = version
		k, err := keypairs.Create(t.Context(), c.compute, opts).Extract()
		return errorText(err), k
	}
	for _, step := range []struct{ version, name, key, want, kind string }{
		{"", "oldest", "", "", ""},
		{"2.2", "typed", "", "", "ssh"},
		{"2.91", "made", "", "", "ssh"},
		{"2.92", "no longer made", "", "400 badRequest", ""},
		{"2.92", "given", publicKey, "", "ssh"},
		{"latest", "latest", publicKey, "", "ssh"},
		{"2.500", "future", publicKey, "406 computeFault", ""},
		{"two", "rubbish", publicKey, "400 badRequest", ""},
	} {
		got, k := create(step.version, keypairs.CreateOpts{Name: step.name, PublicKey: step.key})
		require.Equal(t, step.want, got, step.name)
		if got == "" {
			require.Equal(t, step.kind, k.Type, step.name)
		}
	}
}

func TestServerGroup_Microversions(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	for _, step := range []struct {
		sentence, version string
		opts              servergroups.CreateOpts
		want              string
	}{
		{"old form", "2.15", servergroups.CreateOpts{Name: "g", Policies: []string{"soft-anti-affinity"}}, ""},
		{"old form, too old for soft policies", "2.14", servergroups.CreateOpts{Name: "g", Policies: []string{"soft-affinity"}}, "400 badRequest"},
		{"new form", "2.64", servergroups.CreateOpts{Name: "g", Policy: "anti-affinity", Rules: &servergroups.Rules{MaxServerPerHost: 2}}, ""},
		{"new form with the old attribute", "2.64", servergroups.CreateOpts{Name: "g", Policies: []string{"affinity"}}, "400 badRequest"},
		{"old form with the new attribute", "2.15", servergroups.CreateOpts{Name: "g", Policy: "affinity"}, "400 badRequest"},
		{"a rule for another policy", "2.64", servergroups.CreateOpts{Name: "g", Policy: "affinity", Rules: &servergroups.Rules{MaxServerPerHost: 2}}, "400 badRequest"},
	} {
		c.compute.Microversion = step.version
		require.Equal(t, step.want, errorText(servergroups.Create(t.Context(), c.compute, step.opts).Err), step.sentence)
	}
	all := func(version string) []servergroups.ServerGroup {
		c.compute.Microversion = version
		pages, err := servergroups.List(c.compute, nil).AllPages(t.Context())
		require.NoError(t, err)
		all, err := servergroups.ExtractServerGroups(pages)
		require.NoError(t, err)
		require.Len(t, all, 2)
		return all
	}
	require.Equal(t, []string{"soft-anti-affinity"}, all("2.15")[0].Policies)
	require.Nil(t, all("2.15")[1].Policy)
	require.Equal(t, "anti-affinity", *all("2.64")[1].Policy)
	require.Equal(t, 2, all("2.64")[1].Rules.MaxServerPerHost)
	require.NoError(t, cloud.SetQuota("garden", "server_groups", 2))
	err := servergroups.Create(t.Context(), c.compute, servergroups.CreateOpts{Name: "g", Policy: "affinity"}).Err
	require.Equal(t, "403 forbidden", errorText(err))
	require.NoError(t, servergroups.Delete(t.Context(), c.compute, all("2.64")[0].ID).ExtractErr())
}

// flavor is the ID of a flavor, image that of an image.
func (s *testEnv) flavor(t testing.TB, name string) string {
	t.Helper()
	pages, err := flavors.ListDetail(s.compute, nil).AllPages(t.Context())
	require.NoError(t, err)
	all, err := flavors.ExtractFlavors(pages)
	require.NoError(t, err)
	at := slices.IndexFunc(all, func(f flavors.Flavor) bool { return f.Name == name })
	require.GreaterOrEqual(t, at, 0)
	return all[at].ID
}

func (s *testEnv) imageID(t testing.TB, name string) string {
	t.Helper()
	pages, err := images.List(s.image, images.ListOpts{Name: name}).AllPages(t.Context())
	require.NoError(t, err)
	all, err := images.ExtractImages(pages)
	require.NoError(t, err)
	require.Len(t, all, 1)
	return all[0].ID
}

func TestServer_Invalid(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*testing.T, *testEnv, *servers.CreateOpts)
		key    string
		group  string
		want   string
	}{
		"none of it":         {func(*testing.T, *testEnv, *servers.CreateOpts) {}, "", "", ""},
		"an unknown flavor":  {func(_ *testing.T, _ *testEnv, o *servers.CreateOpts) { o.FlavorRef = "nope" }, "", "", "400 badRequest"},
		"an unknown image":   {func(_ *testing.T, _ *testEnv, o *servers.CreateOpts) { o.ImageRef = "nope" }, "", "", "400 badRequest"},
		"an unknown zone":    {func(_ *testing.T, _ *testEnv, o *servers.CreateOpts) { o.AvailabilityZone = "mars" }, "", "", "400 badRequest"},
		"an unknown group":   {func(_ *testing.T, _ *testEnv, o *servers.CreateOpts) { o.SecurityGroups = []string{"nope"} }, "", "", "400 badRequest"},
		"an unknown network": {func(_ *testing.T, _ *testEnv, o *servers.CreateOpts) { o.Networks = []servers.Network{{UUID: "nope"}} }, "", "", "400 badRequest"},
		"a port in use": {func(_ *testing.T, s *testEnv, o *servers.CreateOpts) {
			o.Networks = []servers.Network{{Port: s.interfaceID}}
		}, "", "", "409 conflictingRequest"},
		"an unknown key":          {func(*testing.T, *testEnv, *servers.CreateOpts) {}, "nope", "", "400 badRequest"},
		"an unknown server group": {func(*testing.T, *testEnv, *servers.CreateOpts) {}, "", "11111111-2222-4333-8444-555555555555", "400 badRequest"},
		"more cores than allowed": {func(t *testing.T, s *testEnv, _ *servers.CreateOpts) {
			require.NoError(t, s.cloud.SetQuota("garden", "cores", 1))
		}, "", "", "403 forbidden"},
		"a choice of networks": {func(t *testing.T, s *testEnv, o *servers.CreateOpts) {
			createResource(t, s.cloud, "networks", fake.Attrs{})
			o.Networks = nil
		}, "", "", "409 conflictingRequest"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestEnv(t)
			opts := servers.CreateOpts{
				Name: "vm", FlavorRef: s.flavor(t, "m1.medium"), ImageRef: s.imageID(t, "tiny"), Networks: []servers.Network{{UUID: s.networkID}},
			}
			test.change(t, s, &opts)
			err := servers.Create(t.Context(), s.compute, keypairs.CreateOptsExt{CreateOptsBuilder: opts, KeyName: test.key}, servers.SchedulerHintOpts{Group: test.group}).Err
			require.Equal(t, test.want, errorText(err))
			require.LessOrEqual(t, len(s.cloud.State("garden").Ports), 3, "what failed leaves no port")
		})
	}
}

func (s *testEnv) server(t testing.TB, portID string, group string) *servers.Server {
	t.Helper()
	opts := servers.CreateOpts{
		Name: "vm", FlavorRef: s.flavor(t, "m1.small"), ImageRef: s.imageID(t, "tiny"), Networks: []servers.Network{{Port: portID}},
		Metadata: map[string]string{"role": "node"},
	}
	if portID == "" {
		opts.Networks = []servers.Network{{UUID: s.networkID}}
	}
	made, err := servers.Create(t.Context(), s.compute, opts, servers.SchedulerHintOpts{Group: group}).Extract()
	require.NoError(t, err)
	return made
}

func (s *testEnv) statuses(t testing.TB, id string, polls int) []string {
	t.Helper()
	var seen []string
	for range polls {
		vm, err := servers.Get(t.Context(), s.compute, id).Extract()
		require.NoError(t, err)
		seen = append(seen, vm.Status)
	}
	return seen
}

func TestCreateServer_ExistingPort(t *testing.T) {
	s := newTestEnv(t, fake.WithTransition(fake.ServerBuild, fake.Transition{Polls: 2}), fake.WithTransition(fake.ServerDelete, fake.Transition{Polls: 1}))
	p := s.port(t)
	vm := s.server(t, p.ID, "")
	require.Equal(t, []string{"BUILD", "BUILD", "ACTIVE"}, s.statuses(t, vm.ID, 3))
	p, err := ports.Get(t.Context(), s.network, p.ID).Extract()
	require.NoError(t, err)
	require.Equal(t, []string{vm.ID, "compute:zone-a", "ACTIVE"}, []string{p.DeviceID, p.DeviceOwner, p.Status})
	got, err := servers.Get(t.Context(), s.compute, vm.ID).Extract()
	require.NoError(t, err)
	require.Equal(t, []string{"site"}, slices.Collect(maps.Keys(got.Addresses)))
	require.Equal(t, map[string]string{"role": "node"}, got.Metadata)

	require.NoError(t, servers.Delete(t.Context(), s.compute, vm.ID).ExtractErr())
	require.Equal(t, []string{"ACTIVE"}, s.statuses(t, vm.ID, 1), "still there")
	require.Equal(t, "404 itemNotFound", errorText(servers.Get(t.Context(), s.compute, vm.ID).Err))
	p, err = ports.Get(t.Context(), s.network, p.ID).Extract()
	require.NoError(t, err, "the port survives")
	require.Empty(t, p.DeviceID)
}

func TestDeleteServer_OwnPort(t *testing.T) {
	s := newTestEnv(t)
	vm := s.server(t, "", "")
	require.Len(t, s.cloud.State("garden").Ports, 3)
	require.NoError(t, servers.Delete(t.Context(), s.compute, vm.ID).ExtractErr())
	require.Len(t, s.cloud.State("garden").Ports, 2)
}

func TestCreateServer_NoValidHost(t *testing.T) {
	for name, opts := range map[string][]fake.Option{
		"because the cloud is full":       {fake.WithTransition(fake.ServerBuild, fake.Transition{Fail: true})},
		"because of a hard anti-affinity": {fake.WithHosts(1)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestEnv(t, opts...)
			group := createResource(t, s.cloud, "os-server-groups", fake.Attrs{"name": "g", "policies": []string{"anti-affinity"}})
			s.server(t, "", group)
			vm := s.server(t, "", group)
			got, err := servers.Get(t.Context(), s.compute, vm.ID).Extract()
			require.NoError(t, err)
			require.Equal(t, "ERROR", got.Status)
			require.Equal(t, 500, got.Fault.Code)
			require.Equal(t, "No valid host was found. There are not enough hosts available.", got.Fault.Message)
		})
	}
}

func TestListServers_NameExpression(t *testing.T) {
	s := newTestEnv(t)
	for range 3 {
		s.server(t, "", "")
	}
	count := func(opts servers.ListOpts) int {
		pages, err := servers.List(s.compute, opts).AllPages(t.Context())
		require.NoError(t, err)
		all, err := servers.ExtractServers(pages)
		require.NoError(t, err)
		return len(all)
	}
	require.Equal(t, 3, count(servers.ListOpts{Name: "^vm$"}))
	require.Equal(t, 0, count(servers.ListOpts{Name: "^v$"}))
	require.Equal(t, 3, count(servers.ListOpts{Status: "ACTIVE", Limit: 1}))
	require.Equal(t, 0, count(servers.ListOpts{Status: "ERROR"}))
}

func TestServer_VolumesAndMetadata(t *testing.T) {
	s := newTestEnv(t)
	vm := s.server(t, "", "")
	volume := createResource(t, s.cloud, "volumes", fake.Attrs{"name": "v", "size": 1})
	attached, err := volumeattach.Create(t.Context(), s.compute, vm.ID, volumeattach.CreateOpts{VolumeID: volume}).Extract()
	require.NoError(t, err)
	require.Equal(t, "/dev/vdb", attached.Device)
	require.Equal(t, "in-use", s.cloud.State("garden").Volumes[0].Status)
	require.Equal(t, "400 badRequest", errorText(volumeattach.Create(t.Context(), s.compute, vm.ID, volumeattach.CreateOpts{VolumeID: volume}).Err))
	require.NoError(t, volumeattach.Delete(t.Context(), s.compute, vm.ID, volume).ExtractErr())
	require.Equal(t, "404 itemNotFound", errorText(volumeattach.Delete(t.Context(), s.compute, vm.ID, volume).ExtractErr()))

	got, err := servers.UpdateMetadata(t.Context(), s.compute, vm.ID, servers.MetadataOpts{"pool": "a"}).Extract()
	require.NoError(t, err)
	require.Equal(t, map[string]string{"role": "node", "pool": "a"}, got)
	require.NoError(t, servers.Stop(t.Context(), s.compute, vm.ID).ExtractErr())
	require.Equal(t, []string{"SHUTOFF"}, s.statuses(t, vm.ID, 1))
	require.Equal(t, "409 conflictingRequest", errorText(servers.Stop(t.Context(), s.compute, vm.ID).ExtractErr()))
	require.NoError(t, servers.Start(t.Context(), s.compute, vm.ID).ExtractErr())
}

func TestZonesAndImages(t *testing.T) {
	s := newTestEnv(t, fake.WithZones("north", "south"))
	pages, err := availabilityzones.List(s.compute).AllPages(t.Context())
	require.NoError(t, err)
	zones, err := availabilityzones.ExtractAvailabilityZones(pages)
	require.NoError(t, err)
	require.Len(t, zones, 2)
	require.Equal(t, "north", zones[0].ZoneName)

	image, err := images.Get(t.Context(), s.image, s.imageID(t, "gardenlinux-arm64")).Extract()
	require.NoError(t, err)
	require.Equal(t, "aarch64", image.Properties["architecture"])
	require.Equal(t, "404", errorText(images.Get(t.Context(), s.image, "nope").Err))
	pages, err = images.List(s.image, images.ListOpts{Limit: 1}).AllPages(t.Context())
	require.NoError(t, err)
	all, err := images.ExtractImages(pages)
	require.NoError(t, err)
	require.Len(t, all, 3, "page by page")
}
