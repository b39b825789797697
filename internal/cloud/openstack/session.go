package openstack

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/login"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// Session is an authenticated client for one region of a cloud, as one user in one project. It is shared by all
// users of that account and safe for concurrent use. All its methods return errors of package cloud.
type Session struct {
	region       string
	logins       *login.Source[token]
	client       *gophercloud.ProviderClient
	transportKey cloud.Fingerprint
	used         atomic.Int64 // when, in Unix nanoseconds
	external     externalNetworks
}

// Token describes the session's login, without the token itself.
type Token struct {
	ProjectID, UserID, DomainID string
	ExpiresAt                   time.Time
	// AppCredentialID is the application credential of the login; empty for a login with a password.
	AppCredentialID string
	// PasswordExpiresAt is when the user's password expires; zero if it does not.
	PasswordExpiresAt time.Time
}

// Token returns a description of the last login.
func (s *Session) Token() Token {
	if last := s.logins.Last(); last != nil {
		return last.Value.info
	}
	return Token{}
}

// has reports whether the catalog of the last login lists a service in the session's region.
func (s *Session) has(wanted service) bool {
	last := s.logins.Last()
	if last == nil {
		return false
	}
	_, err := last.Value.catalog.endpoint(wanted, s.region)
	return err == nil
}

func (s *Session) touch() { s.used.Store(time.Now().UnixNano()) }

// call is one request to a service.
type call struct {
	service service
	method  string
	path    string // below the service's endpoint
	query   url.Values
	headers map[string]string
	// microversion is the version of Nova's API for the request; without one it is the first, which every Nova
	// has. It is set for each call, so that calls do not depend on each other's.
	microversion string
	body         any          // encoded as JSON; nil for none
	response     any          // decoded from JSON; nil if it is not needed
	expects      responseKind // limits the response; one object by default
	noRetry      bool         // must not be repeated if its effect is unknown, for any method
}

func (c call) info() transport.Info {
	info := transport.Info{Service: c.service.String(), Limits: c.expects.limits()}
	if c.noRetry {
		info.Retry = transport.RetryNever
	}
	return info
}

// allHeaders returns the headers of a call with its microversion.
func (c call) allHeaders() map[string]string {
	if c.microversion == "" {
		return c.headers
	}
	headers := map[string]string{"OpenStack-API-Version": c.service.String() + " " + c.microversion}
	maps.Copy(headers, c.headers)
	return headers
}

// do sends a call and classifies its error.
func (s *Session) do(ctx context.Context, c call) error {
	s.touch()
	current, err := s.logins.Valid(ctx)
	if err != nil {
		return err
	}
	endpoint, err := current.Value.catalog.endpoint(c.service, s.region)
	if err != nil {
		return err
	}
	target := endpoint + c.path
	if len(c.query) > 0 {
		target += "?" + c.query.Encode()
	}
	client := gophercloud.ServiceClient{ProviderClient: s.client, Endpoint: endpoint}
	options := &gophercloud.RequestOpts{
		JSONBody: c.body, KeepResponseBody: c.response != nil, MoreHeaders: c.allHeaders(), OkCodes: successCodes(),
	}
	response, err := client.Request(transport.WithInfo(ctx, c.info()), c.method, target, options) //nolint:bodyclose // it is in memory
	if err == nil && c.response != nil {
		err = decodeResponse(response, c.response)
	}
	if classified := classify(c.service, c.method, c.path, err, current.Value.id, s.logins.Last().Value.id); classified != nil {
		return classified
	}
	return nil
}

// successCodes returns every code of a completed or accepted request. Services differ in the codes that they use.
func successCodes() []int {
	return []int{http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent}
}
