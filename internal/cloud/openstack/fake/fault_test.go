package fake_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

func createNetwork(t testing.TB, c *client, name string) error {
	t.Helper()
	return networks.Create(t.Context(), c.network, networks.CreateOpts{Name: name}).Err
}

func countNetworks(cloud *fake.Cloud) int { return len(cloud.State("garden").Networks) }

func TestFaultsStrikeTheCallsTheyMatch(t *testing.T) {
	posts := wire.Match{Service: wire.Neutron, Method: http.MethodPost, Path: "/v2.0/networks"}
	for sentence, test := range map[string]struct {
		fault  wire.Fault
		want   []string // of four creates
		effect int      // networks that exist then
	}{
		"once unless told otherwise": {wire.Fault{Match: posts, Status: 503}, []string{"503 HTTPServiceUnavailable", "", "", ""}, 3},
		"the third":                  {wire.Fault{Match: posts, Skip: 2, Status: 500}, []string{"", "", "500 HTTPInternalServerError", ""}, 3},
		"two of them":                {wire.Fault{Match: posts, Skip: 1, Times: 2, Status: 409, Type: "OverQuota"}, []string{"", "409 OverQuota", "409 OverQuota", ""}, 2},
		"all of them":                {wire.Fault{Match: posts, Times: -1, Status: 403}, []string{"403 HTTPForbidden", "403 HTTPForbidden", "403 HTTPForbidden", "403 HTTPForbidden"}, 0},
		"by a pattern":               {wire.Fault{Match: wire.Match{Path: "/v2.0/*"}, Status: 503}, []string{"503 HTTPServiceUnavailable", "", "", ""}, 3},
		"after their effect":         {wire.Fault{Match: posts, Status: 504, AfterEffect: true}, []string{"504 HTTPClientError", "", "", ""}, 4},
		"not others":                 {wire.Fault{Match: wire.Match{Service: wire.Nova}, Times: -1, Status: 503}, []string{"", "", "", ""}, 4},
		"not reads":                  {wire.Fault{Match: wire.Match{Method: http.MethodGet}, Times: -1, Status: 503}, []string{"", "", "", ""}, 4},
	} {
		t.Run(sentence, func(t *testing.T) {
			cloud := start(t)
			c := member(t, cloud)
			struck := cloud.Inject(test.fault)
			var got []string
			failed := 0
			for range 4 {
				got = append(got, problem(createNetwork(t, c, "n")))
				if got[len(got)-1] != "" {
					failed++
				}
			}
			require.Equal(t, test.want, got)
			require.Equal(t, test.effect, countNetworks(cloud))
			require.Equal(t, failed, struck())
			cloud.ClearFaults()
			require.NoError(t, createNetwork(t, c, "n"))
		})
	}
}

func TestEveryServiceFailsInItsOwnWords(t *testing.T) {
	for sentence, test := range map[string]struct {
		service wire.Service
		call    func(*testing.T, *client) error
		want    string
	}{
		"Neutron": {wire.Neutron, func(t *testing.T, c *client) error { return createNetwork(t, c, "n") }, "503 HTTPServiceUnavailable"},
		"Nova":    {wire.Nova, func(t *testing.T, c *client) error { return flavors.Get(t.Context(), c.compute, "f").Err }, "503 serviceUnavailable"},
		"Octavia": {wire.Octavia, func(t *testing.T, c *client) error { return loadbalancers.Get(t.Context(), c.loadBalancer, "l").Err }, "503 Server"},
		"Glance":  {wire.Glance, func(t *testing.T, c *client) error { return images.Get(t.Context(), c.image, "i").Err }, "503 not JSON"},
	} {
		t.Run(sentence, func(t *testing.T) {
			cloud := start(t)
			c := member(t, cloud)
			cloud.Inject(wire.Fault{Match: wire.Match{Service: test.service}, Status: 503})
			require.Equal(t, test.want, problem(test.call(t, c)))
		})
	}
}

