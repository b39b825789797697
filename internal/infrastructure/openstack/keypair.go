package openstack

import (
	"context"
	"fmt"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// keyPairAction is the action for a key pair.
type keyPairAction int

const (
	keyPairKeep keyPairAction = iota
	keyPairCreate
	keyPairReplace
	keyPairRemove
	keyPairRefuse
)

// keyPairName is the name of new key pairs. Nova's key pairs have no description, so the name contains the owner.
func keyPairName(technicalID, uid string) string {
	return technicalID + "-" + uid[:min(8, len(uid))]
}

// keyPairFacts determine the action for a key pair.
type keyPairFacts struct {
	// wanted is the shoot's public key; empty if SSH access is disabled.
	wanted string
	// observed is the key pair with the name; nil if there is none.
	observed *cloudopenstack.KeyPair
	// recorded is true if the recorded state names the key pair as the shoot's own.
	recorded bool
	// digests are those of the keys one of which was written last; none if unknown.
	digests []string
}

// decideKeyPair returns the action. The shoot's own key pair has the shoot's public key, or the one that was written last, or was recorded by the upstream
// extension. Any other with the name is foreign.
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

// owned reports whether a key pair with another public key than the shoot's belongs to the shoot.
func (f keyPairFacts) owned() bool {
	if len(f.digests) == 0 {
		return f.recorded
	}
	return slices.Contains(f.digests, keyDigest(f.observed.PublicKey))
}

// ensureKeyPair makes the key pair have the shoot's public key, or removes it if SSH access is disabled.
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

// replaceKeyPair first saves that the key pair may have the old key or the new one, depending on the last successful request.
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

// addKeyDigest adds a key to those that the key pair may have. It is saved with the next intents.
func (rec *reconciliation) addKeyDigest(name, publicKey string) {
	rec.state.SetFact(keyKeyPairDigest, parseKeyRecord(rec.state.Fact(keyKeyPairDigest)).with(name, publicKey).String())
}

func (rec *reconciliation) recordKeyPair(name string) {
	if rec.plan.keyPair.publicKey == "" {
		rec.updateState(func(s *state) { s.Forget(kindKeyPair, keyKeyPairDigest) })
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

// adoptExistingKeyPair accepts a key pair that did not exist when it was looked for, if it has the shoot's key.
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
