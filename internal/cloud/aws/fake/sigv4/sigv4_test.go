package sigv4

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exampleRequest is the example of AWS' documentation of the signing process, with its key and signature.
func exampleRequest(t *testing.T) (*http.Request, Credentials, time.Time) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08", nil)
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	key := Credentials{KeyID: "AKIDEXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
	return r, key, time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
}

func TestCredentials_Sign(t *testing.T) {
	r, key, at := exampleRequest(t)
	key.Sign(r, nil, "iam", "us-east-1", at)
	assert.Equal(t, "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, "+
		"Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7", r.Header.Get("Authorization"))

	parsed, err := Parse(r)
	require.NoError(t, err)
	assert.Equal(t, key.KeyID, parsed.KeyID)
	assert.Equal(t, "iam", parsed.Service)
	assert.Equal(t, "us-east-1", parsed.Region)
	assert.Equal(t, at, parsed.Time)
	assert.True(t, parsed.IsBy(key.Secret, r, nil))
	assert.False(t, parsed.IsBy("other", r, nil), "another key")
	assert.False(t, parsed.IsBy(key.Secret, r, []byte("x")), "another body")
	r.Header.Set("Content-Type", "text/plain")
	assert.False(t, parsed.IsBy(key.Secret, r, nil), "another header")
}

func TestParse_Refusals(t *testing.T) {
	tests := map[string]struct{ old, replacement, want string }{
		"another algorithm":     {"AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256", "not of AWS4-HMAC-SHA256"},
		"an incomplete scope":   {"/iam/aws4_request", "", "incomplete"},
		"no signed headers":     {"SignedHeaders", "Headers", "incomplete"},
		"an unsigned host":      {";host", "", "host is not signed"},
		"a scope of other days": {"/20150830/", "/20150831/", "not that of the request"},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			r, key, at := exampleRequest(t)
			key.Sign(r, nil, "iam", "us-east-1", at)
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), test.old, test.replacement, 1))
			_, err := Parse(r)
			assert.ErrorContains(t, err, test.want)
		})
	}
	r, _, _ := exampleRequest(t)
	_, err := Parse(r)
	assert.ErrorIs(t, err, ErrUnsigned)
}
