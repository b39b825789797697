// Package auth has the credentials of OpenStack: it reads and checks them without a call, and without the SDK, so that programs that only hand them on
// do not link it. It must not depend on the client.
package auth

import (
	"crypto/x509"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// Keys of a Secret with credentials that are in errors.
const (
	KeyAuthURL = "authURL"
	KeyCACert  = "caCert"
)

// The other keys. The first eight are the upstream extension's, the others are ours.
const (
	keyUsername       = "username"
	keyPassword       = "password"
	keyAppCredID      = "applicationCredentialID"
	keyAppCredName    = "applicationCredentialName"
	keyAppCredSecret  = "applicationCredentialSecret"
	keyDomainName     = "domainName"
	keyTenantName     = "tenantName"
	keyInsecure       = "insecure"
	keyDomainID       = "domainID"
	keyTenantID       = "tenantID"
	keyUserDomainName = "userDomainName"
	keyUserDomainID   = "userDomainID"
)

// Versions of Keystone's API.
const (
	identityVersion       = "v3"
	identityVersionLegacy = "v2.0"
)

// Credentials has all inputs of a login. It prints as a placeholder, so that it cannot appear in a log.
type Credentials struct {
	// AuthURL is Keystone's address, with or without /v3. It is from the Secret or set by the caller.
	AuthURL string
	// Username is for Password, or for an application credential's name and secret.
	Username, Password string
	// ApplicationCredentialID with its secret needs neither user, domain nor project.
	ApplicationCredentialID, ApplicationCredentialName, ApplicationCredentialSecret string
	// DomainName or DomainID is the domain of the project, and of the user unless set otherwise. If a name and
	// an ID are given, here and below, the ID is used: names can change.
	DomainName, DomainID string
	// UserDomainName or UserDomainID is the domain of the user.
	UserDomainName, UserDomainID string
	// TenantName or TenantID is the project.
	TenantName, TenantID string
	// CACert has the PEM certificates that are trusted instead of the system's; empty means the system's.
	CACert string
	// Insecure disables the verification of certificates.
	Insecure bool
}

// ParseCredentials reads the data of a Secret. Its errors are of the kind cloud.Configuration; they name every missing key
// with a remedy, and never contain a value. White space around anything except passwords and secrets is removed.
//
// It accepts what the upstream extension's controllers accept: unknown keys are ignored; an application
// credential's ID or name without its secret is ignored if there is a password; insecure is true if it is the text "true", in any
// case, and false otherwise. Both reject a password with an application credential's secret, since the intended login is
// ambiguous. WithKeystone and Validate complete and check the address of Keystone: the caller may override it.
func ParseCredentials(data map[string][]byte) (Credentials, error) {
	text := func(key string) string { return strings.TrimSpace(string(data[key])) }
	credentials := Credentials{
		AuthURL:                     text(KeyAuthURL),
		Username:                    text(keyUsername),
		Password:                    string(data[keyPassword]),
		ApplicationCredentialID:     text(keyAppCredID),
		ApplicationCredentialName:   text(keyAppCredName),
		ApplicationCredentialSecret: string(data[keyAppCredSecret]),
		DomainName:                  text(keyDomainName),
		DomainID:                    text(keyDomainID),
		UserDomainName:              text(keyUserDomainName),
		UserDomainID:                text(keyUserDomainID),
		TenantName:                  text(keyTenantName),
		TenantID:                    text(keyTenantID),
		CACert:                      text(KeyCACert),
		Insecure:                    strings.EqualFold(text(keyInsecure), "true"),
	}
	if problems := credentials.formProblems(); len(problems) > 0 {
		return Credentials{}, configurationError(problems)
	}
	return credentials, nil
}

// Keystone is the operator's configuration of the Keystone of a region.
type Keystone struct {
	// URL is its address. CACert may be empty.
	URL, CACert string
	// ForceInsecure disables the verification of certificates, for any URL.
	ForceInsecure bool
}

// WithKeystone returns the credentials for use with a Keystone that the operator configured. The Secret determines the account. The operator
// determines the address: the URL and the CA bundle take precedence over the Secret's, and only the operator can disable the verification of
// certificates, so that no Secret can send a login elsewhere. Without a URL the credentials are incomplete, independent of the
// Secret. The upstream extension has the same precedence, by writing the operator's values into the Secret.
func (c Credentials) WithKeystone(keystone Keystone) Credentials {
	c.AuthURL = keystone.URL
	c.Insecure = keystone.ForceInsecure
	if keystone.CACert != "" {
		c.CACert = keystone.CACert
	}
	return c
}

// Validate returns, as a cloud.Configuration error, what prevents the use of well-formed credentials: a missing auth URL,
// or an auth URL or a CA bundle, from the Secret or set by the caller, that is invalid.
func (c Credentials) Validate() error {
	problems := c.endpointProblems()
	if c.AuthURL == "" {
		problems = append(problems, fmt.Sprintf("%q is missing: the cloud profile has to have a URL of Keystone for the region", KeyAuthURL))
	}
	if len(problems) > 0 {
		return configurationError(problems)
	}
	return nil
}

// Format implements fmt.Formatter for every verb.
func (c Credentials) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "OpenStack credentials") }

