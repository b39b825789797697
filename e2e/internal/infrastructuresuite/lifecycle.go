package infrastructuresuite

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// testLifecycle creates, reconciles, changes and deletes an Infrastructure by gardenlet's component, and checks the fields that gardenlet reads.
func testLifecycle(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	env.StartController()
	shoot := env.Shoot("lifecycle")

	component := env.Gardenlet.Infrastructure(shoot)
	require.NoError(t, component.Deploy(t.Context()))
	require.NoError(t, component.Wait(t.Context()))
	assert.Equal(t, []string{"10.250.0.0/16"}, component.NodesCIDRs()[:1])
	assert.Equal(t, []string{"100.96.0.0/11"}, component.PodsCIDRs())
	assert.Equal(t, []string{"100.64.0.0/13"}, component.ServicesCIDRs())
	router := env.Find("router")
	assert.Equal(t, addressesOf(router.Object), component.EgressCIDRs(), "the addresses of the router")

	object := env.Get(shoot)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeCreate, object.Status.LastOperation.Type)
	assert.EqualValues(t, 100, object.Status.LastOperation.Progress)
	assert.Equal(t, []string{"extensions.gardener.cloud/infrastructure"}, object.Finalizers)
	var status openstackv1alpha1.InfrastructureStatus
	require.NoError(t, yaml.UnmarshalStrict(component.ProviderStatus().Raw, &status))
	assert.Equal(t, env.Find("network").ID, status.Networks.ID)
	assert.Equal(t, router.ID, status.Networks.Router.ID)
	assert.Equal(t, env.Find("key pair").ID, status.Node.KeyName)
	require.Len(t, status.Networks.Subnets, 1)
	assert.Equal(t, env.Find("subnet").ID, status.Networks.Subnets[0].ID)
	require.Len(t, status.SecurityGroups, 1)
	assert.Equal(t, env.Find("security group").ID, status.SecurityGroups[0].ID)
	var state openstackv1alpha1.InfrastructureState
	require.NoError(t, yaml.UnmarshalStrict(object.Status.State.Raw, &state))
	assert.Equal(t, status.Networks.ID, state.Data[openstackv1alpha1.StateKeyNetwork])
	assertOneOfEach(env)

	shoot.InfrastructureConfig = env.Config(func(config *openstackv1alpha1.InfrastructureConfig) {
		config.Networks.NodePortSourceRanges = []string{"192.0.2.0/24"}
	})
	env.Reconcile(shoot)
	object = env.Get(shoot)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeReconcile, object.Status.LastOperation.Type)
	assert.Equal(t, object.Generation, object.Status.ObservedGeneration)
	assertOneOfEach(env)
	rules := env.Do(http.MethodGet, conformance.Network, "/v2.0/security-group-rules?remote_ip_prefix=192.0.2.0/24", nil)
	assert.Len(t, rules.Objects("security_group_rules"), 2, "the changed configuration reached the cloud")

	env.Destroy(shoot)
	assertEmpty(env)
}

// addressesOf returns the external addresses of a router as ranges.
func addressesOf(router conformance.Object) []string {
	ranges := []string{}
	for _, address := range router.Objects("external_gateway_info.external_fixed_ips") {
		length := "/32"
		if strings.Contains(address.Text("ip_address"), ":") {
			length = "/128"
		}
		ranges = append(ranges, address.Text("ip_address")+length)
	}
	return ranges
}

// testNoOp counts the requests of a reconciliation without changes.
func testNoOp(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	env.StartController()
	shoot := env.NewReconciledShoot("no-op")
	env.StopController()
	before := len(env.Writes(shoot))
	env.StartController()

	env.WaitNextSecond(shoot)
	env.Cloud.ResetLog()
	env.Reconcile(shoot)
	env.StopController()

	writes := withoutProgress(t, env.Writes(shoot)[before:])
	if assert.Len(t, writes, 2, "order taken, result reported; no third write, and no Event") {
		assert.Equal(t, "patch infrastructures", writes[0].Verb+" "+writes[0].Resource)
		assert.Equal(t, "patch infrastructures/status", writes[1].Verb+" "+writes[1].Resource)
	}
	calls := env.Cloud.Log()
	assert.Equal(t, env.Provider.Logins, calls.Logins(), "the process is new")
	assert.NotEmpty(t, calls, "the cloud is read")
	for _, call := range calls {
		assert.Truef(t, call.IsLogin() || !call.IsWrite(), "nothing is written to the cloud: %s", call)
	}
	env.StartController()
	env.Destroy(shoot)
}

