package openstack

import (
	"context"
	"fmt"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// keyPairAction is what to do about the key pair.
type keyPairAction int

const (
	keyPairKeep keyPairAction = iota
	keyPairCreate
	keyPairReplace
	keyPairRemove
	keyPairRefuse
)

// keyPairName is the name of new key pairs. Nova's key pairs take no description, so that the name carries the owner.
func keyPairName(technicalID, uid string) string {
	return technicalID + "-" + uid[:min(8, len(uid))]
}

// keyPairFacts is what decides about a key pair.
type keyPairFacts struct {
	// wanted is the shoot's public key; empty when SSH access is off.
	wanted string
	// observed is the key pair of the name; nil when there is none.
	observed *cloudopenstack.KeyPair
	// recorded is true when the recorded state names the key pair as the shoot's own.
	recorded bool
	// digests are those of the keys one of which was put into the key pair last; none when that is unknown.
	digests []string
}

// decideKeyPair decides. Ours is a key pair that holds the shoot's public key, or the one that was put there last, or
// that the upstream extension recorded. Everything else of the name is somebody else's.
func decideKeyPair(facts keyPairFacts) keyPairAction {
	switch observed := facts.observed; {
	case observed == nil && facts.wanted == "":
		return keyPairKeep
	case observed == nil:
		return keyPairCreate
	case facts.wanted != "" && samePublicKey(observed.PublicKey, facts.wanted):
		return keyPairKeep
	case !facts.owned():
		return keyPairRefuse
	case facts.wanted == "":
		return keyPairRemove
	default:
		return keyPairReplace
	}
}

// owned tells whether a key pair with another public key than the shoot's is the shoot's all the same.
func (f keyPairFacts) owned() bool {
	if len(f.digests) == 0 {
		return f.recorded
	}
	return slices.Contains(f.digests, keyDigest(f.observed.PublicKey))
}

// ensureKeyPair makes the key pair hold the shoot's public key, or removes it when SSH access is off.
func (rec *reconciliation) ensureKeyPair(ctx context.Context) error {
	name := rec.effectiveKeyPairName()
	switch decideKeyPair(rec.keyPairFacts(name, rec.observed.keyPair)) {
	case keyPairCreate:
		return rec.createKeyPair(ctx, name)
	case keyPairReplace:
		return rec.replaceKeyPair(ctx, name)
	case keyPairRemove:
		if err := rec.deleteKeyPair(ctx, name); err != nil {
			return err
		}
	case keyPairRefuse:
		return rec.refuseKeyPair(name)
	}
	rec.recordKeyPair(name)
	return nil
}

// replaceKeyPair saves first that the key pair may hold the old key or the new one, whichever call is the last to work.
func (rec *reconciliation) replaceKeyPair(ctx context.Context, name string) error {
	rec.addKeyDigest(name, rec.observed.keyPair.PublicKey)
	rec.addKeyDigest(name, rec.plan.keyPair.publicKey)
	if err := rec.recordIntents(ctx, map[kind]string{kindKeyPair: name}); err != nil {
		return err
	}
	if err := rec.deleteKeyPair(ctx, name); err != nil {
		return err
	}
	return rec.createKeyPair(ctx, name)
}

// addKeyDigest adds a key to those that may be in the key pair. It is saved with the next intents.
func (rec *reconciliation) addKeyDigest(name, publicKey string) {
	rec.state.setFact(keyKeyPairDigest, parseKeyRecord(rec.state.fact(keyKeyPairDigest)).with(name, publicKey).String())
}

func (rec *reconciliation) keyPairFacts(name string, observed *cloudopenstack.KeyPair) keyPairFacts {
	return keyPairFacts{
		wanted: rec.plan.keyPair.publicKey, observed: observed,
		recorded: rec.state.id(kindKeyPair) == name, digests: parseKeyRecord(rec.state.fact(keyKeyPairDigest)).of(name),
	}
}

// effectiveKeyPairName is the recorded name, which machine classes hold already, or else the new one.
func (rec *reconciliation) effectiveKeyPairName() string {
	if recorded := rec.state.id(kindKeyPair); recorded != "" {
		return recorded
	}
	return rec.plan.keyPair.name
}

func (rec *reconciliation) recordKeyPair(name string) {
	if rec.plan.keyPair.publicKey == "" {
		rec.updateState(func(s *state) { s.forget(kindKeyPair, keyKeyPairDigest) })
		return
	}
	rec.recordResource(kindKeyPair, name, own, map[string]string{keyKeyPairDigest: keyRecord{}.with(name, rec.plan.keyPair.publicKey).String()})
}

func (rec *reconciliation) createKeyPair(ctx context.Context, name string) error {
	_, err := rec.cloud.CreateKeyPair(ctx, name, rec.plan.keyPair.publicKey)
	if cloud.KindOf(err) == cloud.Conflict {
		return rec.adoptExistingKeyPair(ctx, name)
	}
	if err != nil {
		rec.recordFailedCreate(kindKeyPair, err)
		return fmt.Errorf("creating key pair %q: %w", name, err)
	}
	rec.log.Info("Created key pair", "name", name)
	rec.recordKeyPair(name)
	return nil
}

// adoptExistingKeyPair accepts a key pair that was not there when looked for, if it holds the shoot's key.
func (rec *reconciliation) adoptExistingKeyPair(ctx context.Context, name string) error {
	found, err := rec.cloud.GetKeyPair(ctx, name)
	if err != nil {
		return fmt.Errorf("reading key pair %q: %w", name, err)
	}
	switch decideKeyPair(rec.keyPairFacts(name, &found)) {
	case keyPairKeep:
		rec.recordKeyPair(name)
		return nil
	case keyPairReplace: // an earlier create took effect late
		return cloud.Errorf(cloud.Conflict, "key pair %q turned up with a former key of the shoot's; it is replaced in the next attempt", name)
	default:
		return rec.refuseKeyPair(name)
	}
}

func (rec *reconciliation) refuseKeyPair(name string) error {
	if rec.plan.keyPair.publicKey == "" {
		return nil // not ours: nothing to remove
	}
	return cloud.Errorf(cloud.Configuration, "key pair %q exists with another public key, and is not known to be this shoot's: "+
		"remove or rename it, in the account of the shoot's credentials", name)
}

func (rec *reconciliation) deleteKeyPair(ctx context.Context, name string) error {
	if err := rec.cloud.DeleteKeyPair(ctx, name); err != nil && !cloud.IsNotFound(err) {
		return fmt.Errorf("deleting key pair %q: %w", name, err)
	}
	rec.log.Info("Deleted key pair", "name", name)
	return nil
}
