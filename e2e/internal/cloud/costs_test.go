package cloud

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestCosts(t *testing.T) {
	login := wire.Call{Service: "keystone", Method: "POST", Path: "/v3/auth/tokens", Login: true}
	server := wire.Call{Service: "nova", Method: "POST", Path: "/v2.1/servers"}
	port := wire.Call{Service: "neutron", Method: "POST", Path: "/v2.0/ports"}
	assert.Equal(t, []string{
		"                                     calls  per machine",
		"neutron POST /v2.0/ports                 2         1.00",
		"nova POST /v2.1/servers                  2         1.00",
		"keystone POST /v3/auth/tokens            1         0.50",
		"all                                      5         2.50",
	}, Costs(wire.Calls{login, server, port, server, port}, 2))
	assert.Equal(t, []string{
		"                                     calls  per machine",
		"all                                      0         0.00",
	}, Costs(nil, 0))
}
