package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/record"
	"github.com/trellis-garden/trellis/internal/contract"
)

// mountTargetKey is by what a mount target is recorded: upstream's driver has the same parts. The group is empty in a subnet of the user.
type mountTargetKey struct{ fileSystemID, subnetID, groupID string }

func (k mountTargetKey) kind() kind {
	return kind(awsv1alpha1.MountTargetStateKey(k.fileSystemID, k.subnetID, k.groupID))
}

// recordedMountTargets are the IDs of the recorded mount targets.
func (rec *reconciliation) recordedMountTargets() map[mountTargetKey]string {
	all := map[mountTargetKey]string{}
	for name, id := range rec.state.infrastructureState().MountTargets() {
		parts := append(strings.Split(name, "_"), "", "") // IDs have no underscores
		all[mountTargetKey{parts[0], parts[1], parts[2]}] = id
	}
	return all
}

// isOwnMountTarget reports whether the shoot has created a mount target of a file system of the user. Mount targets have no tags: the shoot's are recorded, in a
// subnet of its own, or in a subnet of the user for which a creation was intended when there was none.
func (rec *reconciliation) isOwnMountTarget(target cloudaws.MountTarget) bool {
	for key, id := range rec.recordedMountTargets() {
		if id == target.ID {
			return rec.state.Owner(key.kind()) != record.Given
		}
	}
	if slices.Contains(rec.toDelete.subnets, target.SubnetID) {
		return true
	}
	key := mountTargetKey{fileSystemID: target.FileSystemID, subnetID: target.SubnetID}
	return rec.state.MayHaveMore(key.kind())
}

// observedMountTarget returns the mount target through which nodes of a zone reach the file system: there is one in a zone at most.
func (rec *reconciliation) observedMountTarget(z zoneSpec) *cloudaws.MountTarget {
	i := slices.IndexFunc(rec.observed.mountTargets, func(t cloudaws.MountTarget) bool { return t.Zone == z.name })
	if i < 0 {
		return nil
	}
	return &rec.observed.mountTargets[i]
}

// addMissingMountTargets adds what will be created in subnets of the user. A mount target there that exists and is not recorded is the user's.
func (rec *reconciliation) addMissingMountTargets(add func(k kind, name string, isWanted, exists bool)) {
	if !rec.plan.fileSystem.enabled || !rec.plan.givenSubnets {
		return
	}
	for _, z := range rec.plan.zones {
		key := mountTargetKey{fileSystemID: rec.plan.fileSystem.givenID, subnetID: z.given[workers]}
		add(key.kind(), rec.plan.technicalID, rec.observedMountTarget(z) == nil, false)
	}
}

// ensureMountTargets ensures a mount target in each zone, and waits until all work, with one request for all.
func (rec *reconciliation) ensureMountTargets(ctx context.Context) error {
	targets := make([]cloudaws.MountTarget, len(rec.plan.zones))
	steps := make([]func() error, 0, len(rec.plan.zones))
	for i, z := range rec.plan.zones {
		steps = append(steps, func() (err error) {
			targets[i], err = rec.ensureMountTarget(ctx, z)
			return err
		})
	}
	if err := contract.InParallel(steps...); err != nil {
		return err
	}
	rec.forgetFormerMountTargets(targets)
	return rec.waitForMountTargets(ctx, targets)
}

// mountTargetKey returns by what the mount target of a zone is recorded.
func (rec *reconciliation) mountTargetKey(z zoneSpec) mountTargetKey {
	key := mountTargetKey{fileSystemID: rec.fileSystem.ID, subnetID: rec.zone(z.name).subnet(workers)}
	if !rec.plan.givenSubnets {
		key.groupID = rec.nodesGroupID
	}
	return key
}