// withoutProgress removes writes of progress, which happen only after a second of waiting. The last one may have been canceled, since the
// result is written then: the API server has logged no body.
func withoutProgress(t *testing.T, writes []audit.Write) []audit.Write {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(writes), func(write audit.Write) bool {
		return write.Time.Sub(writes[0].Time) >= time.Second && (len(write.Body) == 0 || reportsProgress(t, write))
	})
}

func reportsProgress(t *testing.T, write audit.Write) bool {
	t.Helper()
	var sent struct {
		Status struct {
			LastOperation struct {
				Progress *int32 `json:"progress"`
			} `json:"lastOperation"`
		} `json:"status"`
	}
	require.NoErrorf(t, json.Unmarshal(write.Body, &sent), "%s", write)
	progress := sent.Status.LastOperation.Progress
	return progress != nil && *progress < 100
}

// testBudget counts the requests of one shoot by their names. The figures are the driver's, for a default shoot, an existing session and a floating
// network that another shoot has found; they must be the same on all clouds.
func testBudget(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	env.StartController()
	env.Destroy(env.NewReconciledShoot("budget-login")) // from here on the session and the floating network are known
	env.Cloud.ResetLog()

	costs := func(what string, want map[string]int) {
		t.Helper()
		calls := env.Cloud.Log()
		assert.Equal(t, want, calls.Count(), "%s:\n%s", what, calls)
		env.Cloud.ResetLog()
	}
	shoot := env.NewReconciledShoot("budget")
	costs("first", map[string]int{
		"neutron POST /v2.0/networks":                         1,
		"neutron POST /v2.0/security-groups":                  1,
		"neutron POST /v2.0/security-group-rules":             1,
		"nova POST /v2.1/os-keypairs":                         1,
		"neutron POST /v2.0/routers":                          1,
		"neutron POST /v2.0/subnets":                          1,
		"neutron PUT /v2.0/routers/{id}/add_router_interface": 1,
	})
	fullCheck := map[string]int{
		"neutron GET /v2.0/networks":        1,
		"neutron GET /v2.0/routers":         1,
		"neutron GET /v2.0/subnets":         1,
		"neutron GET /v2.0/ports":           1,
		"neutron GET /v2.0/security-groups": 1,
		"nova GET /v2.1/os-keypairs/{id}":   1,
	}
	env.ReconcileAgain(shoot)
	costs("full check", fullCheck)
	env.ReconcileAgain(shoot)
	costs("repetition", map[string]int{"neutron GET /v2.0/routers": 1})
	env.ReconcileOnRequest(shoot)
	costs("full check on request", fullCheck)
	env.Destroy(shoot)
	costs("delete", map[string]int{
		"nova DELETE /v2.1/os-keypairs/{id}":                     1,
		"neutron DELETE /v2.0/security-groups/{id}":              1,
		"octavia GET /v2.0/lbaas/loadbalancers":                  1,
		"neutron PUT /v2.0/routers/{id}/remove_router_interface": 1,
		"neutron DELETE /v2.0/routers/{id}":                      1,
		"neutron DELETE /v2.0/networks/{id}":                     1,
	})
}

// assertNothingWritten asserts that nothing was written to the cloud since the log was reset.
func assertNothingWritten(env *testenv.Env) {
	env.T.Helper()
	calls := env.Cloud.Log()
	assert.NotEmpty(env.T, calls, "somebody looked")
	assert.Empty(env.T, calls.Where(func(call wire.Call) bool { return call.IsWrite() && !call.IsLogin() }), "%s", calls)
}
