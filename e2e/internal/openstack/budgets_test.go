package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestOverBudget(t *testing.T) {
	call := func(client, method, path string, times int) wire.Calls {
		var calls wire.Calls
		for range times {
			calls = append(calls, wire.Call{Client: client, Service: services.Nova, Method: method, Path: path})
		}
		return calls
	}
	login := wire.Call{Client: "10.0.0.1", Service: services.Keystone, Method: "POST", Path: "/v3/auth/tokens", Login: true}
	programOf := func(client string) string {
		return map[string]string{"10.0.0.1": InfrastructureController, "10.0.0.2": MachineController}[client]
	}
	work := Work{Created: 1, MachinesCreated: 1, Accounts: 1}
	within := append(call("10.0.0.1", "GET", "/", 14), login)
	within = append(within, call("10.0.0.2", "POST", "/v2.1/servers", 1)...)
	within = append(within, call("10.0.0.9", "GET", "/", 100)...)

	sorted := ByProgram(within, programOf)
	assert.Empty(t, OverBudget(sorted, work))
	assert.Equal(t, map[string]int{InfrastructureController: 15, MachineController: 1, "others": 100}, CountByProgram(sorted))

	wrong := OverBudget(ByProgram(append(within, append(call("10.0.0.1", "GET", "/", 1), login)...), programOf), work)
	require.Len(t, wrong, 2)
	assert.Equal(t, "gardener-extension-infrastructure logged in 2 times, at most 1 are allowed", wrong[0])
	assert.Contains(t, wrong[1], "gardener-extension-infrastructure made 15 calls, at most 14 are allowed: 2 keystone POST /v3/auth/tokens, 15 nova GET /")
	work.Started = map[string]int{InfrastructureController: 1}
	assert.Empty(t, OverBudget(ByProgram(append(within, login), programOf), work), "a process that started logs in")
	assert.Equal(t, []string{"2 servers were created for 1 machines"}, OverBudget(ByProgram(append(within, call("10.0.0.2", "POST", "/v2.1/servers", 1)...), programOf), work))

	repeated := call("10.0.0.1", "GET", "/", 7)
	assert.Len(t, OverBudget(ByProgram(repeated, programOf), Work{Repeated: 1}), 1)
	assert.Empty(t, OverBudget(ByProgram(repeated, programOf), Work{Repeated: 1, Additional: map[string]int{InfrastructureController: 1}}))
}
