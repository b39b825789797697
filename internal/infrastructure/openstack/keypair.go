package openstack

import (
	"context"
	"fmt"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// keyPairStep is what to do about the key pair.
type keyPairStep int

const (
	keyPairKeep keyPairStep = iota
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
	// seen is the key pair of the name; nil when there is none.
	seen *cloudopenstack.KeyPair
	// recorded is true when the ledger names the key pair as the shoot's own.
	recorded bool
	// digests are those of the keys one of which was put into the key pair last; none when that is unknown.
	digests []string
}

// keyPairDecision decides. Ours is a key pair that holds the shoot's public key, or the one that was put there last, or
// that the upstream extension recorded. Everything else of the name is somebody else's.
func keyPairDecision(facts keyPairFacts) keyPairStep {
	switch seen := facts.seen; {
	case seen == nil && facts.wanted == "":
		return keyPairKeep
	case seen == nil:
		return keyPairCreate
	case facts.wanted != "" && samePublicKey(seen.PublicKey, facts.wanted):
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
	return slices.Contains(f.digests, keyDigest(f.seen.PublicKey))
}

// ensureKeyPair makes the key pair hold the shoot's public key, or removes it when SSH access is off.
func (p *pass) ensureKeyPair(ctx context.Context) error {
	name := p.effectiveKeyPairName()
	switch keyPairDecision(p.keyPairFacts(name, p.seen.keyPair)) {
	case keyPairCreate:
		return p.createKeyPair(ctx, name)
	case keyPairReplace:
		return p.replaceKeyPair(ctx, name)
	case keyPairRemove:
		if err := p.deleteKeyPair(ctx, name); err != nil {
			return err
		}
	case keyPairRefuse:
		return p.refuseKeyPair(name)
	}
	p.holdKeyPair(name)
	return nil
}

// replaceKeyPair saves first that the key pair may hold the old key or the new one, whichever call is the last to work.
func (p *pass) replaceKeyPair(ctx context.Context, name string) error {
	p.noteKey(name, p.seen.keyPair.PublicKey)
	p.noteKey(name, p.plan.keyPair.publicKey)
	if err := p.intend(ctx, map[kind]string{kindKeyPair: name}); err != nil {
		return err
	}
	if err := p.deleteKeyPair(ctx, name); err != nil {
		return err
	}
	return p.createKeyPair(ctx, name)
}

// noteKey adds a key to those that may be in the key pair. It is saved with the next intents.
func (p *pass) noteKey(name, publicKey string) {
	p.ledger.note(keyKeyPairDigest, parseKeyRecord(p.ledger.fact(keyKeyPairDigest)).with(name, publicKey).String())
}

func (p *pass) keyPairFacts(name string, seen *cloudopenstack.KeyPair) keyPairFacts {
	return keyPairFacts{
		wanted: p.plan.keyPair.publicKey, seen: seen,
		recorded: p.ledger.id(kindKeyPair) == name, digests: parseKeyRecord(p.ledger.fact(keyKeyPairDigest)).of(name),
	}
}

// effectiveKeyPairName is the recorded name, which machine classes hold already, or else the new one.
func (p *pass) effectiveKeyPairName() string {
	if recorded := p.ledger.id(kindKeyPair); recorded != "" {
		return recorded
	}
	return p.plan.keyPair.name
}

func (p *pass) holdKeyPair(name string) {
	if p.plan.keyPair.publicKey == "" {
		p.record(func(l *ledger) { l.forget(kindKeyPair, keyKeyPairDigest) })
		return
	}
	p.hold(kindKeyPair, name, own, map[string]string{keyKeyPairDigest: keyRecord{}.with(name, p.plan.keyPair.publicKey).String()})
}

func (p *pass) createKeyPair(ctx context.Context, name string) error {
	_, err := p.cloud.CreateKeyPair(ctx, name, p.plan.keyPair.publicKey)
	if cloud.KindOf(err) == cloud.Conflict {
		return p.takeExistingKeyPair(ctx, name)
	}
	if err != nil {
		p.notCreated(kindKeyPair, err)
		return fmt.Errorf("creating key pair %q: %w", name, err)
	}
	p.log.Info("Created key pair", "name", name)
	p.holdKeyPair(name)
	return nil
}

// takeExistingKeyPair accepts a key pair that was not there when looked for, if it holds the shoot's key.
func (p *pass) takeExistingKeyPair(ctx context.Context, name string) error {
	found, err := p.cloud.GetKeyPair(ctx, name)
	if err != nil {
		return fmt.Errorf("reading key pair %q: %w", name, err)
	}
	switch keyPairDecision(p.keyPairFacts(name, &found)) {
	case keyPairKeep:
		p.holdKeyPair(name)
		return nil
	case keyPairReplace: // an earlier create took effect late
		return cloud.Errorf(cloud.Conflict, "key pair %q turned up with a former key of the shoot's; it is replaced in the next attempt", name)
	default:
		return p.refuseKeyPair(name)
	}
}

func (p *pass) refuseKeyPair(name string) error {
	if p.plan.keyPair.publicKey == "" {
		return nil // not ours: nothing to remove
	}
	return cloud.Errorf(cloud.Configuration, "key pair %q exists with another public key, and is not known to be this shoot's: "+
		"remove or rename it, in the account of the shoot's credentials", name)
}

func (p *pass) deleteKeyPair(ctx context.Context, name string) error {
	if err := p.cloud.DeleteKeyPair(ctx, name); err != nil && !cloud.IsNotFound(err) {
		return fmt.Errorf("deleting key pair %q: %w", name, err)
	}
	p.log.Info("Deleted key pair", "name", name)
	return nil
}
