package fake_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestDiff(t *testing.T) {
	cloud := start(t)
	before := cloud.State("garden")
	require.Equal(t, 5, before.Count(), "the default security group with its four rules")
	createResource(t, cloud, "networks", fake.Attrs{"name": "n"})
	after := cloud.State("garden")
	came, went := fake.Diff(before, after)
	require.Equal(t, []string{"network n " + after.Networks[0].ID}, came)
	require.Empty(t, went)
	came, went = fake.Diff(after, before)
	require.Empty(t, came)
	require.Equal(t, []string{"network n " + after.Networks[0].ID}, went)
}

func TestState_IsCopy(t *testing.T) {
	s := newTestEnv(t)
	taken := s.cloud.State("garden")
	require.NoError(t, s.route(t, "100.64.0.0/24", "10.250.0.5"))
	_, err := networks.Update(t.Context(), s.network, s.networkID, networks.UpdateOpts{Name: new("renamed")}).Extract()
	require.NoError(t, err)
	require.Empty(t, taken.Routers[0].Routes)
	require.Equal(t, "site", taken.Networks[0].Name)
	require.Len(t, s.cloud.State("garden").Ports, 2, "the interface, and the gateway although its port belongs to nobody")
	require.Empty(t, s.cloud.State("admin").Routers)
	require.Greater(t, s.cloud.State("").Count(), s.cloud.State("garden").Count())
}

func TestTree(t *testing.T) {
	s := newTestEnv(t)
	group := createResource(t, s.cloud, "security-groups", fake.Attrs{"name": "nodes"})
	createResource(t, s.cloud, "security-group-rules", fake.Attrs{
		"security_group_id": group, "direction": "ingress", "protocol": "tcp", "port_range_min": 22, "port_range_max": 22, "remote_ip_prefix": "10.0.0.0/8",
	})
	createResource(t, s.cloud, "security-group-rules", fake.Attrs{"security_group_id": group, "direction": "ingress", "remote_group_id": group})
	createResource(t, s.cloud, "os-keypairs", fake.Attrs{"name": "nodes", "public_key": publicKey})
	createResource(t, s.cloud, "networks", fake.Attrs{"name": "lonely"})
	createResource(t, s.cloud, "loadbalancers", fake.Attrs{"name": "lb", "vip_subnet_id": s.subnetID})
	createResource(t, s.cloud, "floatingips", fake.Attrs{"floating_network_id": s.publicID})
	require.NoError(t, s.route(t, "100.64.0.0/24", "10.250.0.5"))
	want := `garden
├── external network public
│   ├── router site (198.18.0.2, SNAT on)
│   │   ├── route 100.64.0.0/24 via 10.250.0.5
│   │   └── interface 10.250.0.1
│   │       └── network site
│   │           └── subnet site 10.250.0.0/16
│   │               └── load balancer lb (ACTIVE) 10.250.0.2
│   └── floating IP 198.18.0.3 not associated
├── network lonely
├── security group nodes
│   ├── egress IPv4 to anywhere
│   ├── egress IPv6 to anywhere
│   ├── ingress IPv4 tcp 22-22 from 10.0.0.0/8
│   └── ingress IPv4 from the group itself
└── key pair nodes ` + s.cloud.State("garden").KeyPairs[0].Fingerprint + "\n"
	require.Empty(t, cmp.Diff(want, s.cloud.Tree("garden")))
}

// adminRequest calls the admin API by HTTP, and returns the body.
func adminRequest(t *testing.T, cloud *fake.Cloud, method, path string, body any) (int, string) {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), method, cloud.URL()+"/-"+path, bytes.NewReader(raw))
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode, string(text)
}

