package openstack

import (
	"net/url"
	"strings"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// withoutPassword returns an address as it may be shown.
func withoutPassword(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return parsed.Redacted()
}

// foreignLine makes a text of others fit for an error: on one line, of limited length, without control characters and secrets.
func foreignLine(text string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	return truncate.Line(text, truncate.MaxForeign)
}

// foreignError is an error whose text may quote what others sent. Its own text is fit to be shown.
type foreignError struct {
	text string
	err  error
}

func foreign(err error, secrets ...string) error {
	return &foreignError{text: foreignLine(err.Error(), secrets), err: err}
}

// Error implements error.
func (e *foreignError) Error() string { return e.text }

// Unwrap gives errors.Is and errors.As access to the error.
func (e *foreignError) Unwrap() error { return e.err }
