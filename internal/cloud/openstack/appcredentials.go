package openstack

import (
	"context"
	"net/url"
	"time"
)

// GetCredentialExpiry returns when the credentials of the session's last login expire, or zero if they do not: an application credential at its own time,
// whatever the user's password does.
func (s *Session) GetCredentialExpiry(ctx context.Context) (time.Time, error) {
	login := s.Token()
	if login.AppCredentialID == "" {
		return login.PasswordExpiresAt, nil
	}
	credentials := resource[appCredential]{
		session: s, service: identityService, path: "users/" + url.PathEscape(login.UserID) + "/application_credentials",
		singular: "application_credential", plural: "application_credentials",
	}
	found, err := credentials.get(ctx, login.AppCredentialID)
	return found.ExpiresAt.Time, err
}

// appCredential is a Keystone application credential.
type appCredential struct {
	ExpiresAt keystoneTime `json:"expires_at"` // null for never
}
