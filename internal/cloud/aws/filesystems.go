package aws

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/efs"
	"github.com/aws/aws-sdk-go-v2/service/efs/types"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// FileSystem is an elastic file system. Nodes reach it through a mount target in their zone.
type FileSystem struct {
	ID string
	// Token is the creation token: unique in an account and region, and fixed for ever.
	Token     string
	State     FileState
	Encrypted bool
	Tags      Tags
}

// MountTarget is a network interface for a file system. There is one at most in each zone, and all are in one VPC.
type MountTarget struct {
	ID, FileSystemID, SubnetID, VPCID, Zone string
	State                                   FileState
}

// FileState is the state of a file system or a mount target.
type FileState string

// The states. A mount target can be created once its file system is available. One with an error never becomes available.
const (
	FileCreating  = FileState(types.LifeCycleStateCreating)
	FileAvailable = FileState(types.LifeCycleStateAvailable)
	FileUpdating  = FileState(types.LifeCycleStateUpdating)
	FileDeleting  = FileState(types.LifeCycleStateDeleting)
	FileDeleted   = FileState(types.LifeCycleStateDeleted)
	FileError     = FileState(types.LifeCycleStateError)
)

// AddressType says of which families the addresses of a mount target are. Empty means IPv4 alone.
type AddressType string

// The address types.
const (
	IPv6Only  = AddressType(types.IpAddressTypeIpv6Only)
	DualStack = AddressType(types.IpAddressTypeDualStack)
)

// MountTargetCreate is the request for a new mount target.
type MountTargetCreate struct {
	FileSystemID, SubnetID string
	// GroupIDs are the default group of the VPC if there are none.
	GroupIDs    []string
	AddressType AddressType
}

// efsPage is the number of elements in a page, which is AWS' maximum for mount targets.
const efsPage = 100

func efsRead(name string, about ...string) operation {
	return operation{service: "elasticfilesystem", name: name, effect: reads, about: about}
}

// efsChange is for creations, too: tokens are unique, and mount targets in their zones, so that a repetition fails with cloud.Conflict.
func efsChange(name string, about ...string) operation {
	return operation{service: "elasticfilesystem", name: name, effect: settles, about: about}
}

func fileSystemOf(f *types.FileSystemDescription) FileSystem {
	return FileSystem{
		ID: aws.ToString(f.FileSystemId), Token: aws.ToString(f.CreationToken), State: FileState(f.LifeCycleState), Encrypted: aws.ToBool(f.Encrypted),
		Tags: efsTagsOf(f.Tags),
	}
}

func mountTargetOf(t *types.MountTargetDescription) MountTarget {
	return MountTarget{
		ID: aws.ToString(t.MountTargetId), FileSystemID: aws.ToString(t.FileSystemId), SubnetID: aws.ToString(t.SubnetId), VPCID: aws.ToString(t.VpcId),
		Zone: aws.ToString(t.AvailabilityZoneName), State: FileState(t.LifeCycleState),
	}
}

// ListFileSystems returns the file system with the one ID or the name of the filter, which is its creation token, or all without both.
func (s *Session) ListFileSystems(ctx context.Context, filter Filter) ([]FileSystem, error) {
	var id, token *string
	if len(filter.IDs) > 0 {
		id = aws.String(filter.IDs[0])
	}
	if filter.Name != "" {
		token = aws.String(filter.Name)
	}
	found, err := listAll(ctx, s, efsRead("DescribeFileSystems", filter.IDs...), s.efs.DescribeFileSystems, func(marker *string) *efs.DescribeFileSystemsInput {
		return &efs.DescribeFileSystemsInput{FileSystemId: id, CreationToken: token, Marker: marker}
	}, func(page *efs.DescribeFileSystemsOutput) ([]FileSystem, *string) {
		return convert(page.FileSystems, fileSystemOf), page.NextMarker
	})
	if cloud.IsNotFound(err) {
		return nil, nil
	}
	return found, err
}

// CreateFileSystem starts the creation of an encrypted file system. It fails with cloud.Conflict if one has the token.
func (s *Session) CreateFileSystem(ctx context.Context, token string, tags Tags) (FileSystem, error) {
	output, err := invoke(ctx, s, efsChange("CreateFileSystem"), s.efs.CreateFileSystem, &efs.CreateFileSystemInput{
		CreationToken: aws.String(token), Encrypted: aws.Bool(true), Tags: efsTags(tags),
	})
	if err != nil {
		return FileSystem{}, err
	}
	s.created.add(aws.ToString(output.FileSystemId))
	return FileSystem{
		ID: aws.ToString(output.FileSystemId), Token: aws.ToString(output.CreationToken), State: FileState(output.LifeCycleState),
		Encrypted: aws.ToBool(output.Encrypted), Tags: efsTagsOf(output.Tags),
	}, nil
}

