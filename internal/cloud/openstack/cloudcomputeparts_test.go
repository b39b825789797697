package openstack_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
)

func TestSession_CreateServer_OldMicroversion(t *testing.T) {
	env := newComputeEnv(t, fake.WithComputeMicroversion(53)) // Pike
	made, err := env.server(t, openstack.ServerCreate{BootVolume: &openstack.ServerVolume{SizeGB: 20}})
	require.NoError(t, err)
	got, err := env.session.GetServer(t.Context(), made.ID)
	require.NoError(t, err)
	assert.Equal(t, openstack.ServerActive, got.Status)
	_, err = env.session.CreateServerGroup(t.Context(), "pool", "soft-affinity")
	require.NoError(t, err)
	_, err = env.server(t, openstack.ServerCreate{BootVolume: &openstack.ServerVolume{SizeGB: 20, Type: "__DEFAULT__"}})
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	assert.ErrorContains(t, err, "leave out the type")
}

func TestSession_CreateServer_MissingReference(t *testing.T) {
	env := newComputeEnv(t)
	missing := "11111111-2222-4333-8444-555555555555"
	for name, more := range map[string]openstack.ServerCreate{
		"the port":                    {PortIDs: []string{missing}},
		"the zone":                    {AvailabilityZone: "mars"},
		"the key":                     {KeyName: "none"},
		"the group":                   {ServerGroupID: missing},
		"the type of its boot volume": {BootVolume: &openstack.ServerVolume{SizeGB: 20, Type: "none"}},
		"the type of a data volume":   {DataVolumes: []openstack.ServerVolume{{SizeGB: 20, Type: "none"}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := env.server(t, more)
			assert.Equal(t, cloud.Unknown, cloud.KindOf(err))
		})
	}
	assert.Empty(t, env.State(fake.DefaultProject).Servers)
}

func TestSession_CreateServer_VolumeTypes(t *testing.T) {
	env := newComputeEnv(t)
	fast := env.AddVolumeType("fast")
	assert.Equal(t, fast, env.AddVolumeType("fast"), "it is there already")
	_, err := env.server(t, openstack.ServerCreate{
		BootVolume: &openstack.ServerVolume{SizeGB: 20, Type: "fast"}, DataVolumes: []openstack.ServerVolume{{SizeGB: 5, Type: fast}, {SizeGB: 6}},
	})
	require.NoError(t, err)
	var types []string
	for _, volume := range env.State(fake.DefaultProject).Volumes {
		types = append(types, volume.VolumeType)
	}
	assert.Equal(t, []string{"fast", "fast", "__DEFAULT__"}, types)
}

func TestSession_CreateServer_VolumeQuotaExceeded(t *testing.T) {
	for name, limit := range map[string]struct {
		resource string
		limit    int
	}{"their number": {"volumes", 1}, "their size": {"gigabytes", 24}} {
		t.Run(name, func(t *testing.T) {
			env := newComputeEnv(t)
			require.NoError(t, env.SetQuota(fake.DefaultProject, limit.resource, limit.limit))
			made, err := env.server(t, openstack.ServerCreate{
				BootVolume: &openstack.ServerVolume{SizeGB: 20}, DataVolumes: []openstack.ServerVolume{{SizeGB: 5}},
			})
			require.NoError(t, err, "Nova asks Cinder only when it builds the server")
			got, err := env.session.GetServer(t.Context(), made.ID)
			require.NoError(t, err)
			assert.Equal(t, openstack.ServerError, got.Status)
			assert.Empty(t, got.HostID)
			assert.Contains(t, got.Fault.Message, "exceed")
			assert.Empty(t, env.State(fake.DefaultProject).Volumes)
		})
	}
}

func TestSession_ListServerGroups_SameName(t *testing.T) {
	env := newComputeEnv(t)
	s, ctx := env.session, t.Context()
	groups, err := s.ListServerGroups(ctx)
	require.NoError(t, err)
	assert.Empty(t, groups)
	var made []openstack.ServerGroup
	for _, policy := range []string{"affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"} {
		group, err := s.CreateServerGroup(ctx, "pool", policy)
		require.NoError(t, err)
		assert.Equal(t, policy, group.Policy)
		made = append(made, group)
	}
	groups, err = s.ListServerGroups(ctx)
	require.NoError(t, err)
	assert.ElementsMatch(t, made, groups)
	_, err = s.CreateServerGroup(ctx, "pool", "spread")
	assert.Equal(t, cloud.Unknown, cloud.KindOf(err))
}

func TestSession_ListFlavorsImagesVolumes(t *testing.T) {
	env := newComputeEnv(t)
	s, ctx := env.session, t.Context()
	flavors, err := s.ListFlavors(ctx)
	require.NoError(t, err)
	assert.Contains(t, flavors, env.flavor)
	env.AddImage("linux: 1.0", "x86_64")
	images, err := s.ListImages(ctx, openstack.ImageFilter{Name: "Linux: 1.0"})
	require.NoError(t, err)
	assert.Equal(t, []openstack.Image{{ID: env.imageID, Name: "Linux: 1.0", Status: openstack.ImageActive}}, images)
	for i := range 60 { // Glance's pages have 25
		env.AddImage(fmt.Sprintf("image-%d", i), "x86_64")
	}
	images, err = s.ListImages(ctx, openstack.ImageFilter{})
	require.NoError(t, err)
	assert.Greater(t, len(images), 60)

	assert.True(t, s.HasVolumes())
	id, err := env.CreateResource(fake.DefaultProject, "volumes", fake.Attrs{"name": "machine-root", "size": 1, "metadata": fake.Attrs{"a": "b"}})
	require.NoError(t, err)
	_, err = env.CreateResource(fake.DefaultProject, "volumes", fake.Attrs{"name": "MACHINE-root", "size": 1})
	require.NoError(t, err)
	volumes, err := s.ListVolumes(ctx, openstack.VolumeFilter{Name: "machine-root"})
	require.NoError(t, err)
	require.Len(t, volumes, 1)
	assert.WithinDuration(t, time.Now(), volumes[0].CreatedAt.Time, time.Minute)
	volumes[0].CreatedAt = openstack.Time{}
	assert.Equal(t, []openstack.Volume{{ID: id, Name: "machine-root", Status: "available", Size: 1, Metadata: map[string]string{"a": "b"}}}, volumes)
	require.NoError(t, s.DeleteVolume(ctx, id))
	assert.True(t, cloud.IsNotFound(s.DeleteVolume(ctx, id)))
}

func TestSession_DeleteVolume_Attached(t *testing.T) {
	env := newComputeEnv(t)
	made, err := env.server(t, openstack.ServerCreate{BootVolume: &openstack.ServerVolume{SizeGB: 20}})
	require.NoError(t, err)
	got, err := env.session.GetServer(t.Context(), made.ID)
	require.NoError(t, err)
	require.Len(t, got.Volumes, 1)
	assert.Equal(t, cloud.Unknown, cloud.KindOf(env.session.DeleteVolume(t.Context(), got.Volumes[0].ID)))
}

func TestSession_WithoutCinderAndGlance(t *testing.T) {
	s := logInto(t, startCloud(t, fake.WithoutServices(services.Cinder, services.Glance)))
	assert.False(t, s.HasVolumes())
	_, err := s.ListVolumes(t.Context(), openstack.VolumeFilter{})
	assert.True(t, openstack.IsServiceMissing(err))
	_, err = s.ListImages(t.Context(), openstack.ImageFilter{})
	assert.True(t, openstack.IsServiceMissing(err))
}