// MarshalText implements encoding.TextMarshaler, which structured logs use.
func (c Credentials) MarshalText() ([]byte, error) { return []byte("OpenStack credentials"), nil }

func configurationError(problems []string) error {
	return cloud.Errorf(cloud.Configuration, "the OpenStack credentials cannot be used: %s", strings.Join(problems, "; "))
}

// formProblems checks that the keys make one of the three forms of a login.
func (c Credentials) formProblems() []string {
	byID, byName := c.ApplicationCredentialID != "", c.ApplicationCredentialName != ""
	switch {
	case c.Password != "" && c.ApplicationCredentialSecret != "":
		return []string{fmt.Sprintf("%q and %q exclude each other: remove one of the two", keyPassword, keyAppCredSecret)}
	case c.Password != "":
		return slices.Concat(c.userProblems(), c.projectProblems())
	case c.ApplicationCredentialSecret != "" && byID:
		return nil
	case c.ApplicationCredentialSecret != "" && byName:
		return c.userProblems()
	case c.ApplicationCredentialSecret != "":
		return []string{fmt.Sprintf("%q needs %q, or %q with %q: add them", keyAppCredSecret, keyAppCredID, keyAppCredName, keyUsername)}
	case byID || byName:
		return []string{fmt.Sprintf("%q is missing: add the application credential's secret", keyAppCredSecret)}
	case c.Username != "":
		return []string{fmt.Sprintf("%q is missing: add the user's, or use an application credential", keyPassword)}
	default:
		return []string{fmt.Sprintf("they say nobody: set %q and %q, or %q and %q",
			keyUsername, keyPassword, keyAppCredID, keyAppCredSecret)}
	}
}

func (c Credentials) userProblems() []string {
	var problems []string
	if c.Username == "" {
		problems = append(problems, fmt.Sprintf("%q is missing: add the user's name", keyUsername))
	}
	if id, name := c.UserDomain(); id == "" && name == "" {
		problems = append(problems, fmt.Sprintf("the user's domain is missing: set %q or %q", keyDomainName, keyDomainID))
	}
	return problems
}

func (c Credentials) projectProblems() []string {
	switch {
	case c.TenantID == "" && c.TenantName == "":
		return []string{fmt.Sprintf("the project is missing: set %q or %q", keyTenantName, keyTenantID)}
	case c.TenantID == "" && c.DomainID == "" && c.DomainName == "":
		return []string{fmt.Sprintf("%q needs its domain: set %q or %q", keyTenantName, keyDomainName, keyDomainID)}
	default:
		return nil
	}
}

// endpointProblems checks the address of Keystone and its certificates.
func (c Credentials) endpointProblems() []string {
	const remedy = "correct it in the Secret, or in the cloud profile"
	var problems []string
	if c.AuthURL != "" {
		parsed, err := url.Parse(c.AuthURL)
		switch {
		case err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http":
			problems = append(problems, fmt.Sprintf("%q must be an address like https://keystone.example.org:5000/v3: %s", KeyAuthURL, remedy))
		case strings.HasSuffix(strings.TrimRight(parsed.Path, "/"), "/"+identityVersionLegacy):
			problems = append(problems, fmt.Sprintf("%q is of version 2.0, use Keystone's version 3: %s", KeyAuthURL, remedy))
		}
	}
	if c.CACert != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(c.CACert)) {
		problems = append(problems, fmt.Sprintf("%q holds no certificate, it must be one or more in PEM: %s", KeyCACert, remedy))
	}
	return problems
}

// UserDomain returns the ID or else the name of the user's domain.
func (c Credentials) UserDomain() (id, name string) {
	if c.UserDomainID != "" || c.UserDomainName != "" {
		return IDOrName(c.UserDomainID, c.UserDomainName)
	}
	return IDOrName(c.DomainID, c.DomainName)
}

// IDOrName removes the name if there is an ID.
func IDOrName(id, name string) (string, string) {
	if id != "" {
		return id, ""
	}
	return "", name
}

// IdentityEndpoint returns Keystone's version 3 endpoint, with a slash at its end.
func (c Credentials) IdentityEndpoint() string {
	base := strings.TrimRight(c.AuthURL, "/")
	if !strings.HasSuffix(base, "/"+identityVersion) {
		base += "/" + identityVersion
	}
	return base + "/"
}

// SessionKey identifies a session by account, address and region.
func (c Credentials) SessionKey(region string) cloud.Fingerprint {
	return cloud.FingerprintOf(
		c.IdentityEndpoint(), c.Username, c.Password,
		c.ApplicationCredentialID, c.ApplicationCredentialName, c.ApplicationCredentialSecret,
		c.DomainName, c.DomainID, c.UserDomainName, c.UserDomainID, c.TenantName, c.TenantID,
		c.CACert, strconv.FormatBool(c.Insecure), region,
	)
}

// TransportKey identifies a transport: all sessions that trust the same certificates share one.
func (c Credentials) TransportKey() cloud.Fingerprint {
	return cloud.FingerprintOf(c.CACert, strconv.FormatBool(c.Insecure))
}