func TestAdminAPI(t *testing.T) {
	cloud := start(t)
	c := member(t, cloud)
	do := func(method, path string, body any) string {
		status, text := adminRequest(t, cloud, method, path, body)
		require.Equal(t, http.StatusOK, status, text)
		return text
	}
	do(http.MethodGet, "/healthz", nil)
	do(http.MethodPost, "/plant?project=garden&collection=networks", fake.Attrs{"name": "planted"})
	var state fake.State
	require.NoError(t, json.Unmarshal([]byte(do(http.MethodGet, "/state?project=garden", nil)), &state))
	require.Equal(t, "planted", state.Networks[0].Name)
	require.Equal(t, cloud.Tree("garden"), do(http.MethodGet, "/tree?project=garden", nil))

	do(http.MethodPost, "/faults", wire.Fault{Match: wire.Match{Service: services.Neutron}, Status: 503})
	require.Equal(t, "503 HTTPServiceUnavailable", errorText(createNetwork(t, c, "n")))
	require.Contains(t, do(http.MethodGet, "/faults", nil), `"status":503`)
	do(http.MethodDelete, "/faults", nil)
	do(http.MethodPut, "/quotas?project=garden&resource=network&limit=1", nil)
	require.Equal(t, "409 OverQuota", errorText(createNetwork(t, c, "n")))
	do(http.MethodPut, "/quotas?project=garden&resource=network&limit=-1", nil)
	do(http.MethodPut, "/latency?value=1ms", nil)
	do(http.MethodPut, "/transitions?kind="+fake.RouterInterface, fake.Transition{After: time.Hour})
	do(http.MethodPut, "/exhausted?subnet=public-a&value=true", nil)
	do(http.MethodDelete, "/tokens", nil)
	require.NoError(t, createNetwork(t, c, "n"))
	require.Equal(t, 2, cloud.Logins(), "all tokens were revoked")

	var log wire.Calls
	require.NoError(t, json.Unmarshal([]byte(do(http.MethodGet, "/log", nil)), &log))
	require.Equal(t, cloud.Log(), log)
	require.Equal(t, log.String(), do(http.MethodGet, "/log?format=text", nil))
	require.Equal(t, log.Summary(), do(http.MethodGet, "/log?format=summary", nil))
	do(http.MethodDelete, "/log", nil)
	do(http.MethodPost, "/reset", nil)
	require.Empty(t, cloud.Log(), "the inspector leaves no trace")
	for path, body := range map[string]any{
		"PUT /latency?value=soon": nil, "PUT /quotas?limit=many": nil, "PUT /quotas?project=desert&limit=1": nil,
		"PUT /exhausted?subnet=nope&value=true": nil, "PUT /exhausted?value=maybe": nil,
		"POST /faults": fake.Attrs{"colour": "red"}, "POST /plant?collection=trees&project=garden": fake.Attrs{},
	} {
		method, path, _ := strings.Cut(path, " ")
		status, _ := adminRequest(t, cloud, method, path, body)
		require.Equal(t, http.StatusBadRequest, status, path)
	}
}

func TestDoAsOperator(t *testing.T) {
	s := newTestEnv(t)
	s.cloud.ResetLog()
	s.cloud.Inject(wire.Fault{Times: -1, Status: 500})
	s.cloud.SetHook(func(wire.Event) wire.HookResult { return wire.DropConnection })
	out, err := s.cloud.DoAsOperator("garden", http.MethodGet, services.Neutron, "/v2.0/networks?name=site", nil)
	require.NoError(t, err)
	require.Len(t, out["networks"], 1)
	_, err = s.cloud.DoAsOperator("garden", http.MethodPut, services.Neutron, "/v2.0/routers/"+s.routerID+"/remove_router_interface", fake.Attrs{"subnet_id": s.subnetID})
	require.NoError(t, err)
	require.Empty(t, s.cloud.Log())
	for name, do := range map[string]func() error{
		"an unknown project": func() error {
			_, err := s.cloud.DoAsOperator("desert", http.MethodGet, services.Neutron, "/v2.0/networks", nil)
			return err
		},
		"an unknown service":     func() error { _, err := s.cloud.DoAsOperator("garden", http.MethodGet, "swift", "/", nil); return err },
		"what the cloud refuses": func() error { _, err := s.cloud.CreateResource("garden", "subnets", fake.Attrs{}); return err },
		"an unknown collection":  func() error { _, err := s.cloud.CreateResource("garden", "trees", nil); return err },
	} {
		require.Error(t, do(), name)
	}
}

func TestHandler(t *testing.T) {
	cloud := fake.New()
	require.Empty(t, cloud.URL())
	require.NoError(t, cloud.Close())
	require.NotNil(t, cloud.Handler())
}
