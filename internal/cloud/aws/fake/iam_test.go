package fake_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/sigv4"
)

func iamReference(action string) string {
	return "https://docs.aws.amazon.com/IAM/latest/APIReference/API_" + action + ".html"
}

const document = `{"Version": "2012-10-17", "Statement": []}`

func (a *account) role(name string) {
	a.t.Helper()
	a.do("iam:CreateRole", "RoleName", name, "AssumeRolePolicyDocument", document)
}

func TestIAM(t *testing.T) {
	testBehaviours(t, map[string]behaviour{
		"a role is created once, and its trust policy is shown with the encoding of URLs": {
			source: iamReference("CreateRole") + ", GetRole",
			check: func(t *testing.T, a *account) {
				a.do("iam:CreateRole", "RoleName", "shoot-nodes", "AssumeRolePolicyDocument", document, "Tags.member.1.Key", "a", "Tags.member.1.Value", "1")
				a.fails("EntityAlreadyExists", "iam:CreateRole", "RoleName", "shoot-nodes", "AssumeRolePolicyDocument", document)
				shown := a.do("iam:GetRole", "RoleName", "shoot-nodes")
				assert.Equal(t, "arn:aws:iam::123456789012:role/shoot-nodes", shown.text("GetRoleResult/Role/Arn"))
				encoded := shown.text("GetRoleResult/Role/AssumeRolePolicyDocument")
				assert.Contains(t, encoded, "%22Version%22%3A%20%222012-10-17%22")
				decoded, err := url.PathUnescape(encoded)
				assert.NoError(t, err)
				assert.JSONEq(t, document, decoded)
				assert.Equal(t, []string{"a"}, shown.texts("GetRoleResult/Role/Tags/member/Key"))
			},
		},
		"policies are JSON": {
			source: iamReference("CreateRole"),
			check: func(_ *testing.T, a *account) {
				a.fails("MalformedPolicyDocument", "iam:CreateRole", "RoleName", "nodes", "AssumeRolePolicyDocument", "{")
				a.role("nodes")
				a.fails("MalformedPolicyDocument", "iam:PutRolePolicy", "RoleName", "nodes", "PolicyName", "p", "PolicyDocument", "{")
				a.fails("MalformedPolicyDocument", "iam:UpdateAssumeRolePolicy", "RoleName", "nodes", "PolicyDocument", "[]")
			},
		},
		"an inline policy is put, shown and deleted": {
			source: iamReference("PutRolePolicy") + ", GetRolePolicy, DeleteRolePolicy",
			check: func(t *testing.T, a *account) {
				a.fails("NoSuchEntity", "iam:PutRolePolicy", "RoleName", "nodes", "PolicyName", "p", "PolicyDocument", document)
				a.role("nodes")
				policy := []string{"RoleName", "nodes", "PolicyName", "p"}
				a.fails("NoSuchEntity", "iam:GetRolePolicy", policy...)
				a.do("iam:PutRolePolicy", with(policy, "PolicyDocument", document)...)
				a.do("iam:PutRolePolicy", with(policy, "PolicyDocument", document)...)
				assert.Contains(t, a.do("iam:GetRolePolicy", policy...).text("GetRolePolicyResult/PolicyDocument"), "%7B%22Version")
				assert.Equal(t, []string{"p"}, a.do("iam:ListRolePolicies", "RoleName", "nodes").texts("ListRolePoliciesResult/PolicyNames/member"))
				a.fails("DeleteConflict", "iam:DeleteRole", "RoleName", "nodes")
				a.do("iam:DeleteRolePolicy", policy...)
				a.fails("NoSuchEntity", "iam:DeleteRolePolicy", policy...)
				a.do("iam:DeleteRole", "RoleName", "nodes")
				a.fails("NoSuchEntity", "iam:DeleteRole", "RoleName", "nodes")
			},
		},
		"an instance profile has one role, and both are deleted apart": {
			source: iamReference("AddRoleToInstanceProfile") + ", DeleteInstanceProfile, DeleteRole",
			check: func(t *testing.T, a *account) {
				a.role("nodes")
				profile := []string{"InstanceProfileName", "nodes"}
				a.do("iam:CreateInstanceProfile", profile...)
				a.fails("EntityAlreadyExists", "iam:CreateInstanceProfile", profile...)
				a.do("iam:AddRoleToInstanceProfile", with(profile, "RoleName", "nodes")...)
				a.fails("LimitExceeded", "iam:AddRoleToInstanceProfile", with(profile, "RoleName", "nodes")...)
				shown := a.do("iam:GetInstanceProfile", profile...)
				assert.Equal(t, []string{"nodes"}, shown.texts("GetInstanceProfileResult/InstanceProfile/Roles/member/RoleName"))
				assert.Equal(t, []string{"instance-profile/nodes", "role/nodes"}, a.Resources())
				a.fails("DeleteConflict", "iam:DeleteInstanceProfile", profile...)
				a.fails("DeleteConflict", "iam:DeleteRole", "RoleName", "nodes")
				listed := a.do("iam:ListInstanceProfilesForRole", "RoleName", "nodes")
				assert.Equal(t, []string{"nodes"}, listed.texts("ListInstanceProfilesForRoleResult/InstanceProfiles/member/InstanceProfileName"))
				a.do("iam:RemoveRoleFromInstanceProfile", with(profile, "RoleName", "nodes")...)
				a.fails("NoSuchEntity", "iam:RemoveRoleFromInstanceProfile", with(profile, "RoleName", "nodes")...)
				a.do("iam:DeleteInstanceProfile", profile...)
				a.fails("NoSuchEntity", "iam:GetInstanceProfile", profile...)
				a.do("iam:DeleteRole", "RoleName", "nodes")
			},
		},
		"trust and tags are changed": {
			source: iamReference("UpdateAssumeRolePolicy") + ", TagRole, TagInstanceProfile",
			check: func(t *testing.T, a *account) {
				a.role("nodes")
				a.do("iam:UpdateAssumeRolePolicy", "RoleName", "nodes", "PolicyDocument", "{}")
				a.do("iam:TagRole", "RoleName", "nodes", "Tags.member.1.Key", "a", "Tags.member.1.Value", "1")
				shown := a.do("iam:GetRole", "RoleName", "nodes")
				assert.Equal(t, "%7B%7D", shown.text("GetRoleResult/Role/AssumeRolePolicyDocument"))
				assert.Equal(t, []string{"1"}, shown.texts("GetRoleResult/Role/Tags/member/Value"))
				a.do("iam:CreateInstanceProfile", "InstanceProfileName", "nodes")
				a.do("iam:TagInstanceProfile", "InstanceProfileName", "nodes", "Tags.member.1.Key", "a", "Tags.member.1.Value", "1")
				tagged := a.do("iam:GetInstanceProfile", "InstanceProfileName", "nodes")
				assert.Equal(t, []string{"a"}, tagged.texts("GetInstanceProfileResult/InstanceProfile/Tags/member/Key"))
			},
		},
		"new entities are visible late": {
			source:  "https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency",
			options: []fake.Option{fake.WithLag(fake.Lag{Reads: 1})},
			check: func(_ *testing.T, a *account) {
				a.role("nodes")
				a.fails("NoSuchEntity", "iam:GetRole", "RoleName", "nodes")
				a.do("iam:GetRole", "RoleName", "nodes")
			},
		},
	})
}

