package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// login is what Keystone hands out for credentials.
type login struct {
	token    string
	catalog  catalog
	info     Token
	at       time.Time     // when it happened, by our clock
	lifetime time.Duration // by Keystone's own account, so that the two clocks may differ

	// replacement says that the login before this one was rejected by a service.
	replacement bool
	// accepted says that a service took the token.
	accepted atomic.Bool
}

// expired reports whether the token is no longer good.
func (l *login) expired(now time.Time) bool { return now.Sub(l.at) >= l.lifetime }

// renewAfter returns for how long the login serves before it is renewed: until 5 minutes or a tenth of its life are left,
// whichever is less.
func (l *login) renewAfter() time.Duration { return l.lifetime - min(5*time.Minute, l.lifetime/10) }

// authenticator logs one account in.
type authenticator struct {
	client      *gophercloud.ProviderClient
	credentials Credentials
	metrics     *cloud.Metrics
}

// login asks Keystone for a token. It is a single call, which may be repeated at will.
func (i *authenticator) login(ctx context.Context) (*login, error) {
	ctx = withRequestInfo(ctx, requestInfo{service: identityService, retry: retryAlways, expects: tokenResponse})
	client := &gophercloud.ServiceClient{ProviderClient: i.client, Endpoint: i.credentials.identityEndpoint()}
	response, err := readLogin(tokens.Create(ctx, client, i.options()), time.Now())
	i.metrics.Login(err)
	if err == nil {
		return response, nil
	}
	secrets := []string{i.credentials.Password, i.credentials.ApplicationCredentialSecret}
	return nil, i.explain(classify(identityService, http.MethodPost, "auth/tokens", err, secrets...))
}

// rejectsCredentials reports whether Keystone itself does not accept the credentials. It says so by 401, but by 404 of an application
// credential whose ID it does not know. Whatever else answers 404 on the way there does not speak like Keystone.
func (i *authenticator) rejectsCredentials(err *cloud.Error) bool {
	byCredential := i.credentials.ApplicationCredentialID != "" && i.credentials.Password == ""
	fault, ok := errors.AsType[*ResponseError](err)
	return err.Kind == cloud.Unauthenticated ||
		ok && byCredential && fault.Status == http.StatusNotFound && fault.Type == http.StatusText(http.StatusNotFound)
}

func (i *authenticator) options() *tokens.AuthOptions {
	c := i.credentials
	options := &tokens.AuthOptions{Username: c.Username, Password: c.Password}
	options.DomainID, options.DomainName = c.userDomain()
	if c.Password == "" {
		// An application credential is tied to its project, and Keystone refuses any other word about it.
		options.ApplicationCredentialID, options.ApplicationCredentialName = idOrName(c.ApplicationCredentialID, c.ApplicationCredentialName)
		options.ApplicationCredentialSecret = c.ApplicationCredentialSecret
		return options
	}
	options.Scope.ProjectID, options.Scope.ProjectName = idOrName(c.TenantID, c.TenantName)
	if options.Scope.ProjectID == "" {
		options.Scope.DomainID, options.Scope.DomainName = idOrName(c.DomainID, c.DomainName)
	}
	return options
}

// keystoneTime is a time as Keystone writes it: in UTC, which it does not say of a token that ends with its application credential.
type keystoneTime struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (m *keystoneTime) UnmarshalJSON(raw []byte) error {
	if m.Time.UnmarshalJSON(raw) == nil {
		return nil
	}
	parsed, err := time.Parse(`"2006-01-02T15:04:05"`, string(raw))
	m.Time = parsed
	return err
}

func readLogin(result tokens.CreateResult, now time.Time) (*login, error) {
	var body struct {
		ExpiresAt keystoneTime          `json:"expires_at"`
		IssuedAt  keystoneTime          `json:"issued_at"`
		Catalog   []tokens.CatalogEntry `json:"catalog"`
		User      tokens.User           `json:"user"`
		Project   tokens.Project        `json:"project"`
	}
	token, err := result.ExtractTokenID()
	if err != nil {
		return nil, err
	}
	if err := result.ExtractInto(&body); err != nil {
		return nil, fmt.Errorf("reading Keystone's answer: %w", err)
	}
	if body.IssuedAt.IsZero() {
		body.IssuedAt = keystoneTime{now}
	}
	lifetime := body.ExpiresAt.Sub(body.IssuedAt.Time)
	if token == "" || lifetime <= 0 {
		return nil, errors.New("the answer holds no token that is good for any time")
	}
	return &login{
		token: token, catalog: body.Catalog, at: now, lifetime: lifetime,
		info: Token{
			ProjectID: body.Project.ID, UserID: body.User.ID, DomainID: body.Project.Domain.ID, ExpiresAt: now.Add(lifetime),
		},
	}, nil
}

// explain adds what a user can do about a failed login. Only credentials that Keystone itself turns down are the user's
// error: whatever stands in front of a Keystone can answer 404 for a while, or show a certificate that has just expired.
func (i *authenticator) explain(err *cloud.Error) error {
	endpoint := withoutPassword(i.credentials.identityEndpoint())
	switch {
	case i.rejectsCredentials(err):
		err.Kind = cloud.Unauthenticated
		err.Message = "Keystone does not accept the OpenStack credentials: check user, password or application credential, " +
			"domain and project, and whether they have expired"
	case err.Kind == cloud.NotFound:
		err.Kind = cloud.Unavailable
		err.Message = fmt.Sprintf("no Keystone of version 3 answers at %s: if that lasts, check %q, or the Keystone URL of the cloud profile",
			endpoint, keyAuthURL)
	case err.Message == "":
		err.Message = "logging in at " + endpoint
	default:
		err.Message = fmt.Sprintf("logging in at %s: %s", endpoint, err.Message)
	}
	return err
}
