package openstack

import (
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// newCheckedEnvironment has a shoot whose last reconciliation was a full check, without findings.
func newCheckedEnvironment(t *testing.T) *environment {
	env := newWarmEnvironment(t)
	env.mustReconcile()
	env.mustReconcile()
	env.takeCalls()
	return env
}

func (env *environment) setClock(after time.Duration) {
	env.driver.now = func() time.Time { return time.Now().Add(after) }
}

// removeRule deletes a rule of the shoot's security group.
func (env *environment) removeRule() {
	env.t.Helper()
	for _, group := range env.resources().SecurityGroups {
		if group.ID == env.state()["SecurityGroup"] {
			require.NoError(env.t, env.session().DeleteSecurityGroupRule(env.t.Context(), group.Rules[0].ID))
			return
		}
	}
	env.t.Fatal("no security group")
}

func (env *environment) countRules() int {
	for _, group := range env.resources().SecurityGroups {
		if group.ID == env.state()["SecurityGroup"] {
			return len(group.Rules)
		}
	}
	return 0
}

func TestFullCheck_Interval(t *testing.T) {
	env := newCheckedEnvironment(t)
	for range 3 {
		outcome := env.mustReconcile()
		assert.True(t, outcome.Unchanged)
		assertCalls(t, env.takeCalls(), map[string]int{getRouters: 1})
	}
	env.setClock(9 * time.Minute)
	env.mustReconcile()
	assertCalls(t, env.takeCalls(), map[string]int{getRouters: 1})
	env.setClock(11 * time.Minute) // a repetition does not extend the interval
	env.mustReconcile()
	assert.Len(t, env.takeCalls(), 6)
	env.setClock(20 * time.Minute)
	env.mustReconcile()
	assert.Len(t, env.takeCalls(), 1, "since the second full check")
}

// Each of the cases follows a full check, and makes the next reconciliation another one.
func TestFullCheck_Required(t *testing.T) {
	for sentence, change := range map[string]func(env *environment){
		"after somebody has requested a reconciliation of the shoot": func(env *environment) { env.shoot.Generation++ },
		"after an annotation of the object by hand, which the contract reports": func(env *environment) {
			env.setLastOperation(gardencorev1beta1.LastOperationStateProcessing)
		},
		"after an error": func(env *environment) {
			env.cloud.Inject(wire.Fault{Match: wire.Match{Path: "/v2.0/routers"}, Status: 403})
			_, err := env.reconcile()
			require.Error(env.t, err)
		},
		"after an error of which the status knows nothing": func(env *environment) {
			env.cloud.Inject(wire.Fault{Match: wire.Match{Path: "/v2.0/routers"}, Status: 403})
			_, err := env.reconcile()
			require.Error(env.t, err)
			env.setLastOperation(gardencorev1beta1.LastOperationStateSucceeded)
		},
		"in a new process":                          func(env *environment) { env.restart() },
		"with a new generation of the object":       func(env *environment) { env.infra.Generation++ },
		"with another object of the same name":      func(env *environment) { env.infra.UID = "another" },
		"with other ranges of the shoot's networks": func(env *environment) { env.shoot.Spec.Networking.Pods = new("100.128.0.0/11") },
		"with another cloud profile": func(env *environment) {
			env.profile.RequestTimeout = nil
			env.profile.NodeVolumeAttachLimit = new(int32(7))
		},
		"with another Secret":                             func(env *environment) { env.secret["insecure"] = []byte("false") },
		"with a status that somebody else wrote":          func(env *environment) { env.infra.Status.EgressCIDRs = []string{"203.0.113.9/32"} },
		"with a state that was completed":                 func(env *environment) { env.changeState("trellis.adopted", "true") },
		"after a new route of a cloud-controller-manager": func(env *environment) { env.addRoute() },
		"after an attempt to delete the shoot that was given up": func(env *environment) {
			env.cloud.Inject(wire.Fault{Match: wire.Match{WritesOnly: true}, Times: -1, Status: 403})
			require.Error(env.t, env.delete())
			env.cloud.ClearFaults()
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newCheckedEnvironment(t)
			change(env)
			env.takeCalls()
			assert.False(t, env.mustReconcile().Unchanged)
			for _, call := range []string{getNetworks, getRouters, getSubnets, getPorts, getGroups, "nova GET /v2.1/os-keypairs/{id}"} {
				assert.NotZero(t, env.cloud.Log().Count()[call], call)
			}
		})
	}
	t.Run("always, without an interval", func(t *testing.T) {
		env := newCheckedEnvironment(t)
		env.driver.checks.interval = 0
		for range 2 {
			env.mustReconcile()
			assert.Len(t, env.takeCalls(), 6)
		}
	})
	t.Run("always, while there are findings", func(t *testing.T) {
		env := newCheckedEnvironment(t)
		env.plant("security-group-rules", fake.Attrs{"security_group_id": env.state()["SecurityGroup"], "direction": "ingress", "protocol": "tcp"})
		env.shoot.Generation++
		for range 3 {
			assert.Len(t, env.mustReconcile().Findings, 1)
			assert.Len(t, env.takeCalls(), 6)
		}
	})
	t.Run("always, while the result of a creation is unknown", func(t *testing.T) {
		env := newWarmEnvironment(t)
		env.cloud.Inject(wire.Fault{Match: wire.Match{Method: "POST", Path: "/v2.0/networks"}, Status: 504})
		_, err := env.reconcile()
		require.Error(t, err)
		env.mustReconcile()
		env.takeCalls()
		for range 2 {
			assert.False(t, env.mustReconcile().Unchanged)
			assert.Len(t, env.takeCalls(), 7, "a second list of networks, by mark")
		}
	})
	t.Run("always, in a cloud without revision numbers", func(t *testing.T) {
		rec := &reconciliation{recordedShoot: recordedShoot{state: newState()}, observed: observation{router: &cloudopenstack.Router{ID: "r", RevisionNumber: 1}}}
		assert.NotNil(t, rec.fullCheck(inputsHash{}))
		rec.observed.router.RevisionNumber = 0
		assert.Nil(t, rec.fullCheck(inputsHash{}))
	})
}

