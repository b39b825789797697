package openstack

import (
	"fmt"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// loginFact is something that a component of cloud-provider-openstack is told about its login, under the name that it has
// in configuration files and the one that it has in Secrets of the Manila driver. The latter must not be there when empty.
type loginFact struct {
	inFile, inSecret string
	// origin is the key under which the value is in the Secret with credentials, empty when it comes from elsewhere.
	origin, value string
}

// where names the origin in errors.
func (f loginFact) where() string {
	if f.origin == "" {
		return fmt.Sprintf("%q", f.inFile)
	}
	return fmt.Sprintf("%q in the Secret with credentials", f.origin)
}

// loginFacts says who logs in where, with no more than it takes: of a name and an ID the ID alone, and of an application
// credential nothing about its project, of which Keystone wants to hear nothing. The CA bundle is not among them.
func loginFacts(c cloudopenstack.Credentials, region string) []loginFact {
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

// domainFacts say in which domain the user is. A user without a domain of its own is in that of the project.
func domainFacts(c cloudopenstack.Credentials) []loginFact {
	if c.UserDomainID == "" && c.UserDomainName == "" {
		return preferID(
			loginFact{"domain-id", "os-domainID", "domainID", c.DomainID},
			loginFact{"domain-name", "os-domainName", "domainName", c.DomainName})
	}
	return preferID(
		loginFact{"user-domain-id", "os-userDomainID", "userDomainID", c.UserDomainID},
		loginFact{"user-domain-name", "os-userDomainName", "userDomainName", c.UserDomainName})
}

// projectFacts say which project is meant. Its domain is said by domainFacts already where it is the user's too.
func projectFacts(c cloudopenstack.Credentials) []loginFact {
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

// preferID drops the name where there is an ID: clients refuse both.
func preferID(id, name loginFact) []loginFact {
	if id.value != "" {
		return []loginFact{id}
	}
	return []loginFact{name}
}
