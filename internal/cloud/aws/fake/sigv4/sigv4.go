package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	algorithm  = "AWS4-HMAC-SHA256"
	timeLayout = "20060102T150405Z"
	dateHeader = "X-Amz-Date"
	// TokenHeader is the header of the session token of temporary credentials.
	TokenHeader = "X-Amz-Security-Token"
)

// Signature is what a signed request says about its signature.
type Signature struct {
	KeyID         string
	Region        string
	Service       string // as in signatures: "ec2", "iam", "elasticloadbalancing", "sts"
	Time          time.Time
	SignedHeaders []string
	Value         string // in hex

	scope string
}

// ErrUnsigned is returned for a request without a signature.
var ErrUnsigned = errors.New("the request has no signature")

// Parse reads the signature of a request.
func Parse(r *http.Request) (Signature, error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return Signature{}, ErrUnsigned
	}
	rest, ok := strings.CutPrefix(header, algorithm+" ")
	if !ok {
		return Signature{}, errors.New("the signature is not of " + algorithm)
	}
	fields := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	credential := strings.Split(fields["Credential"], "/")
	if len(credential) != 5 || credential[4] != "aws4_request" || fields["SignedHeaders"] == "" || fields["Signature"] == "" {
		return Signature{}, errors.New("the signature is incomplete")
	}
	at, err := time.Parse(timeLayout, r.Header.Get(dateHeader))
	if err != nil || !strings.HasPrefix(r.Header.Get(dateHeader), credential[1]) {
		return Signature{}, errors.New("the date of the signature is not that of the request")
	}
	signed := strings.Split(fields["SignedHeaders"], ";")
	if !slices.Contains(signed, "host") {
		return Signature{}, errors.New("the host is not signed")
	}
	return Signature{
		KeyID: credential[0], Region: credential[2], Service: credential[3], Time: at, SignedHeaders: signed, Value: fields["Signature"],
		scope: strings.Join(credential[1:], "/"),
	}, nil
}

// IsBy reports whether the signature of the request is that of the secret key.
func (s Signature) IsBy(secret string, r *http.Request, body []byte) bool {
	return hmac.Equal([]byte(s.value(secret, r, body)), []byte(s.Value))
}

func (s Signature) value(secret string, r *http.Request, body []byte) string {
	toSign := strings.Join([]string{algorithm, s.Time.Format(timeLayout), s.scope, hash(s.canonicalRequest(r, body))}, "\n")
	key := []byte("AWS4" + secret)
	for part := range strings.SplitSeq(s.scope, "/") {
		key = sum(key, part)
	}
	return hex.EncodeToString(sum(key, toSign))
}

func (s Signature) canonicalRequest(r *http.Request, body []byte) string {
	path := escapeAgain(r.URL.EscapedPath())
	if path == "" {
		path = "/"
	}
	// The encoding of net/url differs for spaces only.
	query := strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20")
	lines := []string{r.Method, path, query}
	for _, name := range s.SignedHeaders {
		values := slices.Clone(r.Header.Values(name))
		switch name {
		case "host":
			values = []string{r.Host}
		case "content-length":
			values = []string{r.Header.Get("Content-Length")}
		}
		for i, value := range values {
			values[i] = strings.Join(strings.Fields(value), " ")
		}
		lines = append(lines, name+":"+strings.Join(values, ","))
	}
	return strings.Join(append(lines, "", strings.Join(s.SignedHeaders, ";"), hash(string(body))), "\n")
}

// escapeAgain escapes each segment of a path that is escaped already: all services but S3 sign paths so.
func escapeAgain(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		segments[i] = strings.ReplaceAll(url.QueryEscape(segment), "+", "%20")
	}
	return strings.Join(segments, "/")
}

// Credentials sign requests. Token is set for temporary ones.
type Credentials struct {
	KeyID, Secret, Token string
}

// Sign signs a request with this body.
func (c Credentials) Sign(r *http.Request, body []byte, service, region string, at time.Time) {
	at = at.UTC()
	r.Header.Set(dateHeader, at.Format(timeLayout))
	signed := []string{"content-type", "host", "x-amz-date"}
	if c.Token != "" {
		r.Header.Set(TokenHeader, c.Token)
		signed = append(signed, "x-amz-security-token")
	}
	if r.Host == "" {
		r.Host = r.URL.Host
	}
	scope := strings.Join([]string{at.Format("20060102"), region, service, "aws4_request"}, "/")
	s := Signature{Time: at, SignedHeaders: signed, scope: scope}
	r.Header.Set("Authorization", algorithm+" Credential="+c.KeyID+"/"+scope+", SignedHeaders="+strings.Join(signed, ";")+
		", Signature="+s.value(c.Secret, r, body))
}

func sum(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func hash(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:])
}
