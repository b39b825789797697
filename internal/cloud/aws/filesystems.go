package aws

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

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
	FileCreating  FileState = "creating"
	FileAvailable FileState = "available"
	FileUpdating  FileState = "updating"
	FileDeleting  FileState = "deleting"
	FileDeleted   FileState = "deleted"
	FileError     FileState = "error"
)

// AddressType says of which families the addresses of a mount target are. Empty means IPv4 alone.
type AddressType string

// The address types.
const (
	IPv6Only  AddressType = "IPV6_ONLY"
	DualStack AddressType = "DUAL_STACK"
)

// MountTargetCreate is the request for a new mount target.
type MountTargetCreate struct {
	FileSystemID, SubnetID string
	// GroupIDs are the default group of the VPC if there are none.
	GroupIDs    []string
	AddressType AddressType
}

// efsPageSize is the number of elements in a page, which is AWS' maximum for mount targets.
const efsPageSize = 100

// fileSystemDocument and mountTargetDocument are EFS' forms.
type fileSystemDocument struct {
	FileSystemID   string `json:"FileSystemId"`
	CreationToken  string
	LifeCycleState FileState
	Encrypted      bool
	Tags           []tagDocument
}

type mountTargetDocument struct {
	MountTargetID        string `json:"MountTargetId"`
	FileSystemID         string `json:"FileSystemId"`
	SubnetID             string `json:"SubnetId"`
	VPCID                string `json:"VpcId"`
	AvailabilityZoneName string
	LifeCycleState       FileState
}

type tagDocument struct{ Key, Value string }

func (d *fileSystemDocument) fileSystem() FileSystem {
	tags := Tags{}
	for _, tag := range d.Tags {
		tags[tag.Key] = tag.Value
	}
	return FileSystem{ID: d.FileSystemID, Token: d.CreationToken, State: d.LifeCycleState, Encrypted: d.Encrypted, Tags: tags}
}

func (d *mountTargetDocument) mountTarget() MountTarget {
	return MountTarget{
		ID: d.MountTargetID, FileSystemID: d.FileSystemID, SubnetID: d.SubnetID, VPCID: d.VPCID, Zone: d.AvailabilityZoneName, State: d.LifeCycleState,
	}
}

// The paths of EFS' resources.
const (
	fileSystemsPath   = "file-systems"
	mountTargetsPath  = "mount-targets"
	resourceTagsPath  = "resource-tags"
	mountTargetGroups = "security-groups"
)

func (s *Session) efs(ctx context.Context, o operation, request restRequest, result any) error {
	return s.invokeREST(ctx, efsService(), o, request, result)
}

func efsRead(name string, about ...string) operation {
	return efsService().operation(name, reads, about...)
}

// efsChange is for creations, too: tokens are unique, and mount targets in their zones, so that a repetition fails with cloud.Conflict.
func efsChange(name string, about ...string) operation {
	return efsService().operation(name, settles, about...)
}

// ListFileSystems returns the file system with the one ID or the name of the filter, which is its creation token, or all without both.
func (s *Session) ListFileSystems(ctx context.Context, filter Filter) ([]FileSystem, error) {
	query := url.Values{}
	if len(filter.IDs) > 0 {
		query.Set("FileSystemId", filter.IDs[0])
	}
	if filter.Name != "" {
		query.Set("CreationToken", filter.Name)
	}
	var found []FileSystem
	err := s.eachEFSPage(ctx, efsRead("DescribeFileSystems", filter.IDs...), fileSystemsPath, query, func(page *efsPage) {
		for i := range page.FileSystems {
			found = append(found, page.FileSystems[i].fileSystem())
		}
	})
	return found, err
}

// efsPage is a page of a list of either kind.
type efsPage struct {
	FileSystems  []fileSystemDocument
	MountTargets []mountTargetDocument
	NextMarker   string
}

// eachEFSPage requests the pages of a list. One for an ID that does not exist has none.
func (s *Session) eachEFSPage(ctx context.Context, o operation, path string, query url.Values, take func(*efsPage)) error {
	err := eachPage(o, func(token string) (string, error) {
		if token != "" {
			query.Set("Marker", token)
		}
		var page efsPage
		if err := s.efs(ctx, o, restRequest{method: http.MethodGet, path: path, query: query}, &page); err != nil {
			return "", err
		}
		take(&page)
		return page.NextMarker, nil
	})
	if cloud.IsNotFound(err) {
		return nil
	}
	return err
}

// CreateFileSystem starts the creation of an encrypted file system. It fails with cloud.Conflict if one has the token.
func (s *Session) CreateFileSystem(ctx context.Context, token string, tags Tags) (FileSystem, error) {
	body := struct {
		CreationToken string
		Encrypted     bool
		Tags          []tagDocument
	}{token, true, tagDocuments(tags)}
	var created fileSystemDocument
	if err := s.efs(ctx, efsChange("CreateFileSystem"), restRequest{method: http.MethodPost, path: fileSystemsPath, body: body}, &created); err != nil {
		return FileSystem{}, err
	}
	s.created.add(created.FileSystemID)
	return created.fileSystem(), nil
}

