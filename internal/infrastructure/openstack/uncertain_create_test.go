package openstack

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// lateCreates are creates of which a cloud may have forgotten the caller, and how they take effect after all.
func lateCreates() map[string]func(env *environment) string {
	mark := formatMark(technicalID, shootUID)
	marked := func(collection string) func(env *environment) string {
		return func(env *environment) string {
			return env.plant(collection, fake.Attrs{"name": technicalID, "description": mark})
		}
	}
	return map[string]func(env *environment) string{
		"/v2.0/networks":        marked("networks"),
		"/v2.0/routers":         marked("routers"),
		"/v2.0/security-groups": marked("security-groups"),
		"/v2/share-networks":    marked("share-networks"),
		"/v2.0/subnets": func(env *environment) string {
			return env.plant("subnets", fake.Attrs{
				"name": technicalID, "description": mark, "network_id": env.state()["Network"], "ip_version": 4, "cidr": "10.251.0.0/24",
			})
		},
	}
}

func TestUncertainCreate_LateEffect(t *testing.T) {
	withShares := func(t *testing.T) *environment {
		env := newEnvironment(t)
		env.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
		return env
	}
	for path, createLate := range lateCreates() {
		post := wire.Match{Method: "POST", Path: path}
		t.Run(path+" is found, named, and removed with the shoot", func(t *testing.T) {
			env := withShares(t)
			empty := env.resources()
			env.cloud.Inject(wire.Fault{Match: post, Status: 504})
			_, err := env.reconcile()
			require.Equal(t, cloud.Unavailable, cloud.KindOf(err))
			env.mustReconcile()
			id := createLate(env)
			outcome := env.mustReconcile()
			require.Len(t, outcome.Findings, 1)
			assert.Contains(t, outcome.Findings[0], id+" is marked as this shoot's own, but another one is in use")
			env.mustDelete()
			env.assertUnchanged(empty)
		})
		t.Run(path+" is removed with the shoot although no pass came in between", func(t *testing.T) {
			env := withShares(t)
			empty := env.resources()
			env.cloud.Inject(wire.Fault{Match: post, Status: 504})
			_, err := env.reconcile()
			require.Error(t, err)
			env.mustReconcile()
			createLate(env)
			env.mustDelete()
			env.assertUnchanged(empty)
		})
		t.Run(path+" of a process that was killed meanwhile is found, too", func(t *testing.T) {
			env := withShares(t)
			empty := env.resources()
			env.killWhen(func(event wire.Event) bool { return event.Phase == wire.Before && post.Matches(event.Call) })
			_, err := env.reconcile()
			require.Error(t, err)
			env.restart()
			env.mustReconcile()
			createLate(env)
			require.Len(t, env.mustReconcile().Findings, 1)
			env.mustDelete()
			env.assertUnchanged(empty)
		})
	}
	t.Run("is looked for as long as it may come, and no longer", func(t *testing.T) {
		env := newEnvironment(t)
		env.cloud.Inject(wire.Fault{Match: wire.Match{Method: "POST", Path: "/v2.0/networks"}, Status: 504})
		_, err := env.reconcile()
		require.Error(t, err)
		env.mustReconcile()
		env.takeCalls()
		env.mustReconcile()
		assert.Equal(t, 2, env.takeCalls().Count()["neutron GET /v2.0/networks"], "by ID and by mark")

		env.driver.now = func() time.Time { return time.Now().Add(uncertainCreateTimeout + time.Minute) }
		env.mustReconcile()
		assert.Empty(t, env.state()[keyUncertainCreates])
		env.takeCalls()
		env.mustReconcile()
		assert.Len(t, env.takeCalls(), 6)
	})
	t.Run("is looked for even when the user gave another one meanwhile", func(t *testing.T) {
		env := newEnvironment(t)
		env.config.Networks.ID = new(env.plant("networks", fake.Attrs{"name": "theirs"}))
		before, theirs := env.resources(), env.config.Networks.ID
		env.config.Networks.ID = nil
		env.cloud.Inject(wire.Fault{Match: wire.Match{Method: "POST", Path: "/v2.0/networks"}, Status: 504})
		_, err := env.reconcile()
		require.Error(t, err)
		env.config.Networks.ID = theirs
		env.mustReconcile()
		lateCreates()["/v2.0/networks"](env)
		env.mustDelete()
		env.assertUnchanged(before)
	})
}

func TestUncertainCreate_Refused(t *testing.T) {
	env := newEnvironment(t)
	require.NoError(t, env.cloud.SetQuota(fake.DefaultProject, "router", 0))
	_, err := env.reconcile()
	require.Equal(t, cloud.QuotaExceeded, cloud.KindOf(err))
	assert.Empty(t, env.state()[openstackv1alpha1.StateKeyIntents])
	assert.Empty(t, env.state()[keyUncertainCreates])
}

func TestEnsureInterface_Refused(t *testing.T) {
	env := newEnvironment(t)
	network, router := env.plant("networks", fake.Attrs{"name": "theirs"}), env.plantRouter("theirs")
	subnet := env.plantSubnet(network, "theirs", "10.250.64.0/20")
	env.config.Networks = openstackv1alpha1.Networks{ID: &network, SubnetID: &subnet, Router: &openstackv1alpha1.Router{ID: router}}
	connect := "/v2.0/routers/" + router + "/add_router_interface"
	faster := false
	env.cloud.SetHook(func(event wire.Event) wire.HookResult {
		if event.Phase == wire.Before && event.Call.Name() == addInterface && !faster {
			faster = true // the user is
			env.operate("PUT", services.Neutron, connect, map[string]any{"subnet_id": subnet})
		}
		return wire.Proceed
	})
	_, err := env.reconcile()
	require.Error(t, err)
	assert.NotContains(t, env.state()[openstackv1alpha1.StateKeyIntents], string(kindInterface))
	env.mustDelete()
	assert.Contains(t, strings.Join(env.resources().List(), "\n"), "network:router_interface", "the user's interface stays")
}

func TestObserveShareNetwork_Renamed(t *testing.T) {
	env := newEnvironment(t)
	env.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
	empty := env.resources()
	env.mustReconcile()
	env.operate("PUT", services.Manila, "/v2/share-networks/"+env.state()["ShareNetwork"], map[string]any{"share_network": map[string]any{"name": "renamed"}})
	env.takeCalls()
	env.mustReconcile()
	assert.Equal(t, 1, env.takeCalls().Count()[getShares], "one call")
	assert.Len(t, env.resources().ShareNetworks, 1)
	env.mustReconcile()
	assert.Len(t, env.resources().ShareNetworks, 1)
	env.mustDelete()
	env.assertUnchanged(empty)
}
