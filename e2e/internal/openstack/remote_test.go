package openstack

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// TestAttach uses a fake as if it were another process: by HTTP alone.
func TestAttach(t *testing.T) {
	standIn := fake.New()
	require.NoError(t, standIn.Start("127.0.0.1:0"))
	t.Cleanup(func() { assert.NoError(t, standIn.Close()) })
	cloud, remote, err := Attach(t.Context(), standIn.URL())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, cloud.Close()) })
	assert.Equal(t, standIn.AuthURL(), cloud.AuthURL())

	account, err := cloud.NewAccount(t.Context(), "remote")
	require.NoError(t, err)
	require.NoError(t, remote.ResetCalls(t.Context()))
	_, err = account.DoAsMember(t.Context(), http.MethodPost, conformance.Network, "/v2.0/networks", conformance.Body{"network": conformance.Body{"name": "one"}})
	require.NoError(t, err)
	resources, err := account.Resources(t.Context())
	require.NoError(t, err)
	require.Len(t, resources, 1)
	assert.Equal(t, "one", resources[0].Name)
	calls, err := remote.Calls(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, calls.Count()["neutron POST /v2.0/networks"])

	require.NoError(t, remote.Inject(t.Context(), wire.Fault{Match: wire.Match{Service: services.Neutron, Method: http.MethodPost}, Times: 1, Status: 500}))
	_, err = account.DoAsMember(t.Context(), http.MethodPost, conformance.Network, "/v2.0/networks", conformance.Body{"network": conformance.Body{"name": "two"}})
	require.ErrorContains(t, err, "500")
	require.NoError(t, remote.ClearFaults(t.Context()))
	require.NoError(t, remote.SetLatency(t.Context(), time.Millisecond))
	require.NoError(t, remote.SetTransition(t.Context(), fake.ServerBuild, fake.Transition{After: time.Second}))
	require.NoError(t, remote.SetQuota(t.Context(), account, "network", 1))
	_, err = account.DoAsMember(t.Context(), http.MethodPost, conformance.Network, "/v2.0/networks", conformance.Body{"network": conformance.Body{"name": "three"}})
	require.ErrorContains(t, err, "409")
	nobody := &Account{Tenant: &conformance.Tenant{Login: conformance.Login{Project: "nobody"}}}
	require.ErrorContains(t, remote.SetQuota(t.Context(), nobody, "network", 1), "400")
}
