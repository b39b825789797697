package openstack

import (
	"net/url"
	"strings"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// withoutPassword returns a URL without its password.
func withoutPassword(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return parsed.Redacted()
}

// sanitize makes an external text safe for an error: on one line, of limited length, without control characters and secrets.
func sanitize(text string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	return truncate.Line(text, truncate.MaxExternal)
}

// sanitizedError is an error whose text may contain external text. Its own text is sanitized.
type sanitizedError struct {
	text string
	err  error
}

func sanitizeError(err error, secrets ...string) error {
	return &sanitizedError{text: sanitize(err.Error(), secrets), err: err}
}

// Error implements error.
func (e *sanitizedError) Error() string { return e.text }

// Unwrap returns the error for errors.Is and errors.As.
func (e *sanitizedError) Unwrap() error { return e.err }