// ensureMountTarget returns the mount target of a zone. One that the shoot has not created is used as it is.
func (rec *reconciliation) ensureMountTarget(ctx context.Context, z zoneSpec) (cloudaws.MountTarget, error) {
	key := rec.mountTargetKey(z)
	target := rec.observedMountTarget(z)
	if target == nil {
		return rec.createMountTarget(ctx, z, key)
	}
	k := key.kind()
	recorded := rec.state.ID(k) == target.ID
	isOwn := recorded && rec.state.Owner(k) != record.Given ||
		!recorded && target.SubnetID == key.subnetID && (!rec.plan.givenSubnets || rec.state.MayHaveMore(k))
	if !isOwn {
		rec.recordGiven(k, target.ID)
		return *target, nil
	}
	if !recorded && key.groupID != "" {
		if err := rec.ensureMountTargetGroup(ctx, target.ID, key.groupID); err != nil {
			return *target, err
		}
	}
	rec.recordOwn(k, target.ID)
	return *target, nil
}

// ensureMountTargetGroup makes a mount target have the security group of nodes. It is recorded with its group, so that this is done once.
func (rec *reconciliation) ensureMountTargetGroup(ctx context.Context, id, groupID string) error {
	groups, err := rec.cloud.GetMountTargetGroups(ctx, id)
	if err != nil {
		return fmt.Errorf("reading the security groups of mount target %s: %w", id, err)
	}
	if slices.Equal(groups, []string{groupID}) {
		return nil
	}
	return wrap(rec.cloud.SetMountTargetGroups(ctx, id, []string{groupID}), "setting the security group of mount target "+id)
}

func (rec *reconciliation) createMountTarget(ctx context.Context, z zoneSpec, key mountTargetKey) (cloudaws.MountTarget, error) {
	wanted := cloudaws.MountTargetCreate{FileSystemID: key.fileSystemID, SubnetID: key.subnetID, AddressType: rec.plan.mountTargetAddresses()}
	if key.groupID != "" {
		wanted.GroupIDs = []string{key.groupID}
	}
	var created cloudaws.MountTarget
	_, err := rec.create(key.kind(), "mount target of zone "+z.name, true, func() (string, error) { // a zone has one
		var err error
		created, err = rec.cloud.CreateMountTarget(ctx, wanted)
		if cloudaws.CodeOf(err) == "MountTargetConflict" {
			created, err = rec.conflictingMountTarget(ctx, key)
		}
		return created.ID, err
	})
	return created, err
}

// conflictingMountTarget finds the mount target that an earlier attempt has created, whose response was lost.
func (rec *reconciliation) conflictingMountTarget(ctx context.Context, key mountTargetKey) (cloudaws.MountTarget, error) {
	found, err := rec.cloud.ListMountTargets(ctx, key.fileSystemID)
	if err != nil {
		return cloudaws.MountTarget{}, err
	}
	i := slices.IndexFunc(found, func(t cloudaws.MountTarget) bool { return t.SubnetID == key.subnetID })
	if i < 0 {
		return cloudaws.MountTarget{}, cloud.Errorf(cloud.Unavailable, "elastic file system %s has another mount target in the zone since just now", key.fileSystemID)
	}
	return found[i], nil
}

// mountTargetAddresses are of the same families as those of nodes.
func (p *plan) mountTargetAddresses() cloudaws.AddressType {
	switch {
	case p.ipv4 && p.ipv6:
		return cloudaws.DualStack
	case p.ipv6:
		return cloudaws.IPv6Only
	default:
		return ""
	}
}

// forgetFormerMountTargets removes records by other keys of what is recorded now, and of what is gone.
func (rec *reconciliation) forgetFormerMountTargets(current []cloudaws.MountTarget) {
	keys := map[mountTargetKey]bool{}
	for _, z := range rec.plan.zones {
		keys[rec.mountTargetKey(z)] = true
	}
	rec.updateState(func(s *state) {
		for key, id := range rec.recordedMountTargets() {
			isThis := func(t cloudaws.MountTarget) bool { return t.ID == id }
			isFormer := slices.ContainsFunc(current, isThis) || !slices.ContainsFunc(rec.observed.mountTargets, isThis)
			if !keys[key] && key.fileSystemID == rec.fileSystem.ID && isFormer {
				s.Forget(key.kind())
				s.ClearUncertain(key.kind())
			}
		}
	})
}

