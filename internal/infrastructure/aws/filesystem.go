package aws

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/record"
	"github.com/trellis-garden/trellis/internal/contract"
)

const kindFileSystem kind = awsv1alpha1.StateKeyElasticFileSystem

// tagFileSystem marks file systems that upstream's driver or this one has created.
const tagFileSystem = "managed-by-gardener"

// filePort is the port of NFS, by which nodes reach mount targets.
const filePort = 2049

// fileSystemSpec says whether the shoot has an elastic file system.
type fileSystemSpec struct {
	enabled bool
	// givenID is the user's file system; empty if the shoot has its own.
	givenID string
}

// fileSystemTags are those of the shoot's own file system. They are not EC2's: no other resource has the tag for file systems.
func (p *plan) fileSystemTags() cloudaws.Tags {
	return p.tags(p.technicalID, cloudaws.Tags{tagFileSystem: "true"})
}

// recordedFileSystem is the ID of the recorded file system that the shoot owns, or an empty string. Upstream's driver records no owner.
func (rec *reconciliation) recordedFileSystem() string {
	id := rec.state.ID(kindFileSystem)
	if rec.state.Owner(kindFileSystem) == record.Given || id == rec.plan.fileSystem.givenID {
		return ""
	}
	return id
}

// observeFileSystem reads the file system that the shoot is to use, with its mount targets: the given or recorded one, or else the one with the shoot's creation
// token. It finds as well the one that a given one replaces.
func (rec *reconciliation) observeFileSystem(ctx context.Context) error {
	given, own := rec.plan.fileSystem.givenID, rec.recordedFileSystem()
	var reads []func() error
	if id := cmp.Or(given, own); id != "" {
		reads = append(reads, func() error { return rec.observeFileSystemWithID(ctx, id) }, func() error { return rec.observeMountTargets(ctx, id) })
	}
	if own == "" && rec.state.ID(kindFileSystem) == "" && !rec.nothingExists {
		reads = append(reads, func() error { return rec.observeFileSystemWithToken(ctx) })
	}
	if given != "" {
		rec.formerFileSystemID = own
	}
	return contract.InParallel(reads...)
}

func (rec *reconciliation) observeFileSystemWithID(ctx context.Context, id string) error {
	found, err := rec.cloud.ListFileSystems(ctx, cloudaws.Filter{IDs: []string{id}})
	switch {
	case err != nil:
		return fmt.Errorf("reading elastic file system %s: %w", id, err)
	case len(found) > 0:
		rec.observed.fileSystem = &found[0]
	case rec.plan.fileSystem.givenID != "":
		return cloud.Errorf(cloud.Configuration, "elasticFileSystem.id: there is no elastic file system %s in region %s", id, rec.plan.region)
	}
	return nil
}

func (rec *reconciliation) observeMountTargets(ctx context.Context, id string) (err error) {
	rec.observed.mountTargets, err = rec.cloud.ListMountTargets(ctx, id)
	return wrap(err, "reading the mount targets of elastic file system "+id)
}

// observeFileSystemWithToken looks for a file system of the shoot that is not recorded.
func (rec *reconciliation) observeFileSystemWithToken(ctx context.Context) error {
	found, err := rec.fileSystemWithToken(ctx)
	switch {
	case err != nil || found == nil:
		return err
	case rec.plan.fileSystem.givenID == "":
		rec.observed.fileSystem = found
		return rec.observeMountTargets(ctx, found.ID)
	case rec.plan.fileSystem.givenID != found.ID:
		rec.formerFileSystemID = found.ID
	}
	return nil
}

