package openstack

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// service is an OpenStack API.
type service int

const (
	identityService service = iota
	networkService
	computeService
	loadBalancerService
	shareService
	imageService
	blockStorageService
)

// String returns the service's official type, for messages and metrics.
func (s service) String() string { return s.traits().types[0] }

type traits struct {
	// types are the names of the service in catalogs, the official one first.
	types []string
	// version is appended to an endpoint without a version.
	version string
}

func (s service) traits() traits {
	switch s {
	case networkService:
		return traits{types: []string{"network", "networking"}, version: "v2.0"}
	case computeService:
		return traits{types: []string{"compute"}, version: "v2.1"}
	case loadBalancerService:
		return traits{types: []string{"load-balancer"}, version: "v2.0"}
	case shareService:
		return traits{types: []string{"shared-file-system", "sharev2"}, version: "v2"}
	case imageService:
		return traits{types: []string{"image"}, version: "v2"}
	case blockStorageService: // "volume" and "volumev2" are older versions
		return traits{types: []string{"block-storage", "volumev3"}, version: "v3"}
	default:
		return traits{types: []string{"identity"}, version: "v3"}
	}
}

// catalog has the services' addresses from a login.
type catalog []tokens.CatalogEntry

// endpoint returns the public endpoint of a service in a region, with its version and a slash at its end. It makes no request:
// the versions of services are known, so version discovery is not needed. An empty region
// means the first that the catalog lists.
func (c catalog) endpoint(s service, region string) (string, error) {
	var otherRegions []string
	for _, kind := range s.traits().types {
		for _, endpoint := range c.public(kind) {
			if region == "" || endpoint.Region == region || endpoint.RegionID == region {
				return versioned(endpoint.URL, s.traits().version)
			}
			otherRegions = append(otherRegions, endpoint.Region)
		}
	}
	slices.Sort(otherRegions)
	return "", &cloud.Error{
		Kind: cloud.Configuration,
		Err:  &missingServiceError{service: s, region: region, otherRegions: slices.Compact(otherRegions)},
	}
}

func (c catalog) public(kind string) []tokens.Endpoint {
	var found []tokens.Endpoint
	for _, entry := range c {
		if entry.Type != kind {
			continue
		}
		for _, endpoint := range entry.Endpoints {
			if endpoint.Interface == "public" {
				found = append(found, endpoint)
			}
		}
	}
	return found
}

// versioned appends the version to a catalog's URL unless one is in it already, as the last part of its path or before the
// project's ID.
func versioned(raw, version string) (string, error) {
	parsed, err := url.Parse(raw)
	if err != nil || parsed.Host == "" {
		return "", cloud.Errorf(cloud.Unavailable, "the cloud's catalog lists %q as an endpoint, which is no address", truncate.Line(raw, truncate.MaxExternal))
	}
	if !slices.ContainsFunc(strings.Split(parsed.Path, "/"), isVersion) {
		parsed = parsed.JoinPath(version)
	}
	return strings.TrimRight(parsed.String(), "/") + "/", nil
}

// isVersion reports whether a part of a path is a version such as v2 or v2.1.
func isVersion(part string) bool {
	digits, ok := strings.CutPrefix(part, "v")
	return ok && digits != "" && strings.Trim(digits, "0123456789.") == ""
}

// missingServiceError is the error of a service that a catalog lacks.
type missingServiceError struct {
	service      service
	region       string
	otherRegions []string
}

// Error implements error.
func (e *missingServiceError) Error() string {
	message := fmt.Sprintf("the cloud offers no %s service to this project in region %q", e.service, e.region)
	if len(e.otherRegions) > 0 {
		message += ", but in " + truncate.Line(strings.Join(e.otherRegions, ", "), truncate.MaxExternal)
	}
	return message
}

// IsServiceMissing reports whether the cloud's catalog lacks the service that a call needs, in the session's
// region. Such an error is of the kind cloud.Configuration.
func IsServiceMissing(err error) bool {
	_, ok := errors.AsType[*missingServiceError](err)
	return ok
}
