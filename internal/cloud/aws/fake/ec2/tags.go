package ec2

import (
	"maps"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const maxTags = 50

func (s *Service) tagActions() map[string]core.Action {
	return map[string]core.Action{
		"CreateTags":   {Reads: "Resources Tags", Do: s.createTags},
		"DeleteTags":   {Reads: "Resources Tags", Do: s.deleteTags},
		"DescribeTags": {Reads: "Filters MaxResults NextToken", Do: s.describeTags},
	}
}

// tagsIn reads a list of tags. A tag without a value has an empty one.
func tagsIn(list []protocol.Struct) map[string]string {
	tags := map[string]string{}
	for _, tag := range list {
		tags[tag.String("Key")] = tag.String("Value")
	}
	return tags
}

func checkTags(tags map[string]string) error {
	for key, value := range tags {
		switch {
		case strings.HasPrefix(key, "aws:"):
			return protocol.Fail("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use")
		case key == "" || len(key) > 127:
			return protocol.Fail("InvalidParameterValue", "Tag key exceeds the maximum length of 127 characters or is empty")
		case len(value) > 255:
			return protocol.Fail("InvalidParameterValue", "Tag value exceeds the maximum length of 255 characters")
		}
	}
	if len(tags) > maxTags {
		return protocol.Fail("TagLimitExceeded", "The maximum number of Tags for a resource has been reached.")
	}
	return nil
}

// taggedByID returns resources of any kind.
func (s *Service) taggedByID(ids []string) ([]*meta, error) {
	var out []*meta
	for _, id := range ids {
		found := s.taggedWith(id)
		if found == nil {
			return nil, unknownResource(id)
		}
		out = append(out, found)
	}
	return out, nil
}

func (s *Service) taggedWith(id string) *meta {
	for _, some := range s.tagged {
		for _, m := range some.all() {
			if m.id == id {
				return m
			}
		}
	}
	return nil
}

// unknownResource is the error for an ID of any kind: that of its kind, which its prefix tells.
func unknownResource(id string) *wire.Error {
	prefix, _, _ := strings.Cut(id, "-")
	codes := map[string]string{
		"vpc": "InvalidVpcID.NotFound", "subnet": "InvalidSubnetID.NotFound", "dopt": "InvalidDhcpOptionID.NotFound", "igw": "InvalidInternetGatewayID.NotFound",
		"eigw": "InvalidGatewayID.NotFound", "rtb": "InvalidRouteTableID.NotFound", "nat": "NatGatewayNotFound", "eipalloc": "InvalidAllocationID.NotFound",
		"sg": "InvalidGroup.NotFound", "sgr": "InvalidSecurityGroupRuleId.NotFound", "vpce": "InvalidVpcEndpointId.NotFound", "key": "InvalidKeyPair.NotFound",
		"i": "InvalidInstanceID.NotFound", "vol": "InvalidVolume.NotFound", "ami": "InvalidAMIID.NotFound",
		"eni": "InvalidNetworkInterfaceID.NotFound", "acl": "InvalidNetworkAclID.NotFound",
	}
	if code := codes[prefix]; code != "" {
		return protocol.Fail(code, "The ID '%s' does not exist", id)
	}
	return protocol.Fail("InvalidID", "The ID '%s' is not valid", id)
}

func (s *Service) createTags(q *core.Request) (protocol.Struct, error) {
	resources, err := s.taggedByID(q.In.Strings("Resources"))
	if err != nil {
		return nil, err
	}
	added := tagsIn(q.In.Structs("Tags"))
	for _, m := range resources {
		tags := maps.Clone(m.tags)
		maps.Copy(tags, added)
		if err := checkTags(tags); err != nil {
			return nil, err
		}
	}
	for _, m := range resources {
		tags := maps.Clone(m.tags)
		maps.Copy(tags, added)
		m.setTags(tags, s.core.Config.Lag)
	}
	return nil, nil
}

// deleteTags deletes tags by key; one with a value only if the tag has that value. Without tags it deletes all.
func (s *Service) deleteTags(q *core.Request) (protocol.Struct, error) {
	resources, err := s.taggedByID(q.In.Strings("Resources"))
	if err != nil {
		return nil, err
	}
	for _, m := range resources {
		tags := maps.Clone(m.tags)
		if len(q.In.Structs("Tags")) == 0 {
			clear(tags)
		}
		for _, tag := range q.In.Structs("Tags") {
			key := tag.String("Key")
			if !tag.Has("Value") || tags[key] == tag.String("Value") {
				delete(tags, key)
			}
		}
		m.setTags(tags, s.core.Config.Lag)
	}
	return nil, nil
}

// resourceTag is a tag of a resource, which DescribeTags lists.
type resourceTag struct {
	meta

	kind, key, value string
}

func (s *Service) describeTags(q *core.Request) (protocol.Struct, error) {
	all := &collection[*resourceTag]{
		answer: "Tags",
		filters: map[string]func(*resourceTag) []string{
			"key":           one(func(t *resourceTag) string { return t.key }),
			"value":         one(func(t *resourceTag) string { return t.value }),
			"resource-id":   one(func(t *resourceTag) string { return t.id }),
			"resource-type": one(func(t *resourceTag) string { return t.kind }),
		},
		view: func(t *resourceTag) protocol.Struct {
			return protocol.Struct{"ResourceId": t.id, "ResourceType": t.kind, "Key": t.key, "Value": t.value}
		},
	}
	for _, some := range s.tagged {
		for _, m := range some.all() {
			for _, key := range slices.Sorted(maps.Keys(m.tags)) {
				tag := &resourceTag{meta: meta{id: m.id, sequence: len(all.items) + 1, tags: m.tags}, kind: some.kind, key: key, value: m.tags[key]}
				all.add(tag)
			}
		}
	}
	return describe(s, all, q)
}
