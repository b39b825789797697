package fake_test

import (
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// bootServer makes a server that boots from a volume of 2 GiB and has a data disk.
func (s *testEnv) bootServer(t *testing.T, keepRoot bool) *servers.Server {
	t.Helper()
	made, err := servers.Create(t.Context(), s.compute, servers.CreateOpts{
		Name: "vm", FlavorRef: s.flavor(t, "m1.diskless"), Networks: []servers.Network{{UUID: s.networkID}},
		BlockDevice: []servers.BlockDevice{
			{
				SourceType: servers.SourceImage, DestinationType: servers.DestinationVolume, UUID: s.imageID(t, "gardenlinux"),
				VolumeSize: 2, DeleteOnTermination: !keepRoot,
			},
			{SourceType: servers.SourceBlank, DestinationType: servers.DestinationVolume, BootIndex: -1, VolumeSize: 1, DeleteOnTermination: true},
		},
	}, nil).Extract()
	require.NoError(t, err)
	return made
}

func TestDeleteServer_DeleteOnTermination(t *testing.T) {
	for name, test := range map[string]struct {
		keepRoot bool
		left     int
	}{"all": {false, 0}, "all but the root": {true, 1}} {
		t.Run(name, func(t *testing.T) {
			s := newTestEnv(t)
			made := s.bootServer(t, test.keepRoot)
			volumes := s.cloud.State("garden").Volumes
			require.Len(t, volumes, 2)
			require.Equal(t, []string{"in-use", "true"}, []string{volumes[0].Status, volumes[0].Bootable})
			require.Equal(t, []string{"in-use", "false"}, []string{volumes[1].Status, volumes[1].Bootable})
			require.NoError(t, servers.Delete(t.Context(), s.compute, made.ID).ExtractErr())
			left := s.cloud.State("garden").Volumes
			require.Len(t, left, test.left)
			for _, volume := range left {
				require.Equal(t, "available", volume.Status)
			}
		})
	}
}

func TestCreateServer_NoValidHostReleasesResources(t *testing.T) {
	s := newTestEnv(t, fake.WithTransition(fake.ServerBuild, fake.Transition{Polls: 1, Fail: true}))
	before := len(s.cloud.State("garden").Ports)
	made := s.bootServer(t, false)
	require.Equal(t, []string{"BUILD", "ERROR"}, s.statuses(t, made.ID, 2))
	require.Len(t, s.cloud.State("garden").Ports, before)
	require.Empty(t, s.cloud.State("garden").Volumes)
	require.NoError(t, servers.Delete(t.Context(), s.compute, made.ID).ExtractErr())
	require.Empty(t, s.cloud.State("garden").Servers)
}

func TestWithHosts_Zones(t *testing.T) {
	s := newTestEnv(t, fake.WithZones("north", "south"), fake.WithHosts(3))
	group := createResource(t, s.cloud, "os-server-groups", fake.Attrs{"name": "g", "policies": []string{"anti-affinity"}})
	var got []string
	for _, zone := range []string{"north", "north", "north", "south", "south"} {
		made, err := servers.Create(t.Context(), s.compute, servers.CreateOpts{
			Name: "vm", FlavorRef: s.flavor(t, "m1.tiny"), ImageRef: s.imageID(t, "tiny"), AvailabilityZone: zone,
			Networks: []servers.Network{{UUID: s.networkID}},
		}, servers.SchedulerHintOpts{Group: group}).Extract()
		require.NoError(t, err)
		got = append(got, s.statuses(t, made.ID, 1)...)
	}
	require.Equal(t, []string{"ACTIVE", "ACTIVE", "ERROR", "ACTIVE", "ERROR"}, got, "two hosts in the north, one in the south")
}