// webToken returns a token that expires then.
func webToken(subject string, expires time.Time) string {
	claims := fmt.Sprintf(`{"sub":%q,"exp":%d,"iss":"https://issuer","aud":["sts"]}`, subject, expires.Unix())
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

func TestSTS(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/gardener"
	const source = "https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html"
	assume := func(token string) []string {
		return []string{"RoleArn", role, "RoleSessionName", "session", "WebIdentityToken", token}
	}
	testBehaviours(t, map[string]behaviour{
		"a token is exchanged for credentials that are used with their session token until they expire": {
			source: source,
			check: func(t *testing.T, a *account) {
				a.TrustWebIdentity(role, "shoot")
				a.key = sigv4.Credentials{} // the call is not signed
				given := a.do("sts:AssumeRoleWithWebIdentity", assume(webToken("shoot", time.Now().Add(time.Hour)))...)
				const path = "AssumeRoleWithWebIdentityResult/Credentials/"
				a.key = sigv4.Credentials{KeyID: given.text(path + "AccessKeyId"), Secret: given.text(path + "SecretAccessKey"), Token: given.text(path + "SessionToken")}
				assert.Regexp(t, "^ASIA[0-9A-F]{16}$", a.key.KeyID)
				assert.Equal(t, "arn:aws:sts::123456789012:assumed-role/gardener/session", a.do("sts:GetCallerIdentity").text("GetCallerIdentityResult/Arn"))
				a.do("DescribeVpcs")
				assert.Equal(t, 1, a.Logins())
				token := a.key.Token
				a.key.Token = "other"
				a.fails("AuthFailure", "DescribeVpcs")
				a.key.Token = token
				a.ExpireSessions()
				a.fails("RequestExpired", "DescribeVpcs")
				a.fails("ExpiredToken", "sts:GetCallerIdentity")
			},
		},
		"tokens that are expired, of others or no tokens are refused": {
			source: source,
			check: func(_ *testing.T, a *account) {
				a.TrustWebIdentity(role, "shoot")
				a.fails("ExpiredTokenException", "sts:AssumeRoleWithWebIdentity", assume(webToken("shoot", time.Now().Add(-time.Hour)))...)
				a.fails("AccessDenied", "sts:AssumeRoleWithWebIdentity", assume(webToken("other", time.Now().Add(time.Hour)))...)
				a.fails("InvalidIdentityToken", "sts:AssumeRoleWithWebIdentity", assume("no token")...)
			},
		},
	})
}
