package example

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// The keys of a Secret with credentials.
const (
	keyURL = "url"
	keyKey = "key"
)

// Credentials has all inputs of a session. It prints as a placeholder, so that it cannot appear in a log.
type Credentials struct {
	// URL is the address of the API. It is from the Secret or set by the caller.
	URL string
	// Key identifies the account.
	Key string
}

// ParseCredentials reads the data of a Secret. Its errors are of the kind cloud.Configuration, and never contain a value.
func ParseCredentials(data map[string][]byte) (Credentials, error) {
	credentials := Credentials{URL: strings.TrimSpace(string(data[keyURL])), Key: strings.TrimSpace(string(data[keyKey]))}
	if credentials.Key == "" {
		return Credentials{}, cloud.Errorf(cloud.Configuration, "%q is missing: add the key of the account", keyKey)
	}
	return credentials, nil
}

// WithURL returns the credentials for the address that the operator configured. It replaces that of the Secret, so that no Secret can send a key
// elsewhere.
func (c Credentials) WithURL(address string) Credentials {
	c.URL = address
	return c
}

// Format implements fmt.Formatter for every verb.
func (c Credentials) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "example credentials") }

// MarshalText implements encoding.TextMarshaler, which structured logs use.
func (c Credentials) MarshalText() ([]byte, error) { return []byte("example credentials"), nil }

// validate returns what prevents the use of the credentials.
func (c Credentials) validate() error {
	address, err := url.Parse(c.URL)
	if err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http" {
		return cloud.Errorf(cloud.Configuration, "the address of the cloud must be like https://cloud.example.org: correct it in the cloud profile")
	}
	return nil
}

// account identifies an account: it is a hash of its credentials.
type account [sha256.Size]byte

func (c Credentials) account() account { return sha256.Sum256([]byte(c.URL + " " + c.Key)) } // a valid URL has no space