// DeleteFileSystem starts the deletion of a file system. It fails with cloud.InUse while it has mount targets.
func (s *Session) DeleteFileSystem(ctx context.Context, id string) error {
	_, err := invoke(ctx, s, efsChange("DeleteFileSystem", id), s.efs.DeleteFileSystem, &efs.DeleteFileSystemInput{FileSystemId: aws.String(id)})
	if err == nil {
		s.created.remove(id)
	}
	return err
}

// SetFileSystemTags adds tags to a file system, or changes their values.
func (s *Session) SetFileSystemTags(ctx context.Context, id string, tags Tags) error {
	_, err := invoke(ctx, s, efsChange("TagResource", id), s.efs.TagResource, &efs.TagResourceInput{ResourceId: aws.String(id), Tags: efsTags(tags)})
	return err
}

// RemoveFileSystemTags removes tags from a file system, whatever their values are.
func (s *Session) RemoveFileSystemTags(ctx context.Context, id string, keys []string) error {
	_, err := invoke(ctx, s, efsChange("UntagResource", id), s.efs.UntagResource, &efs.UntagResourceInput{ResourceId: aws.String(id), TagKeys: keys})
	return err
}

// ListMountTargets returns the mount targets of a file system. One that does not exist has none.
func (s *Session) ListMountTargets(ctx context.Context, fileSystemID string) ([]MountTarget, error) {
	found, err := listAll(ctx, s, efsRead("DescribeMountTargets", fileSystemID), s.efs.DescribeMountTargets, func(marker *string) *efs.DescribeMountTargetsInput {
		return &efs.DescribeMountTargetsInput{FileSystemId: aws.String(fileSystemID), MaxItems: aws.Int32(efsPage), Marker: marker}
	}, func(page *efs.DescribeMountTargetsOutput) ([]MountTarget, *string) {
		return convert(page.MountTargets, mountTargetOf), page.NextMarker
	})
	if cloud.IsNotFound(err) {
		return nil, nil
	}
	return found, err
}

// CreateMountTarget starts the creation of a mount target. It fails with cloud.Conflict if the file system has one in the zone of the subnet, or in another VPC.
func (s *Session) CreateMountTarget(ctx context.Context, wanted MountTargetCreate) (MountTarget, error) {
	about := append([]string{wanted.FileSystemID, wanted.SubnetID}, wanted.GroupIDs...)
	output, err := invoke(ctx, s, efsChange("CreateMountTarget", about...), s.efs.CreateMountTarget, &efs.CreateMountTargetInput{
		FileSystemId: aws.String(wanted.FileSystemID), SubnetId: aws.String(wanted.SubnetID), SecurityGroups: wanted.GroupIDs,
		IpAddressType: types.IpAddressType(wanted.AddressType),
	})
	if err != nil {
		return MountTarget{}, err
	}
	return MountTarget{
		ID: aws.ToString(output.MountTargetId), FileSystemID: aws.ToString(output.FileSystemId), SubnetID: aws.ToString(output.SubnetId),
		VPCID: aws.ToString(output.VpcId), Zone: aws.ToString(output.AvailabilityZoneName), State: FileState(output.LifeCycleState),
	}, nil
}

// DeleteMountTarget starts the deletion of a mount target. Its interface is in use until it is gone.
func (s *Session) DeleteMountTarget(ctx context.Context, id string) error {
	_, err := invoke(ctx, s, efsChange("DeleteMountTarget"), s.efs.DeleteMountTarget, &efs.DeleteMountTargetInput{MountTargetId: aws.String(id)})
	return err
}

// GetMountTargetGroups returns the IDs of the security groups of a mount target.
func (s *Session) GetMountTargetGroups(ctx context.Context, id string) ([]string, error) {
	output, err := invoke(ctx, s, efsRead("DescribeMountTargetSecurityGroups"), s.efs.DescribeMountTargetSecurityGroups,
		&efs.DescribeMountTargetSecurityGroupsInput{MountTargetId: aws.String(id)})
	if err != nil {
		return nil, err
	}
	return output.SecurityGroups, nil
}

// SetMountTargetGroups replaces the security groups of a mount target.
func (s *Session) SetMountTargetGroups(ctx context.Context, id string, groupIDs []string) error {
	_, err := invoke(ctx, s, efsChange("ModifyMountTargetSecurityGroups", groupIDs...), s.efs.ModifyMountTargetSecurityGroups,
		&efs.ModifyMountTargetSecurityGroupsInput{MountTargetId: aws.String(id), SecurityGroups: groupIDs})
	return err
}

func efsTags(tags Tags) []types.Tag {
	var all []types.Tag
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	return all
}

func efsTagsOf(tags []types.Tag) Tags {
	all := Tags{}
	for _, tag := range tags {
		all[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return all
}