func (rec *reconciliation) waitForMountTargets(ctx context.Context, targets []cloudaws.MountTarget) error {
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		if !slices.ContainsFunc(targets, func(t cloudaws.MountTarget) bool { return t.State != cloudaws.FileAvailable }) {
			return "", nil
		}
		found, err := rec.cloud.ListMountTargets(ctx, rec.fileSystem.ID)
		if err != nil {
			return "", fmt.Errorf("reading the mount targets of elastic file system %s: %w", rec.fileSystem.ID, err)
		}
		for _, target := range targets {
			i := slices.IndexFunc(found, func(t cloudaws.MountTarget) bool { return t.ID == target.ID })
			if i < 0 {
				return fmt.Sprintf("mount target %s is not listed yet", target.ID), nil
			}
			if reason, err := rec.checkMountTarget(ctx, found[i]); reason != "" || err != nil {
				return reason, err
			}
		}
		return "", nil
	})
}

// checkMountTarget returns what a mount target waits for. One of the shoot that has failed is deleted, so that the next reconciliation creates another one.
func (rec *reconciliation) checkMountTarget(ctx context.Context, target cloudaws.MountTarget) (reason string, err error) {
	switch target.State {
	case cloudaws.FileAvailable, cloudaws.FileUpdating:
		return "", nil
	case cloudaws.FileCreating:
		return fmt.Sprintf("mount target %s of zone %s is %s", target.ID, target.Zone, target.State), nil
	case cloudaws.FileDeleting, cloudaws.FileDeleted:
		return "", cloud.Errorf(cloud.Unavailable, "mount target %s of zone %s is being deleted; once it is gone, the next reconciliation creates another one",
			target.ID, target.Zone)
	}
	if !rec.isOwnMountTarget(target) {
		return "", cloud.Errorf(cloud.Configuration, "elasticFileSystem.id: mount target %s of zone %s is in the state %q: delete it", target.ID, target.Zone, target.State)
	}
	if err := ignoreMissing(rec.cloud.DeleteMountTarget(ctx, target.ID), "deleting mount target "+target.ID); err != nil {
		return "", err
	}
	return "", cloud.Errorf(cloud.Unavailable, "mount target %s of zone %s has failed and was deleted; the next reconciliation creates another one", target.ID, target.Zone)
}

// deleteMountTargets deletes the mount targets of a file system that match, and waits until they are gone: until then, their interfaces are in use.
func (rec *reconciliation) deleteMountTargets(ctx context.Context, fileSystemID string, matches func(cloudaws.MountTarget) bool) error {
	list := func(ctx context.Context) ([]cloudaws.MountTarget, error) {
		found, err := rec.cloud.ListMountTargets(ctx, fileSystemID)
		found = slices.DeleteFunc(found, func(t cloudaws.MountTarget) bool { return !matches(t) || t.State == cloudaws.FileDeleted })
		return found, wrap(err, "reading the mount targets of elastic file system "+fileSystemID)
	}
	found, err := list(ctx)
	if err != nil || len(found) == 0 {
		return err
	}
	steps := make([]func() error, 0, len(found))
	for _, target := range found {
		if target.State != cloudaws.FileDeleting {
			steps = append(steps, func() error {
				return ignoreMissing(rec.cloud.DeleteMountTarget(ctx, target.ID), "deleting mount target "+target.ID)
			})
		}
	}
	if err := contract.InParallel(steps...); err != nil {
		return err
	}
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		found, err := list(ctx)
		if err != nil || len(found) == 0 {
			return "", err
		}
		return fmt.Sprintf("mount target %s is being deleted", found[0].ID), nil
	})
}