// The changes of others that the router shows are repaired at once.
func TestFullCheck_DriftOfRouter(t *testing.T) {
	for sentence, cause := range map[string]func(env *environment){
		"no gateway any more": (*environment).clearGateway,
		"switched off": func(env *environment) {
			env.updateResource("routers", "router", env.state()["Router"], fake.Attrs{"admin_state_up": false})
		},
		"no interface any more": func(env *environment) {
			require.NoError(env.t, env.session().RemoveRouterInterface(env.t.Context(), env.state()["Router"], env.state()["Subnet"]))
		},
		"deleted": func(env *environment) {
			require.NoError(env.t, env.session().RemoveRouterInterface(env.t.Context(), env.state()["Router"], env.state()["Subnet"]))
			require.NoError(env.t, env.session().DeleteRouter(env.t.Context(), env.state()["Router"]))
		},
		"its network deleted": func(env *environment) {
			require.NoError(env.t, env.session().RemoveRouterInterface(env.t.Context(), env.state()["Router"], env.state()["Subnet"]))
			require.NoError(env.t, env.session().DeleteNetwork(env.t.Context(), env.state()["Network"]))
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newCheckedEnvironment(t)
			complete := countByKind(env.resources())
			cause(env)
			env.mustReconcile()
			assert.Equal(t, complete, countByKind(env.resources()))
			require.Len(t, env.resources().Routers, 1)
			assert.True(t, env.resources().Routers[0].AdminStateUp)
			assert.NotNil(t, env.resources().Routers[0].Gateway)
		})
	}
}

// A change that the router does not show waits for the next full check, which a request makes at once.
func TestFullCheck_DriftOfOthers(t *testing.T) {
	for sentence, test := range map[string]struct {
		request  func(env *environment)
		repaired bool
	}{
		"a repetition does not see it":              {func(*environment) {}, false},
		"a repetition after the interval does":      {func(env *environment) { env.setClock(10 * time.Minute) }, true},
		"a request of the shoot's owner repairs it": {func(env *environment) { env.shoot.Generation++ }, true},
		"a request of an operator repairs it": {func(env *environment) {
			env.setLastOperation(gardencorev1beta1.LastOperationStateProcessing)
		}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newCheckedEnvironment(t)
			complete := env.countRules()
			env.removeRule()
			test.request(env)
			env.mustReconcile()
			assert.Equal(t, test.repaired, env.countRules() == complete)
		})
	}
}

func TestFullCheck_Faults(t *testing.T) {
	for how, inject := range callFailures() {
		for sentence, cause := range map[string]func(*environment){"nothing has changed": func(*environment) {}, "the router lost its gateway": (*environment).clearGateway} {
			t.Run("the only call of a repetition is "+how+", "+sentence, func(t *testing.T) {
				env := newWarmEnvironment(t)
				empty := env.resources()
				env.mustReconcile()
				env.mustReconcile()
				complete := countByKind(env.resources())
				cause(env)
				env.cloud.ResetLog()
				inject(env, 0)
				_, _ = env.reconcile()
				env.cloud.SetHook(nil)
				env.beforeSave = nil
				env.mustReconcile()
				assert.Equal(t, complete, countByKind(env.resources()))
				assert.NotNil(t, env.resources().Routers[0].Gateway)
				env.mustDelete()
				env.assertUnchanged(empty)
			})
		}
	}
}

// A shoot that is left alone costs no memory after the interval.
func TestFullChecks_Prune(t *testing.T) {
	checks, now := fullChecks{interval: 10 * time.Minute}, time.Now()
	checks.put("a", &fullCheck{at: now}, now)
	checks.put("b", &fullCheck{at: now.Add(9 * time.Minute)}, now.Add(9*time.Minute))
	assert.Len(t, checks.byShoot, 2)
	checks.put("c", &fullCheck{at: now.Add(11 * time.Minute)}, now.Add(11*time.Minute))
	assert.Len(t, checks.byShoot, 2)
	assert.Nil(t, checks.take("a", now.Add(11*time.Minute)))
	assert.NotNil(t, checks.take("b", now.Add(11*time.Minute)))
	assert.Nil(t, checks.take("b", now.Add(11*time.Minute)), "it was taken")
}

func (env *environment) clearGateway() {
	env.t.Helper()
	env.updateResource("routers", "router", env.state()["Router"], fake.Attrs{"external_gateway_info": nil})
}

// addRoute adds a route to a node.
func (env *environment) addRoute() {
	env.t.Helper()
	env.updateResource("routers", "router", env.state()["Router"], fake.Attrs{
		"routes": []any{map[string]any{"destination": "100.96.1.0/24", "nexthop": "10.250.0.7"}},
	})
}

// changeState changes the saved state.
func (env *environment) changeState(key, value string) {
	env.t.Helper()
	state := newState()
	require.NoError(env.t, state.decode(env.infra.Status.State.Raw))
	state.SetFact(key, value)
	env.infra.Status.State = env.marshal(state.infrastructureState())
}
