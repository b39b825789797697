package aws

import (
	"context"
	"maps"
	"net/url"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// Role is a role of IAM. Names of roles and profiles are unique in an account, in all regions together.
type Role struct {
	ARN, Name string
	// TrustPolicy is the JSON document that says who may assume the role.
	TrustPolicy string
	// Tags are missing in the roles of an InstanceProfile.
	Tags Tags
}

// InstanceProfile gives a role to instances.
type InstanceProfile struct {
	ARN, Name string
	// Roles has one element at most.
	Roles []Role
	Tags  Tags
}

func iamRead(name string) operation { return operation{service: "iam", name: name, effect: reads} }

// iamChange is for creations, too: names are unique, so that a repetition fails with cloud.Conflict.
func iamChange(name string) operation { return operation{service: "iam", name: name, effect: settles} }

// GetRole returns a role. It fails with cloud.NotFound if there is none.
func (s *Session) GetRole(ctx context.Context, name string) (Role, error) {
	o := iamRead("GetRole")
	output, err := invoke(ctx, s, o, s.iam.GetRole, &iam.GetRoleInput{RoleName: aws.String(name)})
	if err != nil {
		return Role{}, err
	}
	return roleOf(o, output.Role)
}

// CreateRole creates a role. It fails with cloud.Conflict if there is one with the name.
func (s *Session) CreateRole(ctx context.Context, name, trustPolicy string, tags Tags) (Role, error) {
	o := iamChange("CreateRole")
	output, err := invoke(ctx, s, o, s.iam.CreateRole, &iam.CreateRoleInput{
		RoleName: aws.String(name), Path: aws.String("/"), AssumeRolePolicyDocument: aws.String(trustPolicy), Tags: iamTags(tags),
	})
	if err != nil {
		return Role{}, err
	}
	return roleOf(o, output.Role)
}

// SetTrustPolicy replaces the document that says who may assume a role.
func (s *Session) SetTrustPolicy(ctx context.Context, role, trustPolicy string) error {
	_, err := invoke(ctx, s, iamChange("UpdateAssumeRolePolicy"), s.iam.UpdateAssumeRolePolicy, &iam.UpdateAssumeRolePolicyInput{
		RoleName: aws.String(role), PolicyDocument: aws.String(trustPolicy),
	})
	return err
}

// DeleteRole deletes a role. It fails with cloud.InUse while it has a policy or is in a profile.
func (s *Session) DeleteRole(ctx context.Context, name string) error {
	_, err := invoke(ctx, s, iamChange("DeleteRole"), s.iam.DeleteRole, &iam.DeleteRoleInput{RoleName: aws.String(name)})
	return err
}

// GetRolePolicy returns the JSON document of an inline policy of a role. It fails with cloud.NotFound if there is none.
func (s *Session) GetRolePolicy(ctx context.Context, role, policy string) (string, error) {
	o := iamRead("GetRolePolicy")
	output, err := invoke(ctx, s, o, s.iam.GetRolePolicy, &iam.GetRolePolicyInput{RoleName: aws.String(role), PolicyName: aws.String(policy)})
	if err != nil {
		return "", err
	}
	return documentOf(o, output.PolicyDocument)
}

// PutRolePolicy creates or replaces an inline policy of a role.
func (s *Session) PutRolePolicy(ctx context.Context, role, policy, document string) error {
	_, err := invoke(ctx, s, iamChange("PutRolePolicy"), s.iam.PutRolePolicy, &iam.PutRolePolicyInput{
		RoleName: aws.String(role), PolicyName: aws.String(policy), PolicyDocument: aws.String(document),
	})
	return err
}

// DeleteRolePolicy deletes an inline policy of a role.
func (s *Session) DeleteRolePolicy(ctx context.Context, role, policy string) error {
	_, err := invoke(ctx, s, iamChange("DeleteRolePolicy"), s.iam.DeleteRolePolicy, &iam.DeleteRolePolicyInput{
		RoleName: aws.String(role), PolicyName: aws.String(policy),
	})
	return err
}

// GetInstanceProfile returns a profile with its role. It fails with cloud.NotFound if there is none.
func (s *Session) GetInstanceProfile(ctx context.Context, name string) (InstanceProfile, error) {
	o := iamRead("GetInstanceProfile")
	output, err := invoke(ctx, s, o, s.iam.GetInstanceProfile, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String(name)})
	if err != nil {
		return InstanceProfile{}, err
	}
	return instanceProfileOf(o, output.InstanceProfile)
}

