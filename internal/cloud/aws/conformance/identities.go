package conformance

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws"
)

const (
	publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE6avINCr/HKsqzWPdAE9Z4++8MVX2co4AByL5a1c4md conformance"
	// fingerprint is that of ssh-keygen -l, with the padding of base64.
	fingerprint = "oSfdc93Vi3qjK7Cf8fhcSSaPPT9BGbXeqvX39mpqJm0="

	trust  = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	policy = `{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["ec2:DescribeInstances"], "Resource": ["*"]}]}`
)

func keyPairs() []Behaviour {
	return []Behaviour{
		{"a key pair has the key that was imported, and its SHA-256 fingerprint", keyGuide, func(c *Case) {
			c.keyPair()
			found := must[[]aws.KeyPair](c)(c.s.ListKeyPairs(c.Context(), aws.Filter{Name: c.name}))
			require.Len(c, found, 1)
			assert.True(c, aws.SamePublicKey(publicKey, found[0].PublicKey))
			assert.Equal(c, fingerprint, found[0].Fingerprint)
			assert.Equal(c, c.tags(), found[0].Tags)
		}},
		{"a name of a key pair is taken once", errorCodes, func(c *Case) {
			c.keyPair()
			_, err := c.s.ImportKeyPair(c.Context(), c.name, []byte(publicKey), c.tags())
			c.requireKind(err, cloud.Conflict, "InvalidKeyPair.Duplicate")
		}},
		{"a key pair that does not exist can be deleted", keyPairIssue, func(c *Case) {
			assert.NoError(c, c.s.DeleteKeyPair(c.Context(), c.name))
		}},
	}
}

func (c *Case) keyPair() {
	c.Helper()
	must[aws.KeyPair](c)(c.s.ImportKeyPair(c.Context(), c.name, []byte(publicKey), c.tags()))
	c.cleanup(func(ctx context.Context) error { return c.s.DeleteKeyPair(ctx, c.name) })
}

// role makes a role.
func (c *Case) role() {
	c.Helper()
	must[aws.Role](c)(c.s.CreateRole(c.Context(), c.name, trust, c.tags()))
	c.cleanup(func(ctx context.Context) error { return c.s.DeleteRole(ctx, c.name) })
}

// profile makes an instance profile.
func (c *Case) profile() {
	c.Helper()
	must[aws.InstanceProfile](c)(c.s.CreateInstanceProfile(c.Context(), c.name, c.tags()))
	c.cleanup(func(ctx context.Context) error { return c.s.DeleteInstanceProfile(ctx, c.name) })
}

// roleInProfile puts a role into an instance profile.
func (c *Case) roleInProfile() {
	c.Helper()
	require.NoError(c, c.s.AddRoleToProfile(c.Context(), c.name, c.name))
	c.cleanup(func(ctx context.Context) error { return c.s.RemoveRoleFromProfile(ctx, c.name, c.name) })
}

func identities() []Behaviour {
	return []Behaviour{
		{"a name of a role is taken once", iam("CreateRole"), func(c *Case) {
			c.role()
			_, err := c.s.CreateRole(c.Context(), c.name, trust, c.tags())
			c.requireKind(err, cloud.Conflict, "EntityAlreadyExists")
		}},
		{"documents are returned encoded as in addresses, and otherwise as they were given", iam("GetRolePolicy"), func(c *Case) {
			c.role()
			require.NoError(c, c.s.PutRolePolicy(c.Context(), c.name, c.name, policy))
			c.cleanup(func(ctx context.Context) error { return c.s.DeleteRolePolicy(ctx, c.name, c.name) })
			assert.JSONEq(c, policy, must[string](c)(c.s.GetRolePolicy(c.Context(), c.name, c.name)))
			assert.True(c, json.Valid([]byte(must[aws.Role](c)(c.s.GetRole(c.Context(), c.name)).TrustPolicy)))
		}},
		{"an instance profile contains its role with the trust policy", iam("GetInstanceProfile"), func(c *Case) {
			c.role()
			c.profile()
			c.roleInProfile()
			found := must[aws.InstanceProfile](c)(c.s.GetInstanceProfile(c.Context(), c.name))
			require.Len(c, found.Roles, 1)
			assert.Equal(c, c.name, found.Roles[0].Name)
			assert.JSONEq(c, trust, found.Roles[0].TrustPolicy)
		}},
		{"an instance profile has one role", iam("AddRoleToInstanceProfile"), func(c *Case) {
			c.role()
			c.profile()
			c.roleInProfile()
			c.requireKind(c.s.AddRoleToProfile(c.Context(), c.name, c.name), cloud.QuotaExceeded, "LimitExceeded")
		}},
		{"a role in an instance profile cannot be deleted", iam("DeleteRole"), func(c *Case) {
			c.role()
			c.profile()
			c.roleInProfile()
			c.requireKind(c.s.DeleteRole(c.Context(), c.name), cloud.InUse, "DeleteConflict")
		}},
		{"an instance profile with a role cannot be deleted", iam("DeleteInstanceProfile"), func(c *Case) {
			c.role()
			c.profile()
			c.roleInProfile()
			c.requireKind(c.s.DeleteInstanceProfile(c.Context(), c.name), cloud.InUse, "DeleteConflict")
		}},
		{"a role, a policy and an instance profile that do not exist are not found", iam("GetRole"), func(c *Case) {
			_, err := c.s.GetRole(c.Context(), c.name)
			c.requireKind(err, cloud.NotFound, "NoSuchEntity")
			_, err = c.s.GetRolePolicy(c.Context(), c.name, c.name)
			c.requireKind(err, cloud.NotFound, "NoSuchEntity")
			_, err = c.s.GetInstanceProfile(c.Context(), c.name)
			c.requireKind(err, cloud.NotFound, "NoSuchEntity")
			c.requireKind(c.s.DeleteRole(c.Context(), c.name), cloud.NotFound, "NoSuchEntity")
		}},
	}
}

// missingBalancer returns the ARN of a load balancer that does not exist. An ARN has the number of the account, which that of the case's role has, too.
func (c *Case) missingBalancer(kind string) string {
	c.Helper()
	parts := strings.Split(must[aws.Role](c)(c.s.GetRole(c.Context(), c.name)).ARN, ":")
	require.Len(c, parts, 6)
	region := strings.TrimRight(c.zone, "abcdef")
	return strings.Join([]string{"arn", parts[1], "elasticloadbalancing", region, parts[4], "loadbalancer/" + kind + "/" + c.name + "/0123456789abcdef"}, ":")
}

func loadBalancers() []Behaviour {
	return []Behaviour{
		{"a VPC without load balancers has neither load balancers nor target groups", elb("DescribeLoadBalancers"), func(c *Case) {
			id := c.vpc().ID
			assert.Empty(c, must[[]aws.LoadBalancer](c)(c.s.ListLoadBalancers(c.Context(), id)))
			assert.Empty(c, must[[]aws.TargetGroup](c)(c.s.ListTargetGroups(c.Context(), id)))
		}},
		{"a classic load balancer that does not exist can be deleted", elb("DeleteLoadBalancer"), func(c *Case) {
			assert.NoError(c, c.s.DeleteLoadBalancer(c.Context(), aws.LoadBalancer{Name: c.name}))
		}},
		{"a network load balancer that does not exist can be deleted, as can an application load balancer", elbv2("DeleteLoadBalancer"), func(c *Case) {
			c.role()
			for _, kind := range []string{"net", "app"} {
				assert.NoError(c, c.s.DeleteLoadBalancer(c.Context(), aws.LoadBalancer{ARN: c.missingBalancer(kind)}))
			}
		}},
	}
}
