// Package auth has the credentials of AWS: it reads and checks them without a request, and without the SDK, so that programs that only hand them on do not
// link it. It must not depend on the client.
package auth

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// Keys of a Secret with credentials.
const (
	KeyAccessKeyID     = "accessKeyID"
	KeySecretAccessKey = "secretAccessKey"
	KeyRegion          = "region"
	KeyRoleARN         = "roleARN"
	KeyToken           = "token"
	KeyConfig          = "config"
)

// Aliases are keys that mean the same: those of AWS' own tools, which Secrets for DNS have.
const (
	aliasAccessKeyID     = "AWS_ACCESS_KEY_ID"
	aliasSecretAccessKey = "AWS_SECRET_ACCESS_KEY" //nolint:gosec // the name of a key, not a secret
	aliasRegion          = "AWS_REGION"
)

// Credentials are either an access key, or a role with the token of a workload identity. They print as a placeholder, so that they cannot appear in a log.
type Credentials struct {
	// AccessKeyID and SecretAccessKey are those of a user.
	AccessKeyID, SecretAccessKey string
	// RoleARN is the role to assume with Token, a JSON Web Token that the garden issues and renews.
	RoleARN, Token string
	// Region is used where the caller knows none.
	Region string
}

// ParseCredentials reads the data of a Secret. Its errors are of the kind cloud.Configuration; they name every missing key with a remedy, and never contain
// a value. White space around values is removed. Unknown keys are ignored: Gardener and others add some.
func ParseCredentials(data map[string][]byte) (Credentials, error) {
	text := func(keys ...string) string {
		for _, key := range keys {
			if value := strings.TrimSpace(string(data[key])); value != "" {
				return value
			}
		}
		return ""
	}
	credentials := Credentials{
		AccessKeyID:     text(KeyAccessKeyID, aliasAccessKeyID),
		SecretAccessKey: text(KeySecretAccessKey, aliasSecretAccessKey),
		Region:          text(KeyRegion, aliasRegion),
		RoleARN:         text(KeyRoleARN),
		Token:           text(KeyToken),
	}
	var problems []string
	if credentials.RoleARN == "" && text(KeyConfig) != "" {
		role, err := roleOf(data[KeyConfig])
		if err != nil {
			problems = append(problems, err.Error())
		}
		credentials.RoleARN = role
	}
	if problems = append(problems, credentials.problems()...); len(problems) > 0 {
		return Credentials{}, cloud.Errorf(cloud.Configuration, "the AWS credentials cannot be used: %s", strings.Join(problems, "; "))
	}
	return credentials, nil
}

// roleOf reads the role from a WorkloadIdentityConfig.
func roleOf(config []byte) (string, error) {
	var identity struct {
		RoleARN string `json:"roleARN"`
	}
	if err := json.Unmarshal(config, &identity); err != nil {
		return "", fmt.Errorf("%q must be a WorkloadIdentityConfig in JSON", KeyConfig)
	}
	return strings.TrimSpace(identity.RoleARN), nil
}

// problems checks that the fields make one of the two forms. The patterns are those that admission checks.
func (c Credentials) problems() []string {
	keys := c.AccessKeyID != "" || c.SecretAccessKey != ""
	switch {
	case keys && c.Token != "":
		return []string{fmt.Sprintf("%q and %q exclude each other: remove one of the two", KeyAccessKeyID, KeyToken)}
	case keys:
		return c.keyProblems()
	case c.Token != "" && c.RoleARN == "":
		return []string{fmt.Sprintf("%q is missing: add it, or %q with it", KeyRoleARN, KeyConfig)}
	case c.Token != "" && !regexp.MustCompile(patternRoleARN).MatchString(c.RoleARN):
		return []string{fmt.Sprintf("%q must be the ARN of a role, e.g. arn:aws:iam::123456789012:role/shoots", KeyRoleARN)}
	case c.Token != "":
		return nil
	case c.RoleARN != "":
		return []string{fmt.Sprintf("%q is missing: the garden adds it to the Secret of a workload identity", KeyToken)}
	default:
		return []string{fmt.Sprintf("they say nobody: set %q and %q", KeyAccessKeyID, KeySecretAccessKey)}
	}
}

const (
	patternAccessKeyID     = `^[A-Z0-9]{20}$`
	patternSecretAccessKey = `^[A-Za-z0-9/+=]{40}$` //nolint:gosec // a pattern, not a secret
	patternRoleARN         = `^arn:aws[a-z0-9-]*:iam::\d{12}:role(/[\w+=,.@-]+)+$`
)

func (c Credentials) keyProblems() []string {
	var problems []string
	for _, key := range []struct{ name, value, pattern, form string }{
		{KeyAccessKeyID, c.AccessKeyID, patternAccessKeyID, "20 upper-case letters and digits"},
		{KeySecretAccessKey, c.SecretAccessKey, patternSecretAccessKey, "40 letters, digits, '/', '+' and '='"},
	} {
		switch {
		case key.value == "":
			problems = append(problems, fmt.Sprintf("%q is missing: add it", key.name))
		case !regexp.MustCompile(key.pattern).MatchString(key.value):
			problems = append(problems, fmt.Sprintf("%q must be %s", key.name, key.form))
		}
	}
	return problems
}

// Format implements fmt.Formatter for every verb.
func (c Credentials) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "AWS credentials") }

// MarshalText implements encoding.TextMarshaler, which structured logs use.
func (c Credentials) MarshalText() ([]byte, error) { return []byte("AWS credentials"), nil }

// SessionKey identifies a session by account and region. A renewed token of a workload identity makes another session, which logs in with it.
func (c Credentials) SessionKey(region string) cloud.Fingerprint {
	return cloud.FingerprintOf(c.AccessKeyID, c.SecretAccessKey, c.RoleARN, c.Token, region)
}
