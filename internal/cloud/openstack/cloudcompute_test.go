package openstack_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// The tests in this file create servers in a stateful fake.

// computeEnv is a cloud with the dependencies of servers.
type computeEnv struct {
	*fake.Cloud
	session                    *openstack.Session
	flavor                     openstack.Flavor
	imageID, networkID, subnet string
}

func newComputeEnv(t *testing.T, options ...fake.Option) *computeEnv {
	t.Helper()
	c := startCloud(t, options...)
	return newComputeEnvFor(t, c, logInto(t, c))
}

func newComputeEnvFor(t *testing.T, c *fake.Cloud, session *openstack.Session) *computeEnv {
	t.Helper()
	env, ctx := &computeEnv{Cloud: c, session: session}, t.Context()
	env.flavor = openstack.Flavor{Name: "conformance", VCPUs: 4, RAM: 2048, Disk: 10}
	env.flavor.ID = c.AddFlavor(fake.Flavor{Name: env.flavor.Name, VCPUs: env.flavor.VCPUs, RAM: env.flavor.RAM, Disk: env.flavor.Disk})
	env.imageID = c.AddImage("Linux: 1.0", "x86_64")
	network, err := env.session.CreateNetwork(ctx, openstack.NetworkCreate{Name: "shoot"})
	require.NoError(t, err)
	subnet, err := env.session.CreateSubnet(ctx, openstack.SubnetCreate{NetworkID: network.ID, CIDR: "10.250.0.0/16", IPVersion: 4})
	require.NoError(t, err)
	env.networkID, env.subnet = network.ID, subnet.ID
	return env
}

func (env *computeEnv) port(t *testing.T) openstack.Port {
	t.Helper()
	port, err := env.session.CreatePort(t.Context(), openstack.PortCreate{
		NetworkID: env.networkID, Name: "machine", Description: "mine", SubnetIDs: []string{env.subnet}, AllowedAddresses: []string{"10.96.0.0/11"},
	})
	require.NoError(t, err)
	return port
}

// server creates a server in the network.
func (env *computeEnv) server(t *testing.T, more openstack.ServerCreate) (openstack.Server, error) {
	t.Helper()
	more.FlavorID, more.ImageID = env.flavor.ID, env.imageID
	if more.Name == "" {
		more.Name = "machine"
	}
	if more.PortIDs == nil {
		more.NetworkIDs = []string{env.networkID}
	}
	return env.session.CreateServer(t.Context(), more)
}

// groupWithOneServer returns a server group with a member, and creates it at the first call.
func (env *computeEnv) groupWithOneServer(t *testing.T) string {
	t.Helper()
	groups, err := env.session.ListServerGroups(t.Context())
	require.NoError(t, err)
	if len(groups) > 0 {
		return groups[0].ID
	}
	group, err := env.session.CreateServerGroup(t.Context(), "pool", "affinity")
	require.NoError(t, err)
	_, err = env.server(t, openstack.ServerCreate{ServerGroupID: group.ID})
	require.NoError(t, err)
	return group.ID
}

func namesOf(servers []openstack.Server) []string {
	names := []string{}
	for _, s := range servers {
		names = append(names, s.Name)
	}
	return names
}

