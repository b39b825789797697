package openstack

// Credentials is everything that a login needs.
type Credentials struct {
	// AuthURL is Keystone's address, with or without /v3. It may come from the Secret or be filled in by the caller.
	AuthURL string
	// Username and Password, or Username with an application credential's name and secret.
	Username, Password string
	// ApplicationCredentialID and its secret need neither user, domain nor project.
	ApplicationCredentialID, ApplicationCredentialName, ApplicationCredentialSecret string
	// DomainName and DomainID say in which domain the project is, and the user too unless said otherwise. IDs win over names.
	DomainName, DomainID string
	// UserDomainName and UserDomainID say in which domain the user is.
	UserDomainName, UserDomainID string
	// TenantName and TenantID are the project.
	TenantName, TenantID string
	// CACert holds the PEM certificates that are trusted instead of the system's; empty means the system's.
	CACert string
	// Insecure turns the verification of certificates off.
	Insecure bool
}

// ParseCredentials reads the data of a Secret.
func ParseCredentials(data map[string][]byte) (Credentials, error) {
	panic("being written")
}

// Complete reports, as a cloud.Configuration error, what is missing for a login.
func (c Credentials) Complete() error { panic("being written") }
