package fake_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func createNetwork(t testing.TB, c *client, name string) error {
	t.Helper()
	return networks.Create(t.Context(), c.network, networks.CreateOpts{Name: name}).Err
}

func countNetworks(cloud *fake.Cloud) int { return len(cloud.State("garden").Networks) }

func TestInject_ServiceErrorFormat(t *testing.T) {
	for name, test := range map[string]struct {
		service wire.Service
		call    func(*testing.T, *client) error
		want    string
	}{
		"Neutron": {services.Neutron, func(t *testing.T, c *client) error { return createNetwork(t, c, "n") }, "503 HTTPServiceUnavailable"},
		"Nova":    {services.Nova, func(t *testing.T, c *client) error { return flavors.Get(t.Context(), c.compute, "f").Err }, "503 serviceUnavailable"},
		"Octavia": {services.Octavia, func(t *testing.T, c *client) error { return loadbalancers.Get(t.Context(), c.loadBalancer, "l").Err }, "503 Server"},
		"Glance":  {services.Glance, func(t *testing.T, c *client) error { return images.Get(t.Context(), c.image, "i").Err }, "503"},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := start(t)
			c := member(t, cloud)
			cloud.Inject(wire.Fault{Match: wire.Match{Service: test.service}, Status: 503})
			require.Equal(t, test.want, errorText(test.call(t, c)))
		})
	}
}

func TestInject_RetryAfter(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	cloud.Inject(wire.Fault{Match: wire.Match{Service: services.Neutron}, Status: 429, RetryAfter: 1500 * time.Millisecond})
	e, isResponse := errors.AsType[gophercloud.ErrUnexpectedResponseCode](createNetwork(t, c, "n"))
	require.True(t, isResponse)
	require.Equal(t, "2", e.ResponseHeader.Get("Retry-After"))
}

func TestInject_DroppedConnection(t *testing.T) {
	for name, test := range map[string]struct {
		drop   wire.Drop
		effect int
	}{
		"before the effect": {wire.DropBefore, 0},
		"after the effect":  {wire.DropAfter, 1},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := start(t)
			c := member(t, cloud)
			cloud.Inject(wire.Fault{Match: wire.Match{WritesOnly: true, Service: services.Neutron}, Drop: test.drop})
			require.Contains(t, errorText(createNetwork(t, c, "n")), "no response")
			require.Equal(t, test.effect, countNetworks(cloud))

			cloud.ResetLog()
			cloud.Inject(wire.Fault{Match: wire.Match{Method: http.MethodGet}, Drop: test.drop})
			_, err := networks.List(c.network, nil).AllPages(t.Context())
			require.Contains(t, errorText(err), "no response")
			require.Len(t, cloud.Log(), 1, "Go's transport must not have tried again behind our back")
		})
	}
}

func TestSetHook(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	var seen []string
	cut := wire.Phase("")
	cloud.SetHook(func(e wire.Event) wire.HookResult {
		seen = append(seen, string(e.Phase))
		require.Equal(t, "neutron POST /v2.0/networks", e.Call.Name())
		if e.Phase == wire.After {
			require.Equal(t, http.StatusCreated, e.Call.Status)
			require.NotZero(t, countNetworks(cloud), "the hook may look at the cloud")
		}
		if e.Phase == cut {
			return wire.DropConnection
		}
		return wire.Proceed
	})
	require.NoError(t, createNetwork(t, c, "kept"))
	cut = wire.Before
	require.Error(t, createNetwork(t, c, "never made"))
	cut = wire.After
	require.Error(t, createNetwork(t, c, "made, but not heard of"))
	require.Equal(t, []string{"before", "after", "before", "before", "after"}, seen)
	require.Equal(t, 2, countNetworks(cloud))
	cloud.SetHook(nil)
	require.NoError(t, createNetwork(t, c, "unasked"))
}

func TestWaitIdle_ClientKilled(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	entered, release := make(chan struct{}), make(chan struct{})
	cloud.SetHook(func(e wire.Event) wire.HookResult {
		if e.Phase == wire.Before {
			close(entered)
			<-release
		}
		return wire.Proceed
	})
	ctx, kill := context.WithCancel(t.Context())
	dead := make(chan error)
	go func() { dead <- networks.Create(ctx, c.network, networks.CreateOpts{Name: "orphan"}).Err }()
	<-entered
	kill()
	require.ErrorIs(t, <-dead, context.Canceled)
	require.Zero(t, countNetworks(cloud))
	close(release)
	require.NoError(t, cloud.WaitIdle(t.Context()))
	require.Equal(t, 1, countNetworks(cloud))
}
