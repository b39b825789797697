package core

import (
	"net/http"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
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

// authenticate checks the signature of a request. The errors of EC2 differ from those of the other services, and from those of the protocol "rest-json".
func (c *Cloud) authenticate(service *model.Service, r *http.Request, body []byte) (Identity, *wire.Error) {
	refuse := refusal{service: service, now: c.Now(), skew: c.Config.ClockSkew}
	signature, err := sigv4.Parse(r)
	if err != nil {
		return Identity{}, refuse.unparsable(r, err)
	}
	key, known := c.keys[signature.KeyID]
	switch {
	case !known || key.Token != r.Header.Get(sigv4.TokenHeader):
		return Identity{}, refuse.unknownKey()
	case !signature.IsBy(key.Secret, r, body):
		return Identity{}, refuse.signature("The request signature we calculated does not match the signature " +
			"you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
	case !c.regionFits(service.Name, signature.Region):
		return Identity{}, refuse.signature("Credential should be scoped to a valid region.")
	case !key.Expires.IsZero() && !c.Now().Before(key.Expires):
		return Identity{}, refuse.expiredToken()
	case c.Now().Sub(signature.Time).Abs() > c.Config.ClockSkew:
		return Identity{}, refuse.expiredSignature(signature.Time)
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

// authorize checks the account's policies.
func (c *Cloud) authorize(service *model.Service, action string, caller Identity) *wire.Error {
	name := service.SigningName + ":" + action
	if !c.denied[name] {
		return nil
	}
	return refusal{service: service}.denied(name, caller)
}
