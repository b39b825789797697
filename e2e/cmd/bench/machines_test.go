package main

import (
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
		calls := append(wire.Calls{}, made...)
		for range times {
			calls = append(calls, call)
		}
		return calls
	}

	require.NoError(t, withinBudget(with(listServers, 99)))
	for sentence, test := range map[string]struct {
		calls    wire.Calls
		wantText string
	}{
		"a look-up too many":       {with(listServers, 100), "100 machines cost 301 calls, at most 3 for each are allowed"},
		"a login too many":         {with(login, 1), "100 machines cost 2 logins, at most 1 are allowed"},
		"a server that came twice": {with(wire.Call{Service: services.Nova, Method: "POST", Path: "/v2.1/servers"}, 1), "100 machines cost 101 times nova POST /v2.1/servers"},
		"nothing that was made":    {nil, "100 machines cost 0 times neutron POST /v2.0/ports"},
	} {
		t.Run(sentence, func(t *testing.T) { assert.ErrorContains(t, withinBudget(test.calls), test.wantText) })
	}
}
