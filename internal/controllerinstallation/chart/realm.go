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

// checkRealm wants HTTPS, and the registry's own host, or one that is not nearer to the operator than the registry is: registries may keep their tokens
// elsewhere, as Docker Hub and GitLab do, but what only the operator's network, cluster or machine reaches is none of theirs to point at from outside of it.
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

// isRealmAllowed reports whether a registry may send its clients to another host. To the operator's own machine none may.
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

// zone is from where a host can be reached.
type zone int

const (
	internet zone = iota // from everywhere
	network              // private addresses, and names that only private networks have
	cluster              // Services, and names that are looked up among them first
	machine              // the operator's own
)

func zoneOf(host string) zone {
	if address, err := netip.ParseAddr(host); err == nil {
		return zoneOfAddress(address.Unmap())
	}
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	switch {
	case last == "localhost", last == "", last[0] >= '0' && last[0] <= '9': // no domain begins with a digit: it is an address in another form
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
	return machine // loopback, and what answers for the machine alone, such as metadata of a cloud
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