func TestTooManyRequestsSayWhenToComeBack(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	cloud.Inject(wire.Fault{Match: wire.Match{Service: wire.Neutron}, Status: 429, RetryAfter: 1500 * time.Millisecond})
	e, isResponse := errors.AsType[gophercloud.ErrUnexpectedResponseCode](createNetwork(t, c, "n"))
	require.True(t, isResponse)
	require.Equal(t, "2", e.ResponseHeader.Get("Retry-After"))
}

func TestALostConnectionIsNeverRepeatedBySomeoneElse(t *testing.T) {
	for sentence, test := range map[string]struct {
		drop   wire.Drop
		effect int
	}{
		"before the effect": {wire.DropBefore, 0},
		"after the effect":  {wire.DropAfter, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			cloud := start(t)
			c := member(t, cloud)
			cloud.Inject(wire.Fault{Match: wire.Match{WritesOnly: true, Service: wire.Neutron}, Drop: test.drop})
			require.Contains(t, problem(createNetwork(t, c, "n")), "no response")
			require.Equal(t, test.effect, countNetworks(cloud))

			cloud.ResetLog()
			cloud.Inject(wire.Fault{Match: wire.Match{Method: http.MethodGet}, Drop: test.drop})
			_, err := networks.List(c.network, nil).AllPages(t.Context())
			require.Contains(t, problem(err), "no response")
			require.Len(t, cloud.Log(), 1, "Go's transport must not have tried again behind our back")
		})
	}
}

func TestAHookIsAskedBeforeAndAfterEachEffect(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	var seen []string
	cut := wire.Phase("")
	cloud.SetHook(func(e wire.Event) wire.Verdict {
		seen = append(seen, string(e.Phase))
		require.Equal(t, "neutron POST /v2.0/networks", e.Call.Name())
		if e.Phase == wire.After {
			require.Equal(t, http.StatusCreated, e.Call.Status)
			require.NotZero(t, countNetworks(cloud), "the hook may look at the cloud")
		}
		if e.Phase == cut {
			return wire.Cut
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

func TestTheLogKnowsOrderStatusAndConcurrency(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	cloud.ResetLog()
	const callers = 5
	arrived, release := make(chan struct{}, callers), make(chan struct{})
	cloud.SetHook(func(e wire.Event) wire.Verdict {
		if e.Phase == wire.Before {
			arrived <- struct{}{}
			<-release
		}
		return wire.Proceed
	})
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() { _ = networks.Get(t.Context(), c.network, "nope").Err })
	}
	for range callers {
		<-arrived
	}
	close(release)
	wg.Wait()
	require.NoError(t, cloud.WaitIdle(t.Context()))
	log := cloud.Log()
	require.Equal(t, map[string]int{"neutron GET /v2.0/networks/{id}": callers}, log.Count())
	require.Equal(t, callers, log.MaxInFlight())
	for i, call := range log {
		require.Equal(t, i+1, call.Seq)
		require.Equal(t, http.StatusNotFound, call.Status)
	}
	require.Contains(t, log.String(), "   5  neutron GET /v2.0/networks/{id} 404\n")
	require.Equal(t, "   5  neutron GET /v2.0/networks/{id}\n", log.Summary())
}

func TestWhatAKilledClientSentTakesEffect(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	entered, release := make(chan struct{}), make(chan struct{})
	cloud.SetHook(func(e wire.Event) wire.Verdict {
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

func TestLatencyCanBeTurned(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	cloud.SetLatency(30 * time.Millisecond)
	cloud.Inject(wire.Fault{Match: wire.Match{Service: wire.Neutron}, Delay: 30 * time.Millisecond})
	begin := time.Now()
	require.NoError(t, createNetwork(t, c, "slow"))
	require.GreaterOrEqual(t, time.Since(begin), 60*time.Millisecond)
}
