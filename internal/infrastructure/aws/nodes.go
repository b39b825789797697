package aws

import (
	"context"
	"crypto/md5" //nolint:gosec // upstream's fingerprint of a public key
	"encoding/hex"
	"fmt"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
)

// nodesGroupDescription is upstream's. A description cannot be changed.
const nodesGroupDescription = "Security group for nodes"

// ensureNodesGroup makes the security group of nodes have its rules. Missing ones are added before superfluous ones are removed, and equal ones are not written.
func (rec *reconciliation) ensureNodesGroup(ctx context.Context) error {
	if rec.plan.nodesGroupID != "" {
		rec.nodesGroupID = rec.plan.nodesGroupID
		rec.recordGiven(kindNodesGroup, rec.nodesGroupID)
		return nil
	}
	tags := rec.plan.tags(rec.plan.nodesName())
	group := rec.observed.nodesGroup
	if group == nil {
		var created cloudaws.SecurityGroup
		if _, err := rec.create(kindNodesGroup, "security group of nodes", false, func() (string, error) {
			var err error
			created, err = rec.cloud.CreateSecurityGroup(ctx, rec.vpcID, rec.plan.nodesName(), nodesGroupDescription, tags)
			return created.ID, err
		}); err != nil {
			return err
		}
		group = &created
	}
	rec.nodesGroupID = group.ID
	rec.recordOwn(kindNodesGroup, group.ID)
	balancers := rec.plan.balancerRanges()
	if rec.plan.givenSubnets {
		balancers = rec.givenRanges
	}
	missing, superfluous := ruleChanges(rec.plan.nodesRules(group.ID, balancers), group.Rules)
	if err := rec.cloud.AddRules(ctx, group.ID, missing); err != nil && cloudaws.CodeOf(err) != "InvalidPermission.Duplicate" {
		return fmt.Errorf("adding rules to security group %s: %w", group.ID, err)
	}
	if err := ignoreMissing(rec.cloud.RemoveRules(ctx, group.ID, superfluous), "removing rules from security group "+group.ID); err != nil {
		return err
	}
	return rec.repairTags(ctx, group.ID, tags, group.Tags)
}

// ensureRole makes the role of nodes exist, and be assumed by instances.
func (rec *reconciliation) ensureRole(ctx context.Context) error {
	name, trust := rec.plan.nodesName(), trustPolicy(rec.plan.region)
	if observed := rec.observed.role; observed != nil {
		rec.roleARN = observed.ARN
		rec.recordRole(name, observed.ARN)
		if samePolicy(observed.TrustPolicy, trust) {
			return nil
		}
		return wrap(rec.cloud.SetTrustPolicy(ctx, name, trust), "setting who may assume the role "+name)
	}
	var created cloudaws.Role
	_, err := rec.create(kindRole, "role "+name, true, func() (string, error) { // its name is unique
		var err error
		created, err = rec.cloud.CreateRole(ctx, name, trust, rec.plan.tags(name))
		if cloud.KindOf(err) == cloud.Conflict {
			created, err = rec.cloud.GetRole(ctx, name)
			err = existsUnseen(err, "role "+name)
		}
		return name, err
	})
	if err != nil {
		return err
	}
	rec.roleARN = created.ARN
	rec.recordRole(name, created.ARN)
	return nil
}

// existsUnseen explains that what exists already is not found: it was created just now.
func existsUnseen(err error, what string) error {
	if cloud.IsNotFound(err) {
		return cloud.Errorf(cloud.Unavailable, "the %s was created just now, and AWS does not show it yet: %w", what, err)
	}
	return err
}

func (rec *reconciliation) recordRole(name, arn string) {
	rec.recordOwn(kindRole, name)
	rec.updateState(func(s *state) { s.SetFact(awsv1alpha1.StateKeyIAMRoleARN, arn) })
}

func (rec *reconciliation) ensurePolicy(ctx context.Context) error {
	name, document := rec.plan.nodesName(), rec.plan.nodesPolicy()
	if !samePolicy(rec.observed.policy, document) {
		if err := rec.cloud.PutRolePolicy(ctx, name, name, document); err != nil {
			return fmt.Errorf("setting the policy of the role %s: %w", name, err)
		}
	}
	rec.recordOwn(kindRolePolicy, name)
	return nil
}

