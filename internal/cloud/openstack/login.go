package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/login"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// token is issued by Keystone at a login.
type token struct {
	id      string
	catalog catalog
	info    Token
}

// authenticator logs one account in.
type authenticator struct {
	client      *gophercloud.ProviderClient
	credentials auth.Credentials
	metrics     *cloud.Metrics
}

// login requests a token from Keystone. It is a single call, which is safe to repeat.
func (i *authenticator) login(ctx context.Context) (*login.Login[token], error) {
	ctx = transport.WithInfo(ctx, transport.Info{
		Service: identityService.String(), Retry: transport.RetryAlways, Limits: tokenResponse.limits(),
	})
	client := &gophercloud.ServiceClient{ProviderClient: i.client, Endpoint: i.credentials.IdentityEndpoint()}
	response, err := readLogin(tokens.Create(ctx, client, i.options()))
	i.metrics.Login(err)
	if err == nil {
		return response, nil
	}
	secrets := []string{i.credentials.Password, i.credentials.ApplicationCredentialSecret}
	return nil, i.explain(classify(identityService, http.MethodPost, "auth/tokens", err, secrets...))
}

// rejectsCredentials reports whether Keystone itself rejects the credentials: with 401, or with 404 for an unknown application
// credential's ID. Responses of proxies with 404 do not have Keystone's format.
func (i *authenticator) rejectsCredentials(err *cloud.Error) bool {
	byCredential := i.credentials.ApplicationCredentialID != "" && i.credentials.Password == ""
	fault, ok := errors.AsType[*ResponseError](err)
	return err.Kind == cloud.Unauthenticated ||
		ok && byCredential && fault.Status == http.StatusNotFound && fault.Type == http.StatusText(http.StatusNotFound)
}

func (i *authenticator) options() *tokens.AuthOptions {
	c := i.credentials
	options := &tokens.AuthOptions{Username: c.Username, Password: c.Password}
	options.DomainID, options.DomainName = c.UserDomain()
	if c.Password == "" {
		// An application credential belongs to its project, and Keystone rejects a request with another scope.
		options.ApplicationCredentialID, options.ApplicationCredentialName = auth.IDOrName(c.ApplicationCredentialID, c.ApplicationCredentialName)
		options.ApplicationCredentialSecret = c.ApplicationCredentialSecret
		return options
	}
	options.Scope.ProjectID, options.Scope.ProjectName = auth.IDOrName(c.TenantID, c.TenantName)
	if options.Scope.ProjectID == "" {
		options.Scope.DomainID, options.Scope.DomainName = auth.IDOrName(c.DomainID, c.DomainName)
	}
	return options
}

// keystoneTime is a time in Keystone's format: in UTC, which is not marked if a token expires with its application credential, and in descriptions
// of application credentials.
type keystoneTime struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (m *keystoneTime) UnmarshalJSON(raw []byte) error {
	if m.Time.UnmarshalJSON(raw) == nil {
		return nil
	}
	parsed, err := time.Parse(`"2006-01-02T15:04:05"`, string(raw)) // with or without a fraction
	m.Time = parsed
	return err
}

func readLogin(result tokens.CreateResult) (*login.Login[token], error) {
	var body struct {
		ExpiresAt keystoneTime          `json:"expires_at"`
		IssuedAt  keystoneTime          `json:"issued_at"`
		Catalog   []tokens.CatalogEntry `json:"catalog"`
		User      struct {
			ID                string       `json:"id"`
			PasswordExpiresAt keystoneTime `json:"password_expires_at"`
		} `json:"user"`
		Project       tokens.Project `json:"project"`
		AppCredential struct {
			ID string `json:"id"`
		} `json:"application_credential"`
	}
	id, err := result.ExtractTokenID()
	if err != nil {
		return nil, err
	}
	if err := result.ExtractInto(&body); err != nil {
		return nil, fmt.Errorf("reading Keystone's answer: %w", err)
	}
	if body.IssuedAt.IsZero() {
		body.IssuedAt = keystoneTime{time.Now()}
	}
	lifetime := body.ExpiresAt.Sub(body.IssuedAt.Time)
	if id == "" || lifetime <= 0 {
		return nil, errors.New("the answer holds no token that is good for any time")
	}
	return login.New(token{
		id: id, catalog: body.Catalog,
		info: Token{
			ProjectID: body.Project.ID, UserID: body.User.ID, DomainID: body.Project.Domain.ID, ExpiresAt: time.Now().Add(lifetime),
			AppCredentialID: body.AppCredential.ID, PasswordExpiresAt: body.User.PasswordExpiresAt.Time,
		},
	}, lifetime), nil
}

// explain adds a remedy to a failed login. Only credentials that Keystone itself rejects are the user's
// error: a proxy in front of Keystone may respond with 404 for a while, or have an expired certificate.
func (i *authenticator) explain(err *cloud.Error) error {
	endpoint := withoutPassword(i.credentials.IdentityEndpoint())
	switch {
	case i.rejectsCredentials(err):
		err.Kind = cloud.Unauthenticated
		err.Message = "Keystone does not accept the OpenStack credentials: check user, password or application credential, " +
			"domain and project, and whether they have expired"
	case err.Kind == cloud.NotFound:
		err.Kind = cloud.Unavailable
		err.Message = fmt.Sprintf("no Keystone of version 3 answers at %s: if that lasts, check %q, or the Keystone URL of the cloud profile",
			endpoint, auth.KeyAuthURL)
	case err.Message == "":
		err.Message = "logging in at " + endpoint
	default:
		err.Message = fmt.Sprintf("logging in at %s: %s", endpoint, err.Message)
	}
	return err
}
