package proxy

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// serviceOf is the service that a catalog lists under a type. Types have changed over the years, and clouds list their
// services under the old as well as the new.
func serviceOf(kind string) (service wire.Service, known bool) {
	switch kind {
	case "identity":
		return services.Keystone, true
	case "network", "networking":
		return services.Neutron, true
	case "compute":
		return services.Nova, true
	case "image":
		return services.Glance, true
	case "load-balancer":
		return services.Octavia, true
	case "shared-file-system", "sharev2", "share":
		return services.Manila, true
	case "block-storage", "block-store", "volumev3", "volumev2", "volume":
		return services.Cinder, true
	default:
		return "", false
	}
}

// prefixOf is where a service lives below the proxy's URL.
func prefixOf(service wire.Service) string {
	switch service {
	case services.Keystone:
		return "/identity"
	case services.Neutron:
		return "/network"
	case services.Nova:
		return "/compute"
	case services.Glance:
		return "/image"
	case services.Octavia:
		return "/load-balancer"
	case services.Manila:
		return "/share"
	case services.Cinder:
		return "/volume"
	default:
		return "/" + string(service)
	}
}

// route leads from a path of the proxy to a service: below the prefix is what is below the address there.
type route struct {
	service wire.Service
	prefix  string // "/network"
	scheme  string
	host    string // "neutron.example.org:9696", the port left out if it is the scheme's own
	base    string // "" or "/networking": what is before the version
}

// routes are the addresses that are known. They are never forgotten: clients keep catalogs for long.
type routes struct {
	mu  sync.Mutex
	all []route
}

// add returns the way to an endpoint, a new one if need be, and what of the endpoint's path is below its address: the
// version, and what may follow.
func (w *routes) add(service wire.Service, endpoint string) (added route, rest string, err error) {
	address, err := parse(endpoint)
	if err != nil {
		return route{}, "", err
	}
	added = route{service: service, prefix: prefixOf(service), scheme: address.Scheme, host: hostOf(address)}
	added.base, rest = splitAtVersion(address.EscapedPath())

	w.mu.Lock()
	defer w.mu.Unlock()
	number := 1
	for _, known := range w.all {
		if known.service != service {
			continue
		}
		if known.scheme == added.scheme && known.host == added.host && known.base == added.base {
			return known, rest, nil
		}
		number++
	}
	if number > 1 {
		added.prefix += "-" + strconv.Itoa(number)
	}
	w.all = append(w.all, added)
	return added, rest, nil
}

// find returns the way that a path of the proxy begins with, and the rest of the path.
func (w *routes) find(path string) (match route, rest string, found bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, known := range w.all {
		if rest, below := trimBase(path, known.prefix); below {
			return known, rest, true
		}
	}
	return route{}, "", false
}

// toProxyPath turns a URL of a service into a path of the proxy. It reports false for what belongs to no known service.
func (w *routes) toProxyPath(target string) (path string, found bool) {
	address, err := parse(target)
	if err != nil {
		return "", false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	longest := -1
	for _, known := range w.all {
		// A service behind a gateway may believe that it is spoken to without TLS, so the scheme is not compared.
		rest, below := trimBase(address.EscapedPath(), known.base)
		if below && known.host == hostOf(address) && len(known.base) > longest {
			path, longest = known.prefix+rest, len(known.base)
		}
	}
	if longest < 0 {
		return "", false
	}
	if address.RawQuery != "" {
		path += "?" + address.RawQuery
	}
	return path, true
}

// target is the URL behind a path below the prefix.
func (t route) target(rest, query string) (*url.URL, error) {
	if query != "" {
		rest += "?" + query
	}
	return url.Parse(t.scheme + "://" + t.host + t.base + rest)
}

func parse(raw string) (*url.URL, error) {
	address, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("no URL: %w", err)
	}
	if address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		return nil, fmt.Errorf("%q is no http or https URL", raw)
	}
	return address, nil
}

func hostOf(address *url.URL) string {
	port := map[string]string{"http": ":80", "https": ":443"}[address.Scheme]
	return strings.TrimSuffix(strings.ToLower(address.Host), port)
}

// splitAtVersion splits a path before its version, or at its end if it has none.
func splitAtVersion(path string) (base, rest string) {
	parts := strings.SplitAfter(path, "/")
	i := slices.IndexFunc(parts, func(part string) bool { return services.IsVersion(strings.TrimSuffix(part, "/")) })
	if i < 0 {
		i = len(parts)
	}
	base = strings.TrimRight(strings.Join(parts[:i], ""), "/")
	return base, path[len(base):]
}

// trimBase cuts whole parts from the beginning of a path.
func trimBase(path, base string) (rest string, found bool) {
	rest, found = strings.CutPrefix(path, base)
	return rest, found && (rest == "" || strings.HasPrefix(rest, "/"))
}
