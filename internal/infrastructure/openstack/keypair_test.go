package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

func TestKeyPairDecision(t *testing.T) {
	const ours, theirs = "ssh-rsa OURS shoot", "ssh-rsa THEIRS"
	holding := func(key string) *cloudopenstack.KeyPair { return &cloudopenstack.KeyPair{PublicKey: key} }
	for name, test := range map[string]struct {
		facts keyPairFacts
		want  keyPairStep
	}{
		"none there is created":                                  {keyPairFacts{wanted: ours}, keyPairCreate},
		"none wanted and none there is fine":                     {keyPairFacts{}, keyPairKeep},
		"one with our key is kept":                               {keyPairFacts{wanted: ours, seen: holding(ours)}, keyPairKeep},
		"the comment behind the key does not matter":             {keyPairFacts{wanted: ours, seen: holding("ssh-rsa OURS\n")}, keyPairKeep},
		"one with another key is refused":                        {keyPairFacts{wanted: ours, seen: holding(theirs)}, keyPairRefuse},
		"one with the key that was put there last is replaced":   {keyPairFacts{wanted: ours, seen: holding(theirs), recorded: true, digests: []string{keyDigest(theirs)}}, keyPairReplace},
		"one that somebody exchanged is refused":                 {keyPairFacts{wanted: ours, seen: holding(theirs), recorded: true, digests: []string{keyDigest(ours)}}, keyPairRefuse},
		"one that the upstream extension recorded is replaced":   {keyPairFacts{wanted: ours, seen: holding(theirs), recorded: true}, keyPairReplace},
		"ours is removed when SSH access is off":                 {keyPairFacts{seen: holding(ours), recorded: true, digests: []string{keyDigest(ours)}}, keyPairRemove},
		"a foreign one is not removed when SSH access is off":    {keyPairFacts{seen: holding(theirs)}, keyPairRefuse},
		"one of a crashed attempt before a rotation is replaced": {keyPairFacts{wanted: ours, seen: holding(theirs), digests: []string{keyDigest(theirs)}}, keyPairReplace},
		"one that holds the old or the new key is replaced": {
			keyPairFacts{wanted: "ssh-rsa NEW", seen: holding(theirs), recorded: true, digests: []string{keyDigest(ours), keyDigest(theirs)}}, keyPairReplace,
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, keyPairDecision(test.facts))
		})
	}
}

func TestKeyPairNamesCarryTheOwner(t *testing.T) {
	assert.Equal(t, "shoot--dev--one-5f0c9a52", keyPairName("shoot--dev--one", "5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11"))
	assert.Equal(t, "shoot--dev--one-abc", keyPairName("shoot--dev--one", "abc"))
}

func TestKeysAreRecordedWithTheNameOfTheirKeyPair(t *testing.T) {
	record := keyRecord{}.with("a", "ssh-rsa ONE").with("a", "ssh-rsa TWO comment").with("a", "ssh-rsa ONE")
	assert.Equal(t, record, parseKeyRecord(record.String()))
	assert.Equal(t, []string{keyDigest("ssh-rsa ONE"), keyDigest("ssh-rsa TWO")}, record.of("a"))
	assert.Empty(t, record.of("b"))
	assert.Equal(t, []string{keyDigest("ssh-rsa ONE")}, record.with("b", "ssh-rsa ONE").of("b"), "another name begins anew")
	assert.Empty(t, parseKeyRecord("").of(""))
}

func TestKeyPairsInAdversity(t *testing.T) {
	post := wire.Match{Service: wire.Nova, Method: "POST"}
	t.Run("one whose replacement got lost is still the shoot's after another rotation", func(t *testing.T) {
		w := newWorld(t)
		empty := w.there()
		w.mustReconcile()
		w.infra.Spec.SSHPublicKey = []byte(otherKey)
		w.cloud.Inject(wire.Fault{Match: post, Drop: wire.DropAfter})
		_, err := w.reconcile()
		require.Error(t, err)
		require.True(t, samePublicKey(otherKey, w.there().KeyPairs[0].PublicKey))
		w.infra.Spec.SSHPublicKey = []byte(sshKey)
		w.mustReconcile()
		assert.True(t, samePublicKey(sshKey, w.there().KeyPairs[0].PublicKey))
		w.mustDelete()
		w.unchanged(empty)
	})
	t.Run("one whose replacement got lost goes with the shoot, whatever its key is by then", func(t *testing.T) {
		w := newWorld(t)
		empty := w.there()
		w.mustReconcile()
		w.infra.Spec.SSHPublicKey = []byte(otherKey)
		w.cloud.Inject(wire.Fault{Match: post, Drop: wire.DropAfter})
		_, err := w.reconcile()
		require.Error(t, err)
		w.infra.Spec.SSHPublicKey = nil
		w.mustDelete()
		w.unchanged(empty)
	})
	t.Run("one that turns up late with a former key is replaced", func(t *testing.T) {
		w := newWorld(t)
		w.cloud.Inject(wire.Fault{Match: post, Status: 504})
		_, err := w.reconcile()
		require.Error(t, err)
		w.infra.Spec.SSHPublicKey = []byte(otherKey)
		landed := false
		w.cloud.SetHook(func(event wire.Event) wire.Verdict {
			if event.Phase == wire.Before && post.Matches(event.Call) && !landed {
				landed = true
				w.plant("os-keypairs", fake.Attrs{"name": keyPairName(technicalID, shootUID), "public_key": sshKey})
			}
			return wire.Proceed
		})
		_, err = w.reconcile()
		require.Equal(t, cloud.Conflict, cloud.KindOf(err), "it is no mistake of the user's: %v", err)
		w.mustReconcile()
		require.Len(t, w.there().KeyPairs, 1)
		assert.True(t, samePublicKey(otherKey, w.there().KeyPairs[0].PublicKey))
	})
	t.Run("one under the name of today goes with an adopted shoot if it holds the shoot's key", func(t *testing.T) {
		w, _ := upstreamShoot(t)
		w.plant("os-keypairs", fake.Attrs{"name": keyPairName(technicalID, shootUID), "public_key": sshKey})
		w.mustDelete()
		assert.Empty(t, w.there().KeyPairs)
	})
	t.Run("and stays if it does not", func(t *testing.T) {
		w, _ := upstreamShoot(t)
		w.plant("os-keypairs", fake.Attrs{"name": keyPairName(technicalID, shootUID), "public_key": otherKey})
		w.mustDelete()
		assert.Len(t, w.there().KeyPairs, 1)
	})
	t.Run("the digest of one name says nothing about another", func(t *testing.T) {
		w, _ := upstreamShoot(t)
		state := w.state()
		state[keyKeyPairDigest] = keyRecord{}.with(keyPairName(technicalID, shootUID), "ssh-rsa FORMER").String()
		w.infra.Status.State = w.marshal(map[string]any{
			"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState", "data": state,
		})
		w.infra.Spec.SSHPublicKey = []byte(otherKey)
		w.mustReconcile()
		require.Len(t, w.there().KeyPairs, 1)
		assert.True(t, samePublicKey(otherKey, w.there().KeyPairs[0].PublicKey))
	})
}
