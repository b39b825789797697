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
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// late are creates of which a cloud may have forgotten the caller, and how they take effect after all.
func late() map[string]func(w *world) string {
	mark := formatMark(technicalID, shootUID)
	marked := func(collection string) func(w *world) string {
		return func(w *world) string {
			return w.plant(collection, fake.Attrs{"name": technicalID, "description": mark})
		}
	}
	return map[string]func(w *world) string{
		"/v2.0/networks":        marked("networks"),
		"/v2.0/routers":         marked("routers"),
		"/v2.0/security-groups": marked("security-groups"),
		"/v2/share-networks":    marked("share-networks"),
		"/v2.0/subnets": func(w *world) string {
			return w.plant("subnets", fake.Attrs{
				"name": technicalID, "description": mark, "network_id": w.state()["Network"], "ip_version": 4, "cidr": "10.251.0.0/24",
			})
		},
	}
}

func TestACreateThatTakesEffectLate(t *testing.T) {
	withShares := func(t *testing.T) *world {
		w := newWorld(t)
		w.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
		return w
	}
	for path, land := range late() {
		post := wire.Match{Method: "POST", Path: path}
		t.Run(path+" is found, named, and removed with the shoot", func(t *testing.T) {
			w := withShares(t)
			empty := w.there()
			w.cloud.Inject(wire.Fault{Match: post, Status: 504})
			_, err := w.reconcile()
			require.Equal(t, cloud.Unavailable, cloud.KindOf(err))
			w.mustReconcile()
			id := land(w)
			outcome := w.mustReconcile()
			require.Len(t, outcome.Findings, 1)
			assert.Contains(t, outcome.Findings[0], id+" is marked as this shoot's own, but another one is in use")
			w.mustDelete()
			w.unchanged(empty)
		})
		t.Run(path+" is removed with the shoot although no pass came in between", func(t *testing.T) {
			w := withShares(t)
			empty := w.there()
			w.cloud.Inject(wire.Fault{Match: post, Status: 504})
			_, err := w.reconcile()
			require.Error(t, err)
			w.mustReconcile()
			land(w)
			w.mustDelete()
			w.unchanged(empty)
		})
		t.Run(path+" of a process that was killed meanwhile is found, too", func(t *testing.T) {
			w := withShares(t)
			empty := w.there()
			w.dieWhen(func(event wire.Event) bool { return event.Phase == wire.Before && post.Matches(event.Call) })
			_, err := w.reconcile()
			require.Error(t, err)
			w.restart()
			w.mustReconcile()
			land(w)
			require.Len(t, w.mustReconcile().Findings, 1)
			w.mustDelete()
			w.unchanged(empty)
		})
	}
	t.Run("is looked for as long as it may come, and no longer", func(t *testing.T) {
		w := newWorld(t)
		w.cloud.Inject(wire.Fault{Match: wire.Match{Method: "POST", Path: "/v2.0/networks"}, Status: 504})
		_, err := w.reconcile()
		require.Error(t, err)
		w.mustReconcile()
		w.calls()
		w.mustReconcile()
		assert.Equal(t, 2, w.calls().Count()["neutron GET /v2.0/networks"], "by ID and by mark")

		w.driver.now = func() time.Time { return time.Now().Add(doubtPatience + time.Minute) }
		w.mustReconcile()
		assert.Empty(t, w.state()[keyDoubts])
		w.calls()
		w.mustReconcile()
		assert.Len(t, w.calls(), 6)
	})
	t.Run("is looked for even when the user gave another one meanwhile", func(t *testing.T) {
		w := newWorld(t)
		w.config.Networks.ID = new(w.plant("networks", fake.Attrs{"name": "theirs"}))
		before, theirs := w.there(), w.config.Networks.ID
		w.config.Networks.ID = nil
		w.cloud.Inject(wire.Fault{Match: wire.Match{Method: "POST", Path: "/v2.0/networks"}, Status: 504})
		_, err := w.reconcile()
		require.Error(t, err)
		w.config.Networks.ID = theirs
		w.mustReconcile()
		late()["/v2.0/networks"](w)
		w.mustDelete()
		w.unchanged(before)
	})
}

func TestARefusedCreateLeavesNoDoubt(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.cloud.SetQuota(fake.DefaultProject, "router", 0))
	_, err := w.reconcile()
	require.Equal(t, cloud.QuotaExceeded, cloud.KindOf(err))
	assert.Empty(t, w.state()[openstackv1alpha1.StateKeyIntents])
	assert.Empty(t, w.state()[keyDoubts])
}

func TestAnInterfaceThatWasRefusedIsTheUsers(t *testing.T) {
	w := newWorld(t)
	network, router := w.plant("networks", fake.Attrs{"name": "theirs"}), w.plantRouter("theirs")
	subnet := w.plantSubnet(network, "theirs", "10.250.64.0/20")
	w.config.Networks = openstackv1alpha1.Networks{ID: &network, SubnetID: &subnet, Router: &openstackv1alpha1.Router{ID: router}}
	connect := "/v2.0/routers/" + router + "/add_router_interface"
	faster := false
	w.cloud.SetHook(func(event wire.Event) wire.Verdict {
		if event.Phase == wire.Before && event.Call.Name() == addInterface && !faster {
			faster = true // the user is
			w.operate("PUT", wire.Neutron, connect, map[string]any{"subnet_id": subnet})
		}
		return wire.Proceed
	})
	_, err := w.reconcile()
	require.Error(t, err)
	assert.NotContains(t, w.state()[openstackv1alpha1.StateKeyIntents], string(kindInterface))
	w.mustDelete()
	assert.Contains(t, strings.Join(w.there().List(), "\n"), "network:router_interface", "the user's interface stays")
}

func TestAShareNetworkIsFoundUnderAnotherName(t *testing.T) {
	w := newWorld(t)
	w.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
	empty := w.there()
	w.mustReconcile()
	w.operate("PUT", wire.Manila, "/v2/share-networks/"+w.state()["ShareNetwork"], map[string]any{"share_network": map[string]any{"name": "renamed"}})
	w.calls()
	w.mustReconcile()
	assert.Equal(t, 1, w.calls().Count()[getShares], "one call")
	assert.Len(t, w.there().ShareNetworks, 1)
	w.mustReconcile()
	assert.Len(t, w.there().ShareNetworks, 1)
	w.mustDelete()
	w.unchanged(empty)
}
