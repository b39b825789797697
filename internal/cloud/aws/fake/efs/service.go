package efs

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

// QuotaFileSystems limits the file systems of the account in the region. A new cloud has no limit.
const QuotaFileSystems = "file-systems"

// Network is the part of EC2 in which mount targets have interfaces.
type Network interface {
	// AddInterface adds an interface in a subnet and returns its ID.
	AddInterface(subnetID, kind, description string, groups ...string) (string, error)
	RemoveInterface(id string)
	// Interface returns the IPv4 address of an interface, empty without one, and its groups.
	Interface(id string) (address string, groups []string)
	SetInterfaceGroups(id string, groups []string) error
	// VPCOf returns the VPC and zone of a subnet.
	VPCOf(subnetID string) (vpcID, zone string, err error)
}

// Service is Elastic File System. Its methods run with the cloud's lock.
type Service struct {
	core    *core.Cloud
	network Network
	systems []*fileSystem
	targets []*mountTarget
}

// The states of file systems and mount targets.
const (
	stateCreating  = "creating"
	stateAvailable = "available"
	stateDeleting  = "deleting"
	stateError     = "error"
)

// New returns the service without file systems, and registers its actions.
func New(shared *core.Cloud, network Network) (*Service, error) {
	s := &Service{core: shared, network: network}
	return s, shared.Register("efs", map[string]core.Action{
		"CreateFileSystem":                  {Reads: "CreationToken Encrypted PerformanceMode Tags", OwnTokens: true, Do: s.createSystem},
		"DescribeFileSystems":               {Reads: "FileSystemId CreationToken Marker MaxItems", Do: s.describeSystems},
		"DeleteFileSystem":                  {Reads: "FileSystemId", Do: s.deleteSystem},
		"CreateMountTarget":                 {Reads: "FileSystemId SubnetId SecurityGroups IpAddressType", Do: s.createTarget},
		"DescribeMountTargets":              {Reads: "FileSystemId MountTargetId Marker MaxItems", Do: s.describeTargets},
		"DeleteMountTarget":                 {Reads: "MountTargetId", Do: s.deleteTarget},
		"DescribeMountTargetSecurityGroups": {Reads: "MountTargetId", Do: s.describeGroups},
		"ModifyMountTargetSecurityGroups":   {Reads: "MountTargetId SecurityGroups", Do: s.modifyGroups},
		"TagResource":                       {Reads: "ResourceId Tags", Do: s.tag},
		"UntagResource":                     {Reads: "ResourceId TagKeys", Do: s.untag},
		"ListTagsForResource":               {Reads: "ResourceId NextToken MaxResults", Do: s.listTags},
	})
}

// IDs lists the file systems and mount targets, sorted.
func (s *Service) IDs() []string {
	var out []string
	for _, f := range s.systems {
		out = append(out, f.id)
	}
	for _, t := range s.targets {
		out = append(out, t.id)
	}
	slices.Sort(out)
	return out
}

// visibility is what delayed consistency hides of a new resource: a number of reads.
type visibility struct{ missingReads int }

// isMissing reports whether the resource is not visible yet, and counts the read.
func (v *visibility) isMissing(q *core.Request) bool {
	if v.missingReads > 0 && !q.Operator {
		v.missingReads--
		return true
	}
	return false
}

func (s *Service) newVisibility() visibility {
	return visibility{missingReads: s.core.Config.Lag.Reads}
}

func (s *Service) tag(q *core.Request) (protocol.Struct, error) {
	f, err := s.system(q.In.String("ResourceId"))
	if err != nil {
		return nil, err
	}
	added, err := tagsIn(q)
	maps.Copy(f.tags, added)
	return nil, err
}

func (s *Service) untag(q *core.Request) (protocol.Struct, error) {
	f, err := s.system(q.In.String("ResourceId"))
	if err != nil {
		return nil, err
	}
	for _, key := range q.In.Strings("TagKeys") {
		delete(f.tags, key)
	}
	return nil, nil
}

func (s *Service) listTags(q *core.Request) (protocol.Struct, error) {
	f, err := s.system(q.In.String("ResourceId"))
	if err != nil {
		return nil, err
	}
	tags, next := page(q, f.tagList(), "NextToken", "MaxResults")
	return protocol.Struct{"Tags": tags, "NextToken": next}, nil
}

// tagsIn returns the tags of a request. AWS' own prefix is reserved.
func tagsIn(q *core.Request) (map[string]string, error) {
	tags := map[string]string{}
	for _, tag := range q.In.Structs("Tags") {
		if strings.HasPrefix(strings.ToLower(tag.String("Key")), "aws:") {
			return nil, badRequest("A tag key cannot begin with aws:")
		}
		tags[tag.String("Key")] = tag.String("Value")
	}
	return tags, nil
}

func badRequest(message string) error { return protocol.Fail("BadRequest", "%s", message) }

const (
	markerPrefix = "after-"
	pageSize     = 100 // without one in the request
)

// page returns the items after the marker, at most a page of them, and the marker of the next page or nil. A marker has the number of items before it.
func page[T any](q *core.Request, items []T, marker, limit string) ([]T, any) {
	start, err := strconv.Atoi(strings.TrimPrefix(q.In.String(marker), markerPrefix))
	if err != nil {
		start = 0
	}
	items = items[min(start, len(items)):]
	size := pageSize
	if q.In.Has(limit) {
		size = int(q.In.Int(limit))
	}
	if len(items) <= size {
		return items, nil
	}
	return items[:size], markerPrefix + strconv.Itoa(start+size)
}