func TestSession_CreateServer_WithVolumes(t *testing.T) {
	env := newComputeEnv(t)
	s, ctx := env.session, t.Context()
	env.ResetLog()
	port := env.port(t)
	assert.Equal(t, []string{"machine", "mine", env.networkID}, []string{port.Name, port.Description, port.NetworkID})
	require.Len(t, port.FixedIPs, 1)
	group, err := s.CreateServerGroup(ctx, "pool", "soft-anti-affinity")
	require.NoError(t, err)
	assert.Equal(t, openstack.ServerGroup{ID: group.ID, Name: "pool", Policy: "soft-anti-affinity", Members: []string{}}, group)

	made, err := env.server(t, openstack.ServerCreate{
		PortIDs: []string{port.ID}, ServerGroupID: group.ID, AvailabilityZone: "zone-b", Metadata: map[string]string{"kubernetes.io-cluster-shoot": "1"},
		UserData: []byte("#!/bin/sh\n"), BootVolume: &openstack.ServerVolume{SizeGB: 20, Type: "__DEFAULT__"}, DataVolumes: []openstack.ServerVolume{{SizeGB: 5}, {SizeGB: 6}},
	})
	require.NoError(t, err)
	got, err := s.GetServer(ctx, made.ID)
	require.NoError(t, err)
	require.Len(t, got.Volumes, 3)
	for _, v := range got.Volumes {
		assert.True(t, v.DeleteOnTermination)
	}
	assert.NotEmpty(t, got.HostID)
	assert.Equal(t, openstack.Server{
		ID: made.ID, Name: "machine", Status: openstack.ServerActive, HostID: got.HostID, AvailabilityZone: "zone-b",
		Metadata: map[string]string{"kubernetes.io-cluster-shoot": "1"}, Volumes: got.Volumes, Flavor: openstack.ServerFlavor{ID: env.flavor.ID},
		Addresses: map[string][]openstack.ServerAddress{"shoot": {{Address: port.FixedIPs[0].IPAddress, Type: "fixed"}}},
	}, got)
	listed, err := s.ListServers(ctx, openstack.ServerFilter{Name: "machine"})
	require.NoError(t, err)
	assert.Equal(t, []openstack.Server{got}, listed)
	assert.Equal(t, "IyEvYmluL3NoCg==", env.State(fake.DefaultProject).Servers[0].UserData)
	group, err = s.GetServerGroup(ctx, group.ID)
	require.NoError(t, err)
	assert.Equal(t, []string{made.ID}, group.Members)
	volumes, err := s.ListVolumes(ctx, openstack.VolumeFilter{})
	require.NoError(t, err)
	assert.Len(t, volumes, 3)

	require.NoError(t, s.DeleteServer(ctx, made.ID))
	assert.True(t, cloud.IsNotFound(s.DeleteServer(ctx, made.ID)))
	_, err = s.GetServer(ctx, made.ID)
	assert.True(t, cloud.IsNotFound(err))
	volumes, err = s.ListVolumes(ctx, openstack.VolumeFilter{})
	require.NoError(t, err)
	assert.Empty(t, volumes)
	port, err = s.GetPort(ctx, port.ID)
	require.NoError(t, err, "a port that Nova did not make stays")
	assert.Empty(t, port.DeviceID)
	require.NoError(t, s.DeleteServerGroup(ctx, group.ID))
	assert.True(t, cloud.IsNotFound(s.DeleteServerGroup(ctx, group.ID)))
	_, err = s.GetServerGroup(ctx, group.ID)
	assert.True(t, cloud.IsNotFound(err))
	assert.Len(t, env.Log(), 15, "what was asked for, nothing else:\n%s", env.Log())
}

func TestSession_CreateServer_LocalDiskAndDataVolumes(t *testing.T) {
	env := newComputeEnv(t)
	made, err := env.server(t, openstack.ServerCreate{DataVolumes: []openstack.ServerVolume{{SizeGB: 5}}})
	require.NoError(t, err)
	got, err := env.session.GetServer(t.Context(), made.ID)
	require.NoError(t, err)
	assert.Equal(t, openstack.ServerActive, got.Status)
	assert.Len(t, got.Volumes, 1)
}

func TestSession_ListServers_ExactName(t *testing.T) {
	env := newComputeEnv(t)
	for _, name := range []string{"a.b", "axb", "A.B", "a.b-c", "z-a.b", "a|b", "a"} {
		_, err := env.server(t, openstack.ServerCreate{Name: name, Metadata: map[string]string{"name": name, "all": "1"}})
		require.NoError(t, err)
	}
	for name, tc := range map[string]struct {
		filter openstack.ServerFilter
		want   []string
	}{
		"a dot is a dot, and capitals count":           {openstack.ServerFilter{Name: "a.b"}, []string{"a.b"}},
		"a capital name is another":                    {openstack.ServerFilter{Name: "A.B"}, []string{"A.B"}},
		"a bar is a bar":                               {openstack.ServerFilter{Name: "a|b"}, []string{"a|b"}},
		"a name that others begin with":                {openstack.ServerFilter{Name: "a"}, []string{"a"}},
		"no name of any":                               {openstack.ServerFilter{Name: "b"}, []string{}},
		"a beginning":                                  {openstack.ServerFilter{NamePrefix: "a.b"}, []string{"a.b", "a.b-c"}},
		"a beginning that is the whole":                {openstack.ServerFilter{NamePrefix: "z-a.b"}, []string{"z-a.b"}},
		"a name and a beginning that do not fit":       {openstack.ServerFilter{Name: "a.b", NamePrefix: "z"}, []string{}},
		"metadata":                                     {openstack.ServerFilter{Metadata: map[string]string{"name": "axb"}}, []string{"axb"}},
		"metadata of several, one of them another's":   {openstack.ServerFilter{Metadata: map[string]string{"all": "1", "name": "b"}}, []string{}},
		"metadata that is empty is not one that isn't": {openstack.ServerFilter{Metadata: map[string]string{"none": ""}}, []string{}},
		"everything":                                   {openstack.ServerFilter{}, []string{"a.b", "axb", "A.B", "a.b-c", "z-a.b", "a|b", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := env.session.ListServers(t.Context(), tc.filter)
			require.NoError(t, err)
			assert.ElementsMatch(t, tc.want, namesOf(found))
		})
	}
}

