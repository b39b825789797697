package fake_test

import (
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/limits"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servergroups"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// plain makes a server of 1 core and 512 MiB.
func (s *testEnv) plain(t *testing.T, more servers.CreateOpts, hints servers.SchedulerHintOptsBuilder) error {
	t.Helper()
	more.Name, more.FlavorRef, more.ImageRef = "vm", s.flavor(t, "m1.tiny"), s.imageID(t, "tiny")
	more.Networks = []servers.Network{{UUID: s.networkID}}
	return servers.Create(t.Context(), s.compute, more, hints).Err
}

func TestLimits(t *testing.T) {
	s := newTestEnv(t)
	absolute := func(c *client) limits.Absolute {
		t.Helper()
		got, err := limits.Get(t.Context(), c.compute, nil).Extract()
		require.NoError(t, err)
		return got.Absolute
	}
	require.Equal(t, limits.Absolute{
		MaxTotalInstances: fake.Unlimited, MaxTotalCores: fake.Unlimited, MaxTotalRAMSize: fake.Unlimited, MaxTotalKeypairs: fake.Unlimited,
		MaxServerGroups: fake.Unlimited, MaxServerGroupMembers: fake.Unlimited,
	}, absolute(s.client))
	for resource, limit := range map[string]int{"instances": 1, "cores": 2, "ram": 3, "key_pairs": 4, "server_groups": 5, "server_group_members": 6} {
		require.NoError(t, s.cloud.SetQuota("garden", resource, limit))
	}
	require.NoError(t, s.cloud.SetQuota("garden", "ram", 1024))
	require.NoError(t, s.plain(t, servers.CreateOpts{}, nil))
	createResource(t, s.cloud, "os-server-groups", fake.Attrs{"name": "g", "policies": []string{"affinity"}})
	require.Equal(t, limits.Absolute{
		MaxTotalInstances: 1, MaxTotalCores: 2, MaxTotalRAMSize: 1024, MaxTotalKeypairs: 4, MaxServerGroups: 5, MaxServerGroupMembers: 6,
		TotalInstancesUsed: 1, TotalCoresUsed: 1, TotalRAMUsed: 512, TotalServerGroupsUsed: 1,
	}, absolute(s.client))
	require.Zero(t, absolute(otherMember(t, s.cloud)).TotalInstancesUsed)
}

func TestCreateServer_ServerGroupQuota(t *testing.T) {
	s := newTestEnv(t)
	require.NoError(t, s.cloud.SetQuota("garden", "server_group_members", 1))
	group, err := servergroups.Create(t.Context(), s.compute, servergroups.CreateOpts{Name: "g", Policies: []string{"affinity"}}).Extract()
	require.NoError(t, err)
	hints := servers.SchedulerHintOpts{Group: group.ID}
	require.NoError(t, s.plain(t, servers.CreateOpts{}, hints))
	require.Equal(t, "403 forbidden", errorText(s.plain(t, servers.CreateOpts{}, hints)))
	require.NoError(t, s.plain(t, servers.CreateOpts{}, nil))
}

func TestCreateServer_BootDevice(t *testing.T) {
	s := newTestEnv(t)
	data := servers.BlockDevice{
		SourceType: servers.SourceBlank, DestinationType: servers.DestinationVolume, BootIndex: -1, VolumeSize: 1, DeleteOnTermination: true,
	}
	require.Equal(t, "400 badRequest", errorText(s.plain(t, servers.CreateOpts{BlockDevice: []servers.BlockDevice{data}}, nil)))
	local := servers.BlockDevice{
		SourceType: servers.SourceImage, DestinationType: servers.DestinationLocal, UUID: s.imageID(t, "tiny"), DeleteOnTermination: true,
	}
	require.NoError(t, s.plain(t, servers.CreateOpts{BlockDevice: []servers.BlockDevice{local, data}}, nil))
	require.Len(t, s.cloud.State("garden").Volumes, 1)
}

func TestListImages_FilterOperator(t *testing.T) {
	cloud := start(t)
	cloud.AddImage("linux:1.0", "x86_64")
	c := member(t, cloud)
	find := func(name string) (int, error) {
		pages, err := images.List(c.image, images.ListOpts{Name: name}).AllPages(t.Context())
		if err != nil {
			return 0, err
		}
		found, err := images.ExtractImages(pages)
		return len(found), err
	}
	_, err := find("linux:1.0")
	require.Equal(t, "400", errorText(err))
	for name, count := range map[string]int{"eq:linux:1.0": 1, `in:"linux:1.0",tiny`: 2, "eq:tiny": 1, "eq:1.0": 0} {
		found, err := find(name)
		require.NoError(t, err)
		require.Equal(t, count, found, name)
	}
}

func TestWithComputeMicroversion(t *testing.T) {
	cloud := start(t, fake.WithComputeMicroversion(63))
	c := member(t, cloud)
	create := func(version string, opts servergroups.CreateOpts) string {
		c.compute.Microversion = version
		return errorText(servergroups.Create(t.Context(), c.compute, opts).Err)
	}
	require.Empty(t, create("2.15", servergroups.CreateOpts{Name: "g", Policies: []string{"soft-affinity"}}))
	require.Equal(t, "406 computeFault", create("2.64", servergroups.CreateOpts{Name: "g", Policy: "soft-affinity"}))
}
