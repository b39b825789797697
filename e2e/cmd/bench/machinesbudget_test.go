package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestWithinBudget(t *testing.T) {
	login := wire.Call{Service: services.Keystone, Method: "POST", Path: "/v3/auth/tokens", Login: true}
	listServers := wire.Call{Service: services.Nova, Method: "GET", Path: "/v2.1/servers/detail"}
	made := wire.Calls{login}
	for range machines {
		made = append(made, wire.Call{Service: services.Neutron, Method: "POST", Path: "/v2.0/ports"},
			wire.Call{Service: services.Nova, Method: "POST", Path: "/v2.1/servers"})
	}
	with := func(call wire.Call, times int) wire.Calls {
		return slices.Concat(made, slices.Repeat(wire.Calls{call}, times))
	}

	require.NoError(t, withinBudget(with(listServers, 99)))
	deleted := slices.Concat(slices.Repeat(wire.Calls{{Service: services.Neutron, Method: "DELETE", Path: "/v2.0/ports/{id}"}}, machines),
		slices.Repeat(wire.Calls{{Service: services.Nova, Method: "DELETE", Path: "/v2.1/servers/{id}"}}, machines))
	require.NoError(t, withinBudget(deleted))
	for sentence, test := range map[string]struct {
		calls    wire.Calls
		wantText string
	}{
		"a look-up too many":       {with(listServers, 100), "100 machines cost 301 calls, at most 3 for each are allowed"},
		"a login too many":         {with(login, 1), "100 machines cost 2 logins, at most 1 are allowed"},
		"a server that came twice": {with(wire.Call{Service: services.Nova, Method: "POST", Path: "/v2.1/servers"}, 1), "100 machines cost 101 times nova POST /v2.1/servers"},
		"a port that is left":      {deleted[1:], "100 machines cost 99 times neutron DELETE /v2.0/ports/{id}"},
		"nothing that was made":    {nil, "100 machines cost 0 times neutron POST /v2.0/ports"},
	} {
		t.Run(sentence, func(t *testing.T) { assert.ErrorContains(t, withinBudget(test.calls), test.wantText) })
	}
}

func TestWithinManagedBudget(t *testing.T) {
	changes := func(ports, servers int, method, suffix string) wire.Calls {
		return slices.Concat(slices.Repeat(wire.Calls{{Service: services.Neutron, Method: method, Path: "/v2.0/ports" + suffix}}, ports),
			slices.Repeat(wire.Calls{{Service: services.Nova, Method: method, Path: "/v2.1/servers" + suffix}}, servers))
	}
	reads := func(number int) wire.Calls {
		return slices.Repeat(wire.Calls{{Service: services.Nova, Method: "GET", Path: "/v2.1/servers/detail"}}, number)
	}
	for sentence, test := range map[string]struct {
		created  wire.Calls
		objects  int
		wantText string // empty for none
	}{
		"as many as wanted":         {slices.Concat(changes(100, 100, "POST", ""), reads(100)), 100, ""},
		"more than wanted":          {slices.Concat(changes(109, 109, "POST", ""), reads(109)), 120, ""},
		"and some deleted":          {slices.Concat(changes(109, 109, "POST", ""), reads(109), changes(9, 9, "DELETE", "/{id}")), 109, ""},
		"a read too many":           {slices.Concat(changes(100, 100, "POST", ""), reads(101)), 100, "100 machines cost 301 calls, at most 3 for each are allowed"},
		"two ports for a server":    {changes(101, 100, "POST", ""), 101, "100 machines cost 101 times neutron POST /v2.0/ports"},
		"two servers for a Machine": {changes(101, 101, "POST", ""), 100, "101 servers were created for 100 Machines, at least 100 were wanted"},
		"nothing":                   {nil, 100, "0 servers were created for 100 Machines, at least 100 were wanted"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := withinManagedBudget(test.created, test.objects)
			if test.wantText == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.wantText)
			}
		})
	}
}