// fileSystemWithToken returns the shoot's own file system, or nil: nobody else has the shoot's UID as a creation token, which is fixed.
func (rec *reconciliation) fileSystemWithToken(ctx context.Context) (*cloudaws.FileSystem, error) {
	found, err := rec.cloud.ListFileSystems(ctx, cloudaws.Filter{Name: rec.plan.uid})
	if err != nil {
		return nil, fmt.Errorf("looking for the elastic file system: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// problemsOfFileSystem says why a given file system cannot be used.
func (rec *reconciliation) problemsOfFileSystem() []string {
	system := rec.observed.fileSystem
	if rec.plan.fileSystem.givenID == "" || system == nil {
		return nil
	}
	var problems []string
	if !slices.Contains([]cloudaws.FileState{cloudaws.FileAvailable, cloudaws.FileUpdating, cloudaws.FileCreating}, system.State) {
		problems = append(problems, fmt.Sprintf("elasticFileSystem.id: the elastic file system %s is in the state %q", system.ID, system.State))
	}
	vpcID := rec.plan.vpc.givenID
	if rec.observed.vpc != nil {
		vpcID = rec.observed.vpc.ID
	}
	for _, target := range rec.observed.mountTargets {
		if target.VPCID != vpcID {
			problems = append(problems, fmt.Sprintf("elasticFileSystem.id: the elastic file system %s has mount target %s in VPC %s, and cannot have others in the shoot's VPC: "+
				"delete it, or give another file system", system.ID, target.ID, target.VPCID))
		}
	}
	return problems
}

// ensureFileSystem finds the user's file system, or ensures the shoot's own. Its creation token makes repetitions find the same one.
func (rec *reconciliation) ensureFileSystem(ctx context.Context) error {
	if rec.plan.fileSystem.givenID != "" {
		rec.fileSystem = *rec.observed.fileSystem
		rec.recordGiven(kindFileSystem, rec.fileSystem.ID)
		return nil
	}
	tags := rec.plan.fileSystemTags()
	if system := rec.observed.fileSystem; system != nil {
		rec.fileSystem = *system
		rec.recordOwn(kindFileSystem, system.ID)
		return rec.repairTagsBy(ctx, system.ID, tags, system.Tags, rec.cloud.SetFileSystemTags, rec.cloud.RemoveFileSystemTags)
	}
	_, err := rec.create(kindFileSystem, "elastic file system", true, func() (string, error) {
		created, err := rec.cloud.CreateFileSystem(ctx, rec.plan.uid, tags)
		if cloudaws.CodeOf(err) == "FileSystemAlreadyExists" {
			var found *cloudaws.FileSystem
			if found, err = rec.fileSystemWithToken(ctx); err == nil && found == nil {
				err = cloud.Errorf(cloud.Unavailable, "it exists, and AWS does not list it yet")
			}
			if found != nil {
				created = *found
			}
		}
		rec.fileSystem = created
		return created.ID, err
	})
	return err
}

// waitForFileSystem waits until mount targets can be created.
func (rec *reconciliation) waitForFileSystem(ctx context.Context) error {
	system, isKnown := rec.fileSystem, true
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		if !isKnown {
			found, err := rec.cloud.ListFileSystems(ctx, cloudaws.Filter{IDs: []string{system.ID}})
			if err != nil {
				return "", fmt.Errorf("reading elastic file system %s: %w", system.ID, err)
			}
			if len(found) == 0 {
				return fmt.Sprintf("elastic file system %s is not listed yet", system.ID), nil
			}
			system = found[0]
		}
		isKnown = false
		switch system.State {
		case cloudaws.FileAvailable, cloudaws.FileUpdating:
			return "", nil
		case cloudaws.FileCreating:
			return fmt.Sprintf("elastic file system %s is %s", system.ID, system.State), nil
		case cloudaws.FileDeleting, cloudaws.FileDeleted:
			return "", cloud.Errorf(cloud.Unavailable, "elastic file system %s is being deleted; once it is gone, the next reconciliation creates another one", system.ID)
		default:
			return "", cloud.Errorf(cloud.Unknown, "elastic file system %s is in the state %q; delete it, and the next reconciliation creates another one",
				system.ID, system.State)
		}
	})
}

// removeFormerFileSystem deletes the shoot's own file system once the user gives one.
func (rec *reconciliation) removeFormerFileSystem(ctx context.Context) error {
	id := rec.formerFileSystemID
	if id == "" {
		return nil
	}
	if err := rec.deleteFileSystem(ctx, id); err != nil {
		return err
	}
	rec.updateState(func(s *state) {
		s.Forget(kindFileSystem)
		for key := range rec.recordedMountTargets() {
			if key.fileSystemID == id {
				s.Forget(key.kind())
			}
		}
	})
	return nil
}

// deleteFileSystem deletes a file system with all its mount targets, and waits until it is gone.
func (rec *reconciliation) deleteFileSystem(ctx context.Context, id string) error {
	err := contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		if err := rec.deleteMountTargets(ctx, id, func(cloudaws.MountTarget) bool { return true }); err != nil {
			return "", err
		}
		err := rec.cloud.DeleteFileSystem(ctx, id)
		if cloud.KindOf(err) == cloud.InUse {
			return fmt.Sprintf("elastic file system %s has a mount target that AWS does not list", id), nil
		}
		return "", ignoreMissing(err, "deleting elastic file system "+id)
	})
	if err != nil {
		return err
	}
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		found, err := rec.cloud.ListFileSystems(ctx, cloudaws.Filter{IDs: []string{id}})
		if err != nil {
			return "", fmt.Errorf("reading elastic file system %s: %w", id, err)
		}
		if slices.ContainsFunc(found, func(f cloudaws.FileSystem) bool { return f.State != cloudaws.FileDeleted }) {
			return fmt.Sprintf("elastic file system %s is being deleted", id), nil
		}
		return "", nil
	})
}

// removeFileSystem deletes the shoot's own file system, or its mount targets of the user's.
func (rec *reconciliation) removeFileSystem(ctx context.Context) error {
	own := rec.recordedFileSystem()
	if spec := rec.plan.fileSystem; spec.enabled && own == "" && (rec.state.ID(kindFileSystem) == "" || rec.state.MayHaveMore(kindFileSystem)) {
		found, err := rec.fileSystemWithToken(ctx)
		if err != nil {
			return err
		}
		if found != nil && found.ID != spec.givenID {
			own = found.ID
		}
	}
	if own != "" {
		if err := rec.deleteFileSystem(ctx, own); err != nil {
			return err
		}
	}
	given := rec.plan.fileSystem.givenID
	if given == "" && rec.state.Owner(kindFileSystem) == record.Given {
		given = rec.state.ID(kindFileSystem)
	}
	if given == "" {
		return nil
	}
	return rec.deleteMountTargets(ctx, given, rec.isOwnMountTarget)
}
