package aws

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// Tags are the tags of a resource. The tag "Name" is what AWS shows as its name.
type Tags map[string]string

// Filter selects resources; all given criteria must match. A resource that does not exist is missing in the list: an ID is no error.
type Filter struct {
	// IDs is a set: any of them.
	IDs []string
	// VPCID selects what is in a VPC, or attached to it.
	VPCID string
	// Tags must all be present with these values, and TagKeys with any.
	Tags    Tags
	TagKeys []string
	// Name is the name of a security group or key pair, or the creation token of a file system.
	Name string
}

// names are the names of the criteria of one kind of resources in EC2's API; empty if the kind has no such criterion.
type names struct{ id, vpc, name string }

// filters returns the criteria in the form of EC2's API, in a fixed order.
func (f Filter) filters(names names) []types.Filter {
	var all []types.Filter
	add := func(name string, values ...string) {
		all = append(all, types.Filter{Name: aws.String(name), Values: values})
	}
	if len(f.IDs) > 0 {
		add(names.id, f.IDs...)
	}
	if f.VPCID != "" {
		add(names.vpc, f.VPCID)
	}
	if f.Name != "" {
		add(names.name, f.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(f.Tags)) {
		add("tag:"+key, f.Tags[key])
	}
	for _, key := range f.TagKeys {
		add("tag-key", key)
	}
	return all
}

// tagSpecification gives tags to a resource in the request that creates it.
func tagSpecification(kind types.ResourceType, tags Tags) []types.TagSpecification {
	if len(tags) == 0 {
		return nil
	}
	return []types.TagSpecification{{ResourceType: kind, Tags: sdkTags(tags)}}
}

// sdkTags returns tags in the order of their keys.
func sdkTags(tags Tags) []types.Tag {
	all := make([]types.Tag, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	return all
}

func tagsOf(tags []types.Tag) Tags {
	all := Tags{}
	for _, tag := range tags {
		all[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return all
}

// The limits of one list over all its pages.
const (
	maxPages = 200
	pageSize = 1000
)

// listAll requests the pages of a list until there is none, and returns what they contain in the session's own form. Pages may be empty.
func listAll[In, Out, Option, T any](
	ctx context.Context, s *Session, o operation, request func(context.Context, *In, ...func(*Option)) (*Out, error),
	input func(token *string) *In, content func(page *Out) (found []T, next *string),
) ([]T, error) {
	var all []T
	err := eachPage(o, func(token string) (string, error) {
		page, err := invoke(ctx, s, o, request, input(optional(token)))
		if err != nil {
			return "", err
		}
		found, next := content(page)
		all = append(all, found...)
		return aws.ToString(next), nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// eachPage requests pages until there is no token for the next one. The first page has an empty token.
func eachPage(o operation, read func(token string) (next string, err error)) error {
	token := ""
	for range maxPages {
		next, err := read(token)
		if err != nil || next == "" {
			return err
		}
		if next == token {
			return unusable(o, transport.InvalidResponse("the list leads back to a page that was read before"))
		}
		token = next
	}
	return unusable(o, transport.InvalidResponse("the list has more than %d pages", maxPages))
}

// unusable is the error of a successful response that cannot be used.
func unusable(o operation, err error) error {
	return cloud.Errorf(cloud.Unavailable, "%s of %s: %w", o.name, o.service, err)
}

// convert returns the own form of each of the SDK's values.
func convert[S, T any](values []S, one func(*S) T) []T {
	all := make([]T, 0, len(values))
	for i := range values {
		all = append(all, one(&values[i]))
	}
	return all
}

// SetTags adds tags to resources, or changes their values.
func (s *Session) SetTags(ctx context.Context, ids []string, tags Tags) error {
	_, err := invoke(ctx, s, ec2Change("CreateTags", ids...), s.ec2.CreateTags, &ec2.CreateTagsInput{Resources: ids, Tags: sdkTags(tags)})
	return err
}

// RemoveTags removes tags from resources, whatever their values are. One that is missing is no error.
func (s *Session) RemoveTags(ctx context.Context, ids, keys []string) error {
	tags := make([]types.Tag, 0, len(keys))
	for _, key := range keys {
		tags = append(tags, types.Tag{Key: aws.String(key)})
	}
	_, err := invoke(ctx, s, ec2Change("DeleteTags", ids...), s.ec2.DeleteTags, &ec2.DeleteTagsInput{Resources: ids, Tags: tags})
	return err
}
