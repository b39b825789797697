package sts

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/sigv4"
)

// Service is STS. Its methods run with the cloud's lock.
type Service struct {
	core     *core.Cloud
	subjects map[string]string // that may assume a role, by its ARN
}

// New returns STS without trusted subjects, and registers its actions.
func New(shared *core.Cloud) (*Service, error) {
	s := &Service{core: shared, subjects: map[string]string{}}
	return s, shared.Register("sts", map[string]core.Action{
		"GetCallerIdentity":         {Do: s.getCallerIdentity},
		"AssumeRoleWithWebIdentity": {Reads: "RoleArn RoleSessionName WebIdentityToken DurationSeconds", Do: s.assumeRoleWithWebIdentity},
	})
}

// Trust lets the subject of web identity tokens assume a role.
func (s *Service) Trust(roleARN, subject string) { s.subjects[roleARN] = subject }

func (s *Service) getCallerIdentity(q *core.Request) (protocol.Struct, error) {
	return protocol.Struct{"Account": s.core.Config.AccountID, "Arn": q.Caller.ARN, "UserId": q.Caller.UserID}, nil
}

// claims are the parts of a token that are read.
type claims struct {
	Subject  string `json:"sub"`
	Expires  int64  `json:"exp"`
	Issuer   string `json:"iss"`
	Audience any    `json:"aud"`
}

func readToken(token string) (claims, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return claims{}, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return claims{}, false
	}
	var c claims
	return c, json.Unmarshal(raw, &c) == nil
}

// audience returns the first audience of a token.
func (c claims) audience() string {
	switch audience := c.Audience.(type) {
	case string:
		return audience
	case []any:
		if len(audience) > 0 {
			first, _ := audience[0].(string)
			return first
		}
	}
	return ""
}

func (s *Service) assumeRoleWithWebIdentity(q *core.Request) (protocol.Struct, error) {
	token, ok := readToken(q.In.String("WebIdentityToken"))
	switch {
	case !ok:
		return nil, protocol.Fail("InvalidIdentityToken", "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)")
	case !s.core.Now().Before(time.Unix(token.Expires, 0)):
		return nil, protocol.Fail("ExpiredTokenException", "Token expired: current date/time %d must be before the expiration date/time %d",
			s.core.Now().Unix(), token.Expires)
	}
	roleARN := q.In.String("RoleArn")
	if subject, trusted := s.subjects[roleARN]; !trusted || subject != token.Subject {
		return nil, protocol.FailWith(http.StatusForbidden, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity")
	}
	lifetime := s.core.Config.TokenLifetime
	if q.In.Has("DurationSeconds") {
		lifetime = time.Duration(q.In.Int("DurationSeconds")) * time.Second
	}
	session := q.In.String("RoleSessionName")
	name := roleARN[strings.LastIndex(roleARN, "/")+1:]
	key := core.AccessKey{
		Credentials: sigv4.Credentials{KeyID: core.NewKeyID("ASIA"), Secret: core.NewSecret(), Token: core.NewSecret() + core.NewSecret()},
		ARN:         s.core.ARN("sts", "", "assumed-role/"+name+"/"+session), UserID: core.NewKeyID("AROA") + ":" + session,
		Expires: s.core.Now().Add(lifetime).Truncate(time.Second),
	}
	s.core.AddKey(key)
	return protocol.Struct{
		"AssumedRoleUser": protocol.Struct{"Arn": key.ARN, "AssumedRoleId": key.UserID},
		"Credentials": protocol.Struct{
			"AccessKeyId": key.KeyID, "SecretAccessKey": key.Secret, "SessionToken": key.Token, "Expiration": key.Expires,
		},
		"SubjectFromWebIdentityToken": token.Subject, "Provider": token.Issuer, "Audience": token.audience(),
	}, nil
}