// CreateInstanceProfile creates a profile without a role. It fails with cloud.Conflict if there is one with the name.
func (s *Session) CreateInstanceProfile(ctx context.Context, name string, tags Tags) (InstanceProfile, error) {
	o := iamChange("CreateInstanceProfile")
	output, err := invoke(ctx, s, o, s.iam.CreateInstanceProfile, &iam.CreateInstanceProfileInput{
		InstanceProfileName: aws.String(name), Path: aws.String("/"), Tags: iamTags(tags),
	})
	if err != nil {
		return InstanceProfile{}, err
	}
	return instanceProfileOf(o, output.InstanceProfile)
}

// AddRoleToProfile gives a profile its role. It fails with cloud.QuotaExceeded if it has one.
func (s *Session) AddRoleToProfile(ctx context.Context, profile, role string) error {
	_, err := invoke(ctx, s, iamChange("AddRoleToInstanceProfile"), s.iam.AddRoleToInstanceProfile, &iam.AddRoleToInstanceProfileInput{
		InstanceProfileName: aws.String(profile), RoleName: aws.String(role),
	})
	return err
}

// RemoveRoleFromProfile fails with cloud.NotFound if the profile does not have the role.
func (s *Session) RemoveRoleFromProfile(ctx context.Context, profile, role string) error {
	_, err := invoke(ctx, s, iamChange("RemoveRoleFromInstanceProfile"), s.iam.RemoveRoleFromInstanceProfile, &iam.RemoveRoleFromInstanceProfileInput{
		InstanceProfileName: aws.String(profile), RoleName: aws.String(role),
	})
	return err
}

// DeleteInstanceProfile deletes a profile. It fails with cloud.InUse while it has a role.
func (s *Session) DeleteInstanceProfile(ctx context.Context, name string) error {
	_, err := invoke(ctx, s, iamChange("DeleteInstanceProfile"), s.iam.DeleteInstanceProfile, &iam.DeleteInstanceProfileInput{
		InstanceProfileName: aws.String(name),
	})
	return err
}

func roleOf(o operation, r *types.Role) (Role, error) {
	trust, err := documentOf(o, r.AssumeRolePolicyDocument)
	return Role{ARN: aws.ToString(r.Arn), Name: aws.ToString(r.RoleName), TrustPolicy: trust, Tags: iamTagsOf(r.Tags)}, err
}

func instanceProfileOf(o operation, p *types.InstanceProfile) (InstanceProfile, error) {
	profile := InstanceProfile{ARN: aws.ToString(p.Arn), Name: aws.ToString(p.InstanceProfileName), Tags: iamTagsOf(p.Tags)}
	for i := range p.Roles {
		role, err := roleOf(o, &p.Roles[i])
		if err != nil {
			return InstanceProfile{}, err
		}
		profile.Roles = append(profile.Roles, role)
	}
	return profile, nil
}

// documentOf decodes a policy: IAM escapes documents in its answers as in URLs (RFC 3986), and takes them as they are.
func documentOf(o operation, escaped *string) (string, error) {
	document, err := url.PathUnescape(aws.ToString(escaped))
	if err != nil {
		return "", unusable(o, transport.InvalidResponse("a policy is not encoded as a URL"))
	}
	return document, nil
}

func iamTags(tags Tags) []types.Tag {
	var all []types.Tag
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	return all
}

func iamTagsOf(tags []types.Tag) Tags {
	all := Tags{}
	for _, tag := range tags {
		all[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return all
}
