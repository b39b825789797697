package webhooks

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// startTwo starts the two replicas of Replicas, the leader first.
func startTwo(t *testing.T, env *environment) {
	t.Helper()
	leader := env.start(t, controller.Options{LeaderElection: true}, env.byURL()...)
	env.loadBalancer.setBackends(leader.address)
	env.waitForCalls(t)
	env.start(t, controller.Options{LeaderElection: true}, env.byURL()...)
}

// testStandby leads all calls to the replica that does not lead.
func testStandby(t *testing.T, env *environment) {
	leader, standby, holder := env.running[0], env.running[1], env.leader(t)
	env.loadBalancer.setBackendsAndDisconnect(standby.address)
	env.waitForCalls(t)
	assert.Equal(t, holder, env.leader(t), "the other one leads")
	ofLeader, err := handshake(leader.address, env.loadBalancer.host, env.bundle(t))
	require.NoError(t, err)
	ofStandby, err := handshake(standby.address, env.loadBalancer.host, env.bundle(t))
	require.NoError(t, err)
	assert.Equal(t, ofLeader.SerialNumber, ofStandby.SerialNumber)
}

// leader returns the name of the process that leads, or led last; nothing when that one has given up.
func (env *environment) leader(t *testing.T) string {
	t.Helper()
	lease := &coordinationv1.Lease{}
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Namespace: env.namespace, Name: env.namespace + "-leader-election"}, lease))
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// testRotation does what an admin does who wants a new certificate authority, in the middle of traffic. The API server is told to
// trust it beside the old one, which has signed what both replicas show for minutes to come. What follows then takes too long for
// a test of the real binary: that of package webhook sees the end of it, with other timing.
//
// In the middle of the rotation the leader ends in good order. The other replica takes over all that it did.
func testRotation(t *testing.T, env *environment) {
	leader, standby := env.running[0], env.running[1]
	before := env.authorities(t)
	require.Len(t, before, 1)
	env.loadBalancer.setBackendsAndDisconnect(standby.address)
	tr := env.startTraffic(t, leader, standby)
	assert.Zero(t, env.loadBalancer.connections(leader.address), "all calls go to the one that does not lead")
	env.loadBalancer.setBackends(leader.address)

	first, second := env.rotate(t, before[0].Name)
	eventually(t, "both authorities are trusted", func() bool {
		return string(env.bundle(t)) == string(second.Data["ca.crt"])+string(first.Data["ca.crt"])
	})
	eventually(t, "the API server trusts both", func() bool { return env.loadBalancer.connections(leader.address) > 0 })
	tr.waitForMore(t, 3*time.Second)
	for _, r := range []*replica{leader, standby} {
		_, err := handshake(r.address, env.loadBalancer.host, first.Data["ca.crt"])
		assert.NoError(t, err, "what is shown is signed by the authority that all API servers know")
	}

	holder, secrets, bundle := env.leader(t), env.secrets(t), env.bundle(t)
	tr.setReplicas(standby)
	env.loadBalancer.setBackends(standby.address)
	leader.stop(t)
	eventually(t, "the other replica leads", func() bool { return env.leader(t) != "" && env.leader(t) != holder })
	tr.waitForMore(t, time.Second)
	tr.check(t)
	assert.Equal(t, secrets, env.secrets(t), "it makes no certificates anew")
	assert.Equal(t, bundle, env.bundle(t), "both authorities are still trusted")
}

// rotate does what the documentation of package webhook tells admins to do, until there is a new authority beside the old one.
func (env *environment) rotate(t *testing.T, name string) (before, after corev1.Secret) {
	t.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"issued-at-time":"0"}}}`))
	eventually(t, "there is a new authority", func() bool {
		authorities := env.authorities(t)
		for _, authority := range authorities {
			if authority.Name == name {
				before = authority
			} else {
				after = authority
			}
		}
		// Once more if need be: the secrets manager puts the label right if it is set between two of its looks at it.
		if len(authorities) == 1 && before.Labels["issued-at-time"] != "0" {
			require.NoError(t, env.Client.Patch(t.Context(), before.DeepCopy(), patch))
		}
		return len(authorities) == 2
	})
	return before, after
}

// testCrash kills the only replica, in the middle of the rotation. Its successor shows the same certificate, and serves long before
// it may lead.
func testCrash(t *testing.T, env *environment) {
	env.running[0].stop(t)
	only := env.running[1]
	eventually(t, "somebody leads", func() bool { return env.leader(t) != "" })
	holder, bundle := env.leader(t), env.bundle(t)
	shown, err := handshake(only.address, env.loadBalancer.host, bundle)
	require.NoError(t, err)

	only.kill()
	killed := time.Now()
	_, err = env.webhookCalled(t.Context())
	assert.ErrorContains(t, err, "failed calling webhook", "nothing gets past a webhook that nobody serves")
	other := golden(t, "1.36", "kube-controller-manager.before", env.reference)
	assert.NoError(t, env.Client.Create(t.Context(), other, client.DryRunAll), "what the webhooks are not for")

	successor := env.start(t, controller.Options{LeaderElection: true}, env.byURL()...)
	env.loadBalancer.setBackends(successor.address)
	env.waitForCalls(t)
	t.Logf("webhooks were not served for %s", time.Since(killed).Round(10*time.Millisecond))
	assert.Less(t, time.Since(killed), 10*time.Second)
	assert.Equal(t, holder, env.leader(t), "the dead one is still the leader to all others")
	now, err := handshake(successor.address, env.loadBalancer.host, bundle)
	require.NoError(t, err)
	assert.Equal(t, shown.SerialNumber, now.SerialNumber)
}
