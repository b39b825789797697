package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
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
		"one with the key that was put there last is replaced":   {keyPairFacts{wanted: ours, seen: holding(theirs), recorded: true, digest: keyDigest(theirs)}, keyPairReplace},
		"one that somebody exchanged is refused":                 {keyPairFacts{wanted: ours, seen: holding(theirs), recorded: true, digest: keyDigest(ours)}, keyPairRefuse},
		"one that the upstream extension recorded is replaced":   {keyPairFacts{wanted: ours, seen: holding(theirs), recorded: true}, keyPairReplace},
		"ours is removed when SSH access is off":                 {keyPairFacts{seen: holding(ours), recorded: true, digest: keyDigest(ours)}, keyPairRemove},
		"a foreign one is not removed when SSH access is off":    {keyPairFacts{seen: holding(theirs)}, keyPairRefuse},
		"one of a crashed attempt before a rotation is replaced": {keyPairFacts{wanted: ours, seen: holding(theirs), digest: keyDigest(theirs)}, keyPairReplace},
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
