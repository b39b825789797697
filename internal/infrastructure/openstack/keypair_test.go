package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestDecideKeyPair(t *testing.T) {
	const ours, theirs = "ssh-rsa OURS shoot", "ssh-rsa THEIRS"
	holding := func(key string) *cloudopenstack.KeyPair { return &cloudopenstack.KeyPair{PublicKey: key} }
	for name, test := range map[string]struct {
		facts keyPairFacts
		want  keyPairAction
	}{
		"none there is created":                                  {keyPairFacts{wanted: ours}, keyPairCreate},
		"none wanted and none there is fine":                     {keyPairFacts{}, keyPairKeep},
		"one with our key is kept":                               {keyPairFacts{wanted: ours, observed: holding(ours)}, keyPairKeep},
		"the comment behind the key does not matter":             {keyPairFacts{wanted: ours, observed: holding("ssh-rsa OURS\n")}, keyPairKeep},
		"one with another key is refused":                        {keyPairFacts{wanted: ours, observed: holding(theirs)}, keyPairRefuse},
		"one with the key that was put there last is replaced":   {keyPairFacts{wanted: ours, observed: holding(theirs), recorded: true, digests: []string{keyDigest(theirs)}}, keyPairReplace},
		"one that somebody exchanged is refused":                 {keyPairFacts{wanted: ours, observed: holding(theirs), recorded: true, digests: []string{keyDigest(ours)}}, keyPairRefuse},
		"one that the upstream extension recorded is replaced":   {keyPairFacts{wanted: ours, observed: holding(theirs), recorded: true}, keyPairReplace},
		"ours is removed when SSH access is off":                 {keyPairFacts{observed: holding(ours), recorded: true, digests: []string{keyDigest(ours)}}, keyPairRemove},
		"a foreign one is not removed when SSH access is off":    {keyPairFacts{observed: holding(theirs)}, keyPairRefuse},
		"one of a crashed attempt before a rotation is replaced": {keyPairFacts{wanted: ours, observed: holding(theirs), digests: []string{keyDigest(theirs)}}, keyPairReplace},
		"one that holds the old or the new key is replaced": {
			keyPairFacts{wanted: "ssh-rsa NEW", observed: holding(theirs), recorded: true, digests: []string{keyDigest(ours), keyDigest(theirs)}}, keyPairReplace,
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, decideKeyPair(test.facts))
		})
	}
}

func TestKeyPairName(t *testing.T) {
	assert.Equal(t, "shoot--dev--one-5f0c9a52", keyPairName("shoot--dev--one", "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11"))
	assert.Equal(t, "shoot--dev--one-abc", keyPairName("shoot--dev--one", "abc"))
}

func TestKeyRecord(t *testing.T) {
	record := keyRecord{}.with("a", "ssh-rsa ONE").with("a", "ssh-rsa TWO comment").with("a", "ssh-rsa ONE")
	assert.Equal(t, record, parseKeyRecord(record.String()))
	assert.Equal(t, []string{keyDigest("ssh-rsa ONE"), keyDigest("ssh-rsa TWO")}, record.of("a"))
	assert.Empty(t, record.of("b"))
	assert.Equal(t, []string{keyDigest("ssh-rsa ONE")}, record.with("b", "ssh-rsa ONE").of("b"), "another name begins anew")
	assert.Empty(t, parseKeyRecord("").of(""))
}

func TestEnsureKeyPair_LostReplacement(t *testing.T) {
	post := wire.Match{Service: services.Nova, Method: "POST"}
	t.Run("one whose replacement got lost is still the shoot's after another rotation", func(t *testing.T) {
		env := newEnvironment(t)
		empty := env.resources()
		env.mustReconcile()
		env.infra.Spec.SSHPublicKey = []byte(otherKey)
		env.cloud.Inject(wire.Fault{Match: post, Drop: wire.DropAfter})
		_, err := env.reconcile()
		require.Error(t, err)
		require.True(t, samePublicKey(otherKey, env.resources().KeyPairs[0].PublicKey))
		env.infra.Spec.SSHPublicKey = []byte(sshKey)
		env.mustReconcile()
		assert.True(t, samePublicKey(sshKey, env.resources().KeyPairs[0].PublicKey))
		env.mustDelete()
		env.assertUnchanged(empty)
	})
	t.Run("one whose replacement got lost goes with the shoot, whatever its key is by then", func(t *testing.T) {
		env := newEnvironment(t)
		empty := env.resources()
		env.mustReconcile()
		env.infra.Spec.SSHPublicKey = []byte(otherKey)
		env.cloud.Inject(wire.Fault{Match: post, Drop: wire.DropAfter})
		_, err := env.reconcile()
		require.Error(t, err)
		env.infra.Spec.SSHPublicKey = nil
		env.mustDelete()
		env.assertUnchanged(empty)
	})
	t.Run("one that turns up late with a former key is replaced", func(t *testing.T) {
		env := newEnvironment(t)
		env.cloud.Inject(wire.Fault{Match: post, Status: 504})
		_, err := env.reconcile()
		require.Error(t, err)
		env.infra.Spec.SSHPublicKey = []byte(otherKey)
		landed := false
		env.cloud.SetHook(func(event wire.Event) wire.HookResult {
			if event.Phase == wire.Before && post.Matches(event.Call) && !landed {
				landed = true
				env.plant("os-keypairs", fake.Attrs{"name": keyPairName(technicalID, shootUID), "public_key": sshKey})
			}
			return wire.Proceed
		})
		_, err = env.reconcile()
		require.Equal(t, cloud.Conflict, cloud.KindOf(err), "it is no error of the user's: %v", err)
		env.mustReconcile()
		require.Len(t, env.resources().KeyPairs, 1)
		assert.True(t, samePublicKey(otherKey, env.resources().KeyPairs[0].PublicKey))
	})
	t.Run("one under the name of today goes with an adopted shoot if it holds the shoot's key", func(t *testing.T) {
		env, _ := upstreamShoot(t)
		env.plant("os-keypairs", fake.Attrs{"name": keyPairName(technicalID, shootUID), "public_key": sshKey})
		env.mustDelete()
		assert.Empty(t, env.resources().KeyPairs)
	})
	t.Run("and stays if it does not", func(t *testing.T) {
		env, _ := upstreamShoot(t)
		env.plant("os-keypairs", fake.Attrs{"name": keyPairName(technicalID, shootUID), "public_key": otherKey})
		env.mustDelete()
		assert.Len(t, env.resources().KeyPairs, 1)
	})
	t.Run("the digest of one name says nothing about another", func(t *testing.T) {
		env, _ := upstreamShoot(t)
		state := env.state()
		state[keyKeyPairDigest] = keyRecord{}.with(keyPairName(technicalID, shootUID), "ssh-rsa FORMER").String()
		env.infra.Status.State = env.marshal(map[string]any{
			"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState", "data": state,
		})
		env.infra.Spec.SSHPublicKey = []byte(otherKey)
		env.mustReconcile()
		require.Len(t, env.resources().KeyPairs, 1)
		assert.True(t, samePublicKey(otherKey, env.resources().KeyPairs[0].PublicKey))
	})
}
