package infrastructuresuite

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// drift is a change of a shoot's infrastructure by another client of the cloud.
type drift struct {
	name  string
	cause func(*testenv.Env, *gardenlet.Shoot)
	// present reports whether the infrastructure has drifted.
	present func(*testenv.Env) bool
	// stays is true if the drift is harmless and not reverted.
	stays bool
}

func drifts() []drift {
	return []drift{
		{
			name: "a network that was switched off",
			cause: func(env *testenv.Env, _ *gardenlet.Shoot) {
				change(env, networks, env.Find("network").ID, "network", testenv.Body{"admin_state_up": false})
			},
			present: func(env *testenv.Env) bool { return env.Find("network").Object["admin_state_up"] == false },
		},
		{
			name: "a router that lost its gateway",
			cause: func(env *testenv.Env, _ *gardenlet.Shoot) {
				change(env, routers, env.Find("router").ID, "router", testenv.Body{"external_gateway_info": nil})
			},
			present: func(env *testenv.Env) bool { return env.Find("router").Object["external_gateway_info"] == nil },
		},
		{
			name: "DNS servers that were replaced",
			cause: func(env *testenv.Env, _ *gardenlet.Shoot) {
				change(env, subnets, env.Find("subnet").ID, "subnet", testenv.Body{"dns_nameservers": []string{"192.0.2.53"}})
			},
			present: func(env *testenv.Env) bool {
				return !assert.ObjectsAreEqual([]string{"1.1.1.1", "9.9.9.9"}, env.Find("subnet").Object.Texts("dns_nameservers"))
			},
		},
		{
			name: "an interface that was removed",
			cause: func(env *testenv.Env, _ *gardenlet.Shoot) {
				disconnect(env, env.Find("router").ID, env.Find("subnet").ID)
			},
			present: func(env *testenv.Env) bool { return env.CountByKind()["port"] == 0 },
		},
		{
			name: "a rule that was removed",
			cause: func(env *testenv.Env, _ *gardenlet.Shoot) {
				for _, resource := range env.Resources() {
					if resource.Kind == "security group rule" && resource.Object.Text("protocol") == "tcp" {
						remove(env, rules+"/"+resource.ID)
					}
				}
			},
			present: func(env *testenv.Env) bool { return env.CountByKind()["security group rule"] < 5 },
		},
		{
			name: "a key pair that was removed",
			cause: func(env *testenv.Env, _ *gardenlet.Shoot) {
				env.Do(http.MethodDelete, conformance.Compute, keyPairs+"/"+env.Find("key pair").ID, nil)
			},
			present: func(env *testenv.Env) bool { return env.CountByKind()["key pair"] == 0 },
		},
		{
			name: "a description that was rewritten",
			cause: func(env *testenv.Env, _ *gardenlet.Shoot) {
				change(env, networks, env.Find("network").ID, "network", testenv.Body{"description": "mine, I think"})
			},
			present: func(env *testenv.Env) bool { return env.Find("network").Object.Text("description") == "mine, I think" },
			stays:   true,
		},
	}
}

func change(env *testenv.Env, collection, id, kind string, attributes testenv.Body) {
	env.T.Helper()
	env.Do(http.MethodPut, conformance.Network, collection+"/"+id, testenv.Body{kind: attributes})
}

// testDrift applies one drift after another. The next reconciliation that somebody requests reverts it, and does not replace existing resources.
func testDrift(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	env.StartController()
	shoot := env.NewReconciledShoot("drift")
	network, subnet, router := env.Find("network").ID, env.Find("subnet").ID, env.Find("router").ID
	for _, drift := range drifts() {
		t.Run(drift.name, func(t *testing.T) {
			env := env.WithT(t)
			drift.cause(env, shoot)
			require.True(t, drift.present(env), "the test itself causes no drift")
			env.ReconcileOnRequest(shoot)
			assert.Equal(t, drift.stays, drift.present(env))
			assertOneOfEach(env)
			assert.Equal(t, []string{network, subnet, router}, []string{env.Find("network").ID, env.Find("subnet").ID, env.Find("router").ID})
			env.Cloud.ResetLog()
			env.ReconcileAgain(shoot)
			assertNothingWritten(env)
		})
	}
	env.Destroy(shoot)
	assertEmpty(env)
}
