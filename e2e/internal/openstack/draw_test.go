package openstack

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
)

func TestDraw(t *testing.T) {
	cloud := fake.New()
	empty := cloud.State("")
	assert.Equal(t, []string{"public  external network"}, Draw(empty))

	plant := func(collection string, attrs fake.Attrs) string {
		id, err := cloud.CreateResource(fake.DefaultProject, collection, attrs)
		require.NoError(t, err)
		return id
	}
	network := plant("networks", fake.Attrs{"name": "net"})
	plant("networks", fake.Attrs{"name": "lost"})
	subnet := plant("subnets", fake.Attrs{
		"name": "nodes", "network_id": network, "ip_version": 4, "cidr": "10.0.0.0/24", "dns_nameservers": []string{"1.1.1.1"},
	})
	router := plant("routers", fake.Attrs{
		"name": "gate", "external_gateway_info": map[string]any{"network_id": empty.Networks[0].ID},
	})
	_, err := cloud.DoAsOperator(fake.DefaultProject, http.MethodPut, services.Neutron,
		"/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
	require.NoError(t, err)
	plant("security-groups", fake.Attrs{"name": "group"})

	state := cloud.State("")
	require.Len(t, state.Routers, 1)
	outside := state.Routers[0].Gateway.ExternalFixedIPs[0].IPAddress
	assert.Equal(t, strings.ReplaceAll(`public  external network
└─ gate  router, outside ADDRESS
   └─ 10.0.0.1  interface
      └─ nodes  subnet 10.0.0.0/24, DNS 1.1.1.1
         └─ net  network, MTU 1450
lost  network, not connected
group  security group, 2 rules`, "ADDRESS", outside), strings.Join(Draw(state), "\n"))
}