// DeleteFileSystem starts the deletion of a file system. It fails with cloud.InUse while it has mount targets.
func (s *Session) DeleteFileSystem(ctx context.Context, id string) error {
	err := s.efs(ctx, efsChange("DeleteFileSystem", id), restRequest{method: http.MethodDelete, path: pathOf(fileSystemsPath, id)}, nil)
	if err == nil {
		s.created.remove(id)
	}
	return err
}

// SetFileSystemTags adds tags to a file system, or changes their values.
func (s *Session) SetFileSystemTags(ctx context.Context, id string, tags Tags) error {
	body := struct{ Tags []tagDocument }{tagDocuments(tags)}
	return s.efs(ctx, efsChange("TagResource", id), restRequest{method: http.MethodPost, path: pathOf(resourceTagsPath, id), body: body}, nil)
}

// RemoveFileSystemTags removes tags from a file system, whatever their values are.
func (s *Session) RemoveFileSystemTags(ctx context.Context, id string, keys []string) error {
	return s.efs(ctx, efsChange("UntagResource", id), restRequest{
		method: http.MethodDelete, path: pathOf(resourceTagsPath, id), query: url.Values{"tagKeys": keys},
	}, nil)
}

// ListMountTargets returns the mount targets of a file system. One that does not exist has none.
func (s *Session) ListMountTargets(ctx context.Context, fileSystemID string) ([]MountTarget, error) {
	query := url.Values{"FileSystemId": {fileSystemID}, "MaxItems": {strconv.Itoa(efsPageSize)}}
	var found []MountTarget
	err := s.eachEFSPage(ctx, efsRead("DescribeMountTargets", fileSystemID), mountTargetsPath, query, func(page *efsPage) {
		for i := range page.MountTargets {
			found = append(found, page.MountTargets[i].mountTarget())
		}
	})
	return found, err
}

// CreateMountTarget starts the creation of a mount target. It fails with cloud.Conflict if the file system has one in the zone of the subnet, or in another VPC.
func (s *Session) CreateMountTarget(ctx context.Context, wanted MountTargetCreate) (MountTarget, error) {
	about := append([]string{wanted.FileSystemID, wanted.SubnetID}, wanted.GroupIDs...)
	body := struct {
		FileSystemID   string      `json:"FileSystemId"`
		SubnetID       string      `json:"SubnetId"`
		SecurityGroups []string    `json:",omitempty"`
		IPAddressType  AddressType `json:"IpAddressType,omitempty"`
	}{wanted.FileSystemID, wanted.SubnetID, wanted.GroupIDs, wanted.AddressType}
	var created mountTargetDocument
	err := s.efs(ctx, efsChange("CreateMountTarget", about...), restRequest{method: http.MethodPost, path: mountTargetsPath, body: body}, &created)
	if err != nil {
		return MountTarget{}, err
	}
	return created.mountTarget(), nil
}

// DeleteMountTarget starts the deletion of a mount target. Its interface is in use until it is gone.
func (s *Session) DeleteMountTarget(ctx context.Context, id string) error {
	return s.efs(ctx, efsChange("DeleteMountTarget"), restRequest{method: http.MethodDelete, path: pathOf(mountTargetsPath, id)}, nil)
}

// mountTargetGroupsDocument is EFS' form of the security groups of a mount target.
type mountTargetGroupsDocument struct{ SecurityGroups []string }

// GetMountTargetGroups returns the IDs of the security groups of a mount target.
func (s *Session) GetMountTargetGroups(ctx context.Context, id string) ([]string, error) {
	var groups mountTargetGroupsDocument
	err := s.efs(ctx, efsRead("DescribeMountTargetSecurityGroups"), restRequest{
		method: http.MethodGet, path: pathOf(mountTargetsPath, id, mountTargetGroups),
	}, &groups)
	return groups.SecurityGroups, err
}

// SetMountTargetGroups replaces the security groups of a mount target.
func (s *Session) SetMountTargetGroups(ctx context.Context, id string, groupIDs []string) error {
	return s.efs(ctx, efsChange("ModifyMountTargetSecurityGroups", groupIDs...), restRequest{
		method: http.MethodPut, path: pathOf(mountTargetsPath, id, mountTargetGroups), body: mountTargetGroupsDocument{groupIDs},
	}, nil)
}

// tagDocuments returns tags in the order of their keys.
func tagDocuments(tags Tags) []tagDocument {
	var all []tagDocument
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, tagDocument{key, tags[key]})
	}
	return all
}
