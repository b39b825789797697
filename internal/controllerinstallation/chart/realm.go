package chart

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// maxRealm is how much of a realm is told.
const maxRealm = 200

// secureTransport sends nothing over plain HTTP, wherever a registry sends its clients, and lets no answer through that asks to have credentials sent
// to where they don't belong. Redirects and requests for tokens go through it like all others.
type secureTransport struct {
	next http.RoundTripper
	// registry is the host that is pulled from, with its port if it has one.
	registry string
}

var _ http.RoundTripper = secureTransport{}

// RoundTrip implements http.RoundTripper. The error is errPlainHTTP or a realmError where the peer is at fault.
func (s secureTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme != "https" {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, errPlainHTTP
	}
	// Headers can be read in many ways; what counts is where a request goes. A redirect without credentials may lead to where the registry keeps files.
	if redirected := request.Response != nil && request.Header.Get("Authorization") == ""; !redirected {
		if err := checkRealm(request.URL.String(), &url.URL{Host: s.registry}); err != nil {
			return nil, err
		}
	}
	response, err := s.next.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusUnauthorized {
		return response, err
	}
	for _, challenge := range response.Header.Values("Www-Authenticate") {
		realm, isBearer := realmOf(challenge)
		if !isBearer {
			continue
		}
		if err := checkRealm(realm, request.URL); err != nil {
			_ = response.Body.Close()
			return nil, err
		}
	}
	return response, nil
}

// realmError is the error of a registry that sends its clients to the wrong place for a token.
type realmError struct{ realm, reason string }

func (r *realmError) Error() string {
	return fmt.Sprintf("the registry sends for a token to %q, %s", truncate.Line(r.realm, maxRealm), r.reason)
}

// realmOf reads the realm of a challenge by Bearer (RFC 6750).
func realmOf(challenge string) (realm string, isBearer bool) {
	scheme, parameters, _ := strings.Cut(strings.TrimSpace(challenge), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return "", false
	}
	at := strings.Index(strings.ToLower(parameters), "realm=")
	if at < 0 {
		return "", false
	}
	realm = parameters[at+len("realm="):]
	if quoted, is := strings.CutPrefix(realm, `"`); is {
		realm, _, _ = strings.Cut(quoted, `"`)
	} else {
		realm, _, _ = strings.Cut(realm, ",")
	}
	return realm, true
}

// checkRealm wants HTTPS, and the registry's own host or one that has a public name: registries may keep their tokens elsewhere, as Docker Hub does,
// but what only the operator's network reaches is none of theirs to point at.
func checkRealm(realm string, registry *url.URL) error {
	address, err := url.Parse(realm)
	if err != nil || address.Hostname() == "" {
		return &realmError{realm, "which is no URL"}
	}
	host := strings.TrimSuffix(strings.ToLower(address.Hostname()), ".")
	switch {
	case address.Scheme != "https":
		return &realmError{realm, "but credentials are only sent over HTTPS"}
	case strings.EqualFold(host, registry.Hostname()):
		return nil
	case net.ParseIP(host) != nil, isLocal(host):
		return &realmError{realm, "which is neither the registry's own host nor one with a public name"}
	}
	return nil
}

// isLocal reports whether a name is looked up in the own cluster or network.
func isLocal(host string) bool {
	for _, domain := range []string{"localhost", "local", "svc", "internal", "localdomain"} {
		if strings.HasSuffix("."+host, "."+domain) {
			return true
		}
	}
	return !strings.Contains(host, ".")
}