func (rec *reconciliation) ensureProfile(ctx context.Context) error {
	name := rec.plan.nodesName()
	profile := rec.observed.profile
	if profile == nil {
		var created cloudaws.InstanceProfile
		if _, err := rec.create(kindProfile, "instance profile "+name, true, func() (string, error) { // its name is unique
			var err error
			created, err = rec.cloud.CreateInstanceProfile(ctx, name, rec.plan.tags(name))
			if cloud.KindOf(err) == cloud.Conflict {
				created, err = rec.cloud.GetInstanceProfile(ctx, name)
				err = existsUnseen(err, "instance profile "+name)
			}
			return name, err
		}); err != nil {
			return err
		}
		profile = &created
	}
	rec.recordOwn(kindProfile, name)
	switch {
	case len(profile.Roles) == 0:
		err := rec.cloud.AddRoleToProfile(ctx, name, name)
		if cloudaws.CodeOf(err) == "LimitExceeded" { // a profile has one role: the response to an earlier attempt was lost
			return nil
		}
		return wrap(err, "adding the role to the instance profile "+name)
	case profile.Roles[0].Name != name:
		return cloud.Errorf(cloud.Configuration, "the instance profile %s has the role %s, which is not the shoot's: remove it from the profile", name, profile.Roles[0].Name)
	default:
		return nil
	}
}

// ensureKeyPair makes the key pair have the shoot's public key, or removes it if SSH access is disabled. AWS does not return an imported key as it was given, so
// the key that was written last is recorded by a hash, together with AWS' own hash of it.
func (rec *reconciliation) ensureKeyPair(ctx context.Context) error {
	name, observed := rec.plan.keyPairName(), rec.observed.keyPair
	sum := md5.Sum([]byte(rec.plan.publicKey)) //nolint:gosec // upstream's fingerprint of a public key
	wanted := hex.EncodeToString(sum[:])
	if observed != nil {
		if !rec.plan.owns(observed.Tags) && rec.state.ID(kindKeyPair) != name {
			return foreignKeyPair(name)
		}
		isEqual := rec.plan.publicKey != "" && rec.state.Fact(awsv1alpha1.StateKeyKeyPairFingerprint) == observed.Fingerprint &&
			rec.state.Fact(awsv1alpha1.StateKeyKeyPairSpecFingerprint) == wanted
		if isEqual || rec.plan.publicKey != "" && cloudaws.SamePublicKey(observed.PublicKey, rec.plan.publicKey) {
			rec.recordKeyPair(name, observed.Fingerprint, wanted)
			return rec.repairTags(ctx, observed.ID, rec.plan.tags(rec.plan.technicalID), observed.Tags)
		}
		if err := rec.cloud.DeleteKeyPair(ctx, name); err != nil {
			return fmt.Errorf("deleting the key pair %s: %w", name, err)
		}
	}
	if rec.plan.publicKey == "" {
		rec.updateState(func(s *state) {
			s.Forget(kindKeyPair, awsv1alpha1.StateKeyKeyPairFingerprint, awsv1alpha1.StateKeyKeyPairSpecFingerprint)
		})
		return nil
	}
	var created cloudaws.KeyPair
	if _, err := rec.create(kindKeyPair, "key pair "+name, true, func() (string, error) { // its name is unique
		var err error
		created, err = rec.cloud.ImportKeyPair(ctx, name, []byte(rec.plan.publicKey), rec.plan.tags(rec.plan.technicalID))
		if cloud.KindOf(err) == cloud.Conflict {
			err = rec.explainKeyPair(ctx, name, err)
		}
		return name, err
	}); err != nil {
		return err
	}
	rec.recordKeyPair(name, created.Fingerprint, wanted)
	return nil
}

func foreignKeyPair(name string) error {
	return cloud.Errorf(cloud.Configuration, "the key pair %s exists and is not the shoot's: delete or rename it", name)
}

// explainKeyPair returns the reason why a key pair with the name exists that was not there before. The shoot's own is that of a request that was lost.
func (rec *reconciliation) explainKeyPair(ctx context.Context, name string, conflict error) error {
	found, err := rec.cloud.ListKeyPairs(ctx, cloudaws.Filter{Name: name})
	if err != nil {
		return fmt.Errorf("reading the key pair: %w", err)
	}
	if len(found) > 0 && !rec.plan.owns(found[0].Tags) {
		return foreignKeyPair(name)
	}
	return conflict
}

func (rec *reconciliation) recordKeyPair(name, fingerprint, specFingerprint string) {
	rec.recordOwn(kindKeyPair, name)
	rec.updateState(func(s *state) {
		s.SetFact(awsv1alpha1.StateKeyKeyPairFingerprint, fingerprint)
		s.SetFact(awsv1alpha1.StateKeyKeyPairSpecFingerprint, specFingerprint)
	})
}
