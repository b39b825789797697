package openstack_test

import (
	"net/http"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func readFrom(t *testing.T, credentials auth.Credentials) *openstack.Reader {
	t.Helper()
	readers := openstack.NewReaders(openstack.Options{QPS: -1, Retry: transport.RetryPolicy{FirstPause: time.Millisecond}})
	reader, err := readers.Get(t.Context(), credentials, fake.DefaultRegion)
	require.NoError(t, err)
	return reader
}

func TestReader_OnlyReads(t *testing.T) {
	reads := regexp.MustCompile(`^(Get|List|Has)[A-Z]`)
	reader := reflect.TypeFor[*openstack.Reader]()
	require.Greater(t, reader.NumMethod(), 15)
	for method := range reader.Methods() {
		assert.Regexp(t, reads, method.Name, "a Reader changes nothing")
	}
	assert.Zero(t, exportedFields(reader.Elem()), "a Reader hands out no session")

	readers := reflect.TypeFor[*openstack.Readers]()
	var names []string
	for method := range readers.Methods() {
		names = append(names, method.Name)
	}
	assert.Equal(t, []string{"Account", "Get"}, names)
	assert.Zero(t, exportedFields(readers.Elem()))
}

func exportedFields(of reflect.Type) int {
	count := 0
	for field := range of.Fields() {
		if field.IsExported() {
			count++
		}
	}
	return count
}

// Each method of a Reader is called by reflection, so that a new one is called, too.
func TestReader_SendsReadsOnly(t *testing.T) {
	c := startCloud(t)
	reader := reflect.ValueOf(readFrom(t, memberOf(t, c)))
	c.ResetLog()
	for i := range reader.NumMethod() {
		method := reader.Method(i)
		var in []reflect.Value
		for parameter := range method.Type().Ins() {
			if parameter.Name() == "Context" {
				in = append(in, reflect.ValueOf(t.Context()))
				continue
			}
			in = append(in, reflect.Zero(parameter))
		}
		out := method.Call(in)
		if err, isError := reflect.TypeAssert[error](out[len(out)-1]); isError {
			require.NoError(t, err, reader.Type().Method(i).Name)
		}
	}
	assert.Empty(t, c.Log().Where(wire.Call.IsWrite))
	assert.NotEmpty(t, c.Log())
}

func TestReaders_Account(t *testing.T) {
	c := startCloud(t)
	readers := openstack.NewReaders(openstack.Options{})
	member := memberOf(t, c)
	another := member
	another.Username = "another"
	same := member
	assert.Equal(t, readers.Account(member, "one"), readers.Account(same, "one"))
	assert.NotEqual(t, readers.Account(member, "one"), readers.Account(member, "two"))
	assert.NotEqual(t, readers.Account(member, "one"), readers.Account(another, "one"))
	assert.Empty(t, c.Log(), "it takes no call")
}

func TestReader_GetCredentialExpiry(t *testing.T) {
	soon := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	c := startCloud(t)
	password := memberOf(t, c)
	application := auth.Credentials{
		AuthURL: c.AuthURL(), ApplicationCredentialSecret: fake.DefaultAppCredentialSecret,
		ApplicationCredentialID: c.AppCredentialID(fake.DefaultUser, fake.DefaultAppCredentialName),
	}
	expiry := func(credentials auth.Credentials) time.Time {
		at, err := readFrom(t, credentials).GetCredentialExpiry(t.Context())
		require.NoError(t, err)
		return at.UTC()
	}
	assert.Zero(t, expiry(password))
	assert.Zero(t, expiry(application))

	require.NoError(t, c.SetPasswordExpiry(fake.DefaultUser, soon))
	assert.Equal(t, soon, expiry(password))
	assert.Zero(t, expiry(application), "an application credential does not expire with the password")

	require.NoError(t, c.SetAppCredentialExpiry(fake.DefaultUser, fake.DefaultAppCredentialName, soon.Add(time.Hour)))
	assert.Equal(t, soon.Add(time.Hour), expiry(application))
	assert.Equal(t, soon, expiry(password))

	require.NoError(t, c.SetPasswordExpiry(fake.DefaultUser, time.Now().Add(-time.Second)))
	_, err := openstack.NewReaders(openstack.Options{}).Get(t.Context(), password, fake.DefaultRegion)
	assert.Equal(t, cloud.Unauthenticated, cloud.KindOf(err))

	c.Inject(wire.Fault{Match: wire.Match{Path: "/v3/users/{id}/application_credentials/{id}"}, Times: -1, Status: http.StatusForbidden})
	_, err = readFrom(t, application).GetCredentialExpiry(t.Context())
	assert.Equal(t, cloud.Unauthorized, cloud.KindOf(err))
}

func TestReader_Lists(t *testing.T) {
	const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMEm0k5b3DIXsOFsHqU4GyH7dnL5Yv4o2fJ6d1cF0mJX shoot"
	c := startCloud(t)
	s, ctx := logInto(t, c), t.Context()
	reader := readFrom(t, memberOf(t, c))
	found, err := reader.ListKeyPairs(ctx)
	require.NoError(t, err)
	assert.Empty(t, found)
	var created []openstack.KeyPair
	for _, name := range []string{"a", "b"} {
		one, err := s.CreateKeyPair(ctx, name, publicKey)
		require.NoError(t, err)
		created = append(created, one)
	}
	found, err = reader.ListKeyPairs(ctx)
	require.NoError(t, err)
	assert.Equal(t, created, found)

	require.NoError(t, c.SetQuota(fake.DefaultProject, "port", 7))
	ports, err := reader.GetNetworkQuota(ctx)
	require.NoError(t, err)
	assert.Equal(t, openstack.NetworkQuota{Ports: new(7)}, ports)

	require.NoError(t, c.SetQuota(fake.DefaultProject, "volumes", 3))
	volumes, err := reader.GetVolumeQuota(ctx)
	require.NoError(t, err)
	assert.Equal(t, openstack.VolumeQuota{Volumes: new(3), Gigabytes: new(fake.Unlimited)}, volumes)
	_, err = c.CreateResource(fake.DefaultProject, "volumes", fake.Attrs{"name": "disk", "size": 5})
	require.NoError(t, err)
	disks, err := reader.ListVolumes(ctx, openstack.VolumeFilter{})
	require.NoError(t, err)
	require.Len(t, disks, 1)
	assert.Equal(t, 5, disks[0].Size)

	flavors, err := reader.ListFlavors(ctx)
	require.NoError(t, err)
	network, err := s.CreateNetwork(ctx, openstack.NetworkCreate{Name: "nodes"})
	require.NoError(t, err)
	_, err = s.CreateSubnet(ctx, openstack.SubnetCreate{NetworkID: network.ID, CIDR: "10.250.0.0/24", IPVersion: 4})
	require.NoError(t, err)
	images, err := s.ListImages(ctx, openstack.ImageFilter{Name: "gardenlinux"})
	require.NoError(t, err)
	_, err = c.CreateResource(fake.DefaultProject, "servers", fake.Attrs{
		"name": "node", "flavorRef": flavors[2].ID, "imageRef": images[0].ID, "networks": []fake.Attrs{{"uuid": network.ID}},
	})
	require.NoError(t, err)
	servers, err := reader.ListServers(ctx, openstack.ServerFilter{})
	require.NoError(t, err)
	require.Len(t, servers, 1)
	assert.Equal(t, flavors[2].ID, servers[0].Flavor.ID)
	require.NoError(t, c.SetQuota(fake.DefaultProject, "instances", 2))
	limits, err := reader.GetComputeLimits(ctx)
	require.NoError(t, err)
	assert.Equal(t, new(2), limits.MaxInstances)
	assert.Equal(t, 1, limits.Instances)
}
