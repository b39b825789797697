package openstack

import (
	"fmt"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
)

// loginFact is a key of a component's login, with its name in configuration files and in Secrets of the Manila driver. In the latter it must be left out if
// it is empty.
type loginFact struct {
	inFile, inSecret string
	// origin is the key in the Secret with credentials; empty if the value is from elsewhere.
	origin, value string
}

// where names the origin in errors.
func (f loginFact) where() string {
	if f.origin == "" {
		return fmt.Sprintf("%q", f.inFile)
	}
	return fmt.Sprintf("%q in the Secret with credentials", f.origin)
}

// loginFacts are the keys of the login, as few as possible: of name and ID only the ID, and for an application credential no project, which Keystone refuses.
// The CA bundle is not included.
func loginFacts(c auth.Credentials, region string) []loginFact {
	facts := []loginFact{{"auth-url", "os-authURL", "authURL", c.AuthURL}}
	switch {
	case c.Password != "":
		facts = append(facts,
			loginFact{"username", "os-userName", "username", c.Username},
			loginFact{"password", "os-password", "password", c.Password})
		facts = append(facts, domainFacts(c)...)
		facts = append(facts, projectFacts(c)...)
	case c.ApplicationCredentialID != "":
		facts = append(facts, loginFact{"application-credential-id", "os-applicationCredentialID", "applicationCredentialID", c.ApplicationCredentialID})
	default:
		facts = append(facts,
			loginFact{"application-credential-name", "os-applicationCredentialName", "applicationCredentialName", c.ApplicationCredentialName},
			loginFact{"username", "os-userName", "username", c.Username})
		facts = append(facts, domainFacts(c)...)
	}
	if c.Password == "" {
		facts = append(facts, loginFact{"application-credential-secret", "os-applicationCredentialSecret", "applicationCredentialSecret", c.ApplicationCredentialSecret})
	}
	facts = append(facts, loginFact{"region", "os-region", "", region})
	if c.Insecure {
		facts = append(facts, loginFact{"tls-insecure", "os-TLSInsecure", "insecure", "true"})
	}
	return facts
}

// domainFacts are the user's domain. A user without a domain of its own is in the project's.
func domainFacts(c auth.Credentials) []loginFact {
	if c.UserDomainID == "" && c.UserDomainName == "" {
		return preferID(
			loginFact{"domain-id", "os-domainID", "domainID", c.DomainID},
			loginFact{"domain-name", "os-domainName", "domainName", c.DomainName})
	}
	return preferID(
		loginFact{"user-domain-id", "os-userDomainID", "userDomainID", c.UserDomainID},
		loginFact{"user-domain-name", "os-userDomainName", "userDomainName", c.UserDomainName})
}

// projectFacts are the project. Its domain is left out if it is the user's, too.
func projectFacts(c auth.Credentials) []loginFact {
	facts := preferID(
		loginFact{"tenant-id", "os-projectID", "tenantID", c.TenantID},
		loginFact{"tenant-name", "os-projectName", "tenantName", c.TenantName})
	if c.TenantID != "" || c.UserDomainID == "" && c.UserDomainName == "" {
		return facts
	}
	return append(facts, preferID(
		loginFact{"tenant-domain-id", "os-projectDomainID", "domainID", c.DomainID},
		loginFact{"tenant-domain-name", "os-projectDomainName", "domainName", c.DomainName})...)
}

// preferID drops the name if there is an ID: clients refuse both.
func preferID(id, name loginFact) []loginFact {
	if id.value != "" {
		return []loginFact{id}
	}
	return []loginFact{name}
}
