package chart

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// maxRealm is how much of a realm is quoted.
const maxRealm = 200

// secureTransport rejects requests over plain HTTP, and responses that would make the client send credentials to another place than it should.
// Redirects and token requests pass through it like all others.
type secureTransport struct {
	next http.RoundTripper
	// registry is the host of the registry, with its port if it has one.
	registry string
}

var _ http.RoundTripper = secureTransport{}

// RoundTrip implements http.RoundTripper. The error is errPlainHTTP or a realmError if the peer causes it.
func (s secureTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme != "https" {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, errPlainHTTP
	}
	// The target of the request is checked rather than headers, which are ambiguous. A redirect without credentials may lead to the storage of the registry.
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

// realmError is the error for a registry that names a forbidden place for token requests.
type realmError struct{ realm, reason string }

func (r *realmError) Error() string {
	return fmt.Sprintf("the registry sends for a token to %q, %s", truncate.Line(r.realm, maxRealm), r.reason)
}

// realmOf returns the realm of a Bearer challenge (RFC 6750).
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

// checkRealm requires HTTPS, and either the registry's own host or a host in a zone that is not more private than the registry's. Registries may have
// a separate token server, as Docker Hub and GitLab do, but an outside registry must not direct requests to the operator's network, cluster or
// machine.
func checkRealm(realm string, registry *url.URL) error {
	address, err := url.Parse(realm)
	if err != nil || address.Hostname() == "" {
		return &realmError{realm, "which is no URL"}
	}
	host, own := hostOf(address), hostOf(registry)
	switch {
	case address.Scheme != "https":
		return &realmError{realm, "but credentials are only sent over HTTPS"}
	case host == own, isRealmAllowed(own, host):
		return nil
	case zoneOf(own) == network:
		return &realmError{realm, "which is in the operator's own cluster or machine, and the registry is not"}
	}
	return &realmError{realm, "which is neither the registry's own host nor one with a public name"}
}

func hostOf(address *url.URL) string {
	return strings.TrimSuffix(strings.ToLower(address.Hostname()), ".")
}

// isRealmAllowed reports whether a registry may direct token requests to another host. The operator's own machine is never allowed.
func isRealmAllowed(registry, host string) bool {
	from := zoneOf(registry)
	switch zoneOf(host) {
	case internet:
		return !isAddress(host) || isAddress(registry) || from == network || from == cluster
	case network:
		return from == network || from == cluster
	case cluster:
		return from == cluster
	}
	return false
}

// zone is the scope from which a host is reachable.
type zone int

const (
	internet zone = iota // public
	network              // private addresses and names of private networks
	cluster              // Services, and names that may resolve to them
	machine              // the operator's own
)

func zoneOf(host string) zone {
	if address, err := netip.ParseAddr(host); err == nil {
		return zoneOfAddress(address.Unmap())
	}
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	switch {
	case last == "localhost", last == "", last[0] >= '0' && last[0] <= '9': // no top-level domain begins with a digit, so it is another form of an address
		return machine
	case len(labels) == 1, last == "svc", strings.HasSuffix(host, ".cluster.local"):
		return cluster
	case slices.Contains([]string{"local", "internal", "localdomain"}, last):
		return network
	}
	return internet
}

func zoneOfAddress(address netip.Addr) zone {
	carriers := netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64}), 10) // RFC 6598
	switch {
	case address.IsPrivate(), carriers.Contains(address):
		return network
	case address.IsGlobalUnicast():
		return internet
	}
	return machine // loopback and link-local, e.g. the metadata service of a cloud
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
