package openstack

import (
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/login"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// authenticated adds the token to each request, and replaces it once if a service rejects it. It is between transport.ReadOnly and
// transport.Retrying; a login is sent without both.
type authenticated struct {
	next   http.RoundTripper
	logins *login.Source[token]
}

// RoundTrip implements http.RoundTripper.
func (t *authenticated) RoundTrip(req *http.Request) (*http.Response, error) {
	defer transport.CloseBody(req)
	current, err := t.logins.Valid(req.Context())
	if err != nil {
		return nil, err
	}
	response, err := t.withToken(current, req)
	if err != nil || response.StatusCode != http.StatusUnauthorized {
		return response, err
	}
	fresh, err := t.logins.Replace(req.Context(), current)
	if err != nil {
		return nil, err
	}
	if fresh == current {
		return response, nil
	}
	return t.withToken(fresh, req)
}

func (t *authenticated) withToken(l *login.Login[token], req *http.Request) (*http.Response, error) {
	signed, err := transport.CloneRequest(req)
	if err != nil {
		return nil, err
	}
	signed.Header.Set("X-Auth-Token", l.Value.id)
	response, err := t.next.RoundTrip(signed)
	if err == nil && response.StatusCode != http.StatusUnauthorized && response.StatusCode < 500 {
		l.Accepted()
	}
	return response, err
}