func TestSession_ListServers_SeveralPages(t *testing.T) {
	env := newComputeEnv(t)
	const many = 223 // a page has 110
	for i := range many {
		_, err := env.CreateResource(fake.DefaultProject, "servers", fake.Attrs{
			"name": fmt.Sprintf("machine-%d", i), "flavorRef": env.flavor.ID, "imageRef": env.imageID, "networks": []fake.Attrs{},
		})
		require.NoError(t, err)
	}
	env.ResetLog()
	found, err := env.session.ListServers(t.Context(), openstack.ServerFilter{NamePrefix: "machine-"})
	require.NoError(t, err)
	assert.Len(t, found, many)
	assert.Len(t, env.Log(), 3)
}

func TestSession_GetServer_NoValidHost(t *testing.T) {
	env := newComputeEnv(t, fake.WithTransition(fake.ServerBuild, fake.Transition{Polls: 1, Fail: true}))
	made, err := env.server(t, openstack.ServerCreate{})
	require.NoError(t, err)
	got, err := env.session.GetServer(t.Context(), made.ID)
	require.NoError(t, err)
	assert.Equal(t, []string{openstack.ServerBuild, "scheduling"}, []string{got.Status, got.TaskState})
	got, err = env.session.GetServer(t.Context(), made.ID)
	require.NoError(t, err)
	assert.Equal(t, openstack.ServerError, got.Status)
	require.NotNil(t, got.Fault)
	assert.Equal(t, 500, got.Fault.Code)
	assert.Contains(t, got.Fault.Message, "No valid host")
	listed, err := env.session.ListServers(t.Context(), openstack.ServerFilter{Name: "machine"})
	require.NoError(t, err)
	require.Len(t, listed, 1)
	assert.Nil(t, listed[0].Fault)
}

func TestSession_CreateServer_QuotaExceeded(t *testing.T) {
	type attempt func(*testing.T, *computeEnv) error
	server := func(more openstack.ServerCreate) attempt {
		return func(t *testing.T, env *computeEnv) error {
			_, err := env.server(t, more)
			return err
		}
	}
	for name, tc := range map[string]struct {
		resource string
		limit    int
		do       attempt
		wantText string
	}{
		"instances":    {"instances", 1, server(openstack.ServerCreate{}), "instances (1 of 1"},
		"cores":        {"cores", 7, server(openstack.ServerCreate{}), "cores (4 of 7"},
		"RAM":          {"ram", 4095, server(openstack.ServerCreate{}), "RAM (2048 of 4095"},
		"Nova's ports": {"port", 1, server(openstack.ServerCreate{}), "ports (1 of 1"},
		"our ports": {"port", 1, func(t *testing.T, env *computeEnv) error {
			_, err := env.session.CreatePort(t.Context(), openstack.PortCreate{NetworkID: env.networkID})
			return err
		}, "OverQuota"},
		"server groups": {"server_groups", 0, func(t *testing.T, env *computeEnv) error {
			_, err := env.session.CreateServerGroup(t.Context(), "pool", "affinity")
			return err
		}, "server groups (0 of 0"},
		"members of a server group": {"server_group_members", 1, func(t *testing.T, env *computeEnv) error {
			_, err := env.server(t, openstack.ServerCreate{ServerGroupID: env.groupWithOneServer(t)})
			return err
		}, "members of a server group (1 of 1"},
	} {
		t.Run(name, func(t *testing.T) {
			env := newComputeEnv(t)
			_, err := env.server(t, openstack.ServerCreate{})
			require.NoError(t, err)
			require.NoError(t, env.SetQuota(fake.DefaultProject, tc.resource, tc.limit))
			err = tc.do(t, env)
			assert.Equal(t, cloud.QuotaExceeded, cloud.KindOf(err))
			assert.ErrorContains(t, err, tc.wantText)
			require.NoError(t, env.SetQuota(fake.DefaultProject, tc.resource, 100000))
			env.Inject(wire.Fault{Match: wire.Match{Method: "POST", WritesOnly: true}, Status: 403})
			assert.Equal(t, cloud.Unauthorized, cloud.KindOf(tc.do(t, env)))
		})
	}
}

func TestSession_ListServers_Administrator(t *testing.T) {
	c := startCloud(t)
	credentials := memberOf(t, c)
	credentials.Username, credentials.Password, credentials.TenantName = fake.AdminUser, fake.AdminPassword, fake.AdminProject
	session, err := openstack.NewSessions(openstack.Options{QPS: -1}).Get(t.Context(), credentials, fake.DefaultRegion)
	require.NoError(t, err)
	env := newComputeEnvFor(t, c, session)
	const count = 450 // whose user data would exceed the limit of a page
	for i := range count {
		_, err := env.server(t, openstack.ServerCreate{Name: fmt.Sprintf("machine-%d", i), UserData: bytes.Repeat([]byte("x"), 15<<10)})
		require.NoError(t, err)
	}
	env.ResetLog()
	found, err := session.ListServers(t.Context(), openstack.ServerFilter{NamePrefix: "machine-"})
	require.NoError(t, err)
	assert.Len(t, found, count)
	assert.Equal(t, 5, env.Log().Count()["nova GET /v2.1/servers/detail"])
}
