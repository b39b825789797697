package core

import (
	"net/http"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/sigv4"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// AccessKey is an access key of a user, or temporary credentials of a role.
type AccessKey struct {
	sigv4.Credentials

	ARN, UserID string
	Expires     time.Time // zero for never
}

// Identity is the caller of an action.
type Identity struct {
	ARN, UserID string
}

// AddKey adds an access key. The caller holds the lock.
func (c *Cloud) AddKey(key AccessKey) { c.keys[key.KeyID] = key }

// RemoveKey removes an access key, and reports whether it existed. The caller holds the lock.
func (c *Cloud) RemoveKey(id string) bool {
	_, found := c.keys[id]
	delete(c.keys, id)
	return found
}

// NewKeyID returns the ID of an access key; the prefix of temporary ones is "ASIA".
func NewKeyID(prefix string) string { return prefix + strings.ToUpper(randomHex(8)) }

// NewSecret returns a secret access key.
func NewSecret() string { return randomHex(20) }

// ExpireTemporaryKeys makes all temporary credentials expire now. The caller holds the lock.
func (c *Cloud) ExpireTemporaryKeys() {
	for id, key := range c.keys {
		if key.Token != "" {
			key.Expires = c.Now()
			c.keys[id] = key
		}
	}
}

// SetDenied replaces the actions that the account's policies deny, such as "ec2:CreateVpc".
func (c *Cloud) SetDenied(actions ...string) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	clear(c.denied)
	for _, action := range actions {
		c.denied[action] = true
	}
}

// authenticate checks the signature of a request. The errors of EC2 differ from those of the other services.
func (c *Cloud) authenticate(service string, r *http.Request, body []byte) (Identity, *wire.Error) {
	signature, err := sigv4.Parse(r)
	if err != nil {
		if r.Header.Get("Authorization") == "" {
			return Identity{}, protocol.FailWith(http.StatusForbidden, "MissingAuthenticationToken", "Request is missing Authentication Token")
		}
		return Identity{}, protocol.FailWith(http.StatusForbidden, "IncompleteSignature", "The request signature does not conform to AWS standards: %v", err)
	}
	key, known := c.keys[signature.KeyID]
	switch {
	case !known || key.Token != r.Header.Get(sigv4.TokenHeader):
		return Identity{}, unknownKey(service)
	case !signature.IsBy(key.Secret, r, body):
		return Identity{}, protocol.FailWith(http.StatusForbidden, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature "+
			"you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
	case !c.regionFits(service, signature.Region):
		return Identity{}, protocol.FailWith(http.StatusForbidden, "SignatureDoesNotMatch", "Credential should be scoped to a valid region.")
	case !key.Expires.IsZero() && !c.Now().Before(key.Expires):
		return Identity{}, expiredToken(service)
	case c.Now().Sub(signature.Time).Abs() > c.Config.ClockSkew:
		return Identity{}, c.expiredSignature(service, signature.Time)
	}
	return Identity{ARN: key.ARN, UserID: key.UserID}, nil
}

// regionFits reports whether a service accepts signatures for the region. IAM is global, and STS has a global endpoint too: a client signs for the first
// region when it calls them at their own addresses, and for its region when it is configured with another address.
func (c *Cloud) regionFits(service, region string) bool {
	const global = "us-east-1"
	if service == "iam" || service == "sts" {
		return region == global || region == c.Config.Region
	}
	return region == c.Config.Region
}

func unknownKey(service string) *wire.Error {
	if service == "ec2" {
		return protocol.FailWith(http.StatusUnauthorized, "AuthFailure", "AWS was not able to validate the provided access credentials")
	}
	return protocol.FailWith(http.StatusForbidden, "InvalidClientTokenId", "The security token included in the request is invalid.")
}

func expiredToken(service string) *wire.Error {
	if service == "ec2" {
		return protocol.Fail("RequestExpired", "Request has expired.")
	}
	return protocol.FailWith(http.StatusForbidden, "ExpiredToken", "The security token included in the request is expired")
}

func (c *Cloud) expiredSignature(service string, at time.Time) *wire.Error {
	if service == "ec2" {
		return protocol.Fail("RequestExpired", "Request has expired.")
	}
	const layout = "20060102T150405Z"
	return protocol.FailWith(http.StatusForbidden, "SignatureDoesNotMatch", "Signature expired: %s is now earlier than %s (%s - %s)",
		at.Format(layout), c.Now().Add(-c.Config.ClockSkew).Format(layout), c.Now().Format(layout), c.Config.ClockSkew)
}

// authorize checks the account's policies.
func (c *Cloud) authorize(service, action string, caller Identity) *wire.Error {
	name := service + ":" + action
	if service == "elb" || service == "elbv2" {
		name = "elasticloadbalancing:" + action
	}
	switch {
	case !c.denied[name]:
		return nil
	case service == "ec2":
		return protocol.FailWith(http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform this operation. User: %s is not authorized "+
			"to perform: %s because no identity-based policy allows the %s action", caller.ARN, name, name)
	default:
		return protocol.FailWith(http.StatusForbidden, "AccessDenied", "User: %s is not authorized to perform: %s", caller.ARN, name)
	}
}
