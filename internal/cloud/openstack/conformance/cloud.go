package conformance

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
)

// requestTimeout is generous: a real cloud on a busy machine takes seconds for a router.
const requestTimeout = 2 * time.Minute

// Cloud says where an OpenStack is and who may use it.
type Cloud struct {
	// Name is for people.
	Name string
	// AuthURL is Keystone's address with its version, such as "http://127.0.0.1:5000/v3".
	AuthURL string
	// Region is where the resources are made.
	Region string
	// ExternalNetwork is the name of a network that routers and floating IPs can use. It has two IPv4 subnets.
	ExternalNetwork string
	// Operator may do everything. It makes the projects and the users with which the behaviours are tried.
	Operator Login
	// TLS trusts the cloud's certificates; nil means as the system does.
	TLS *tls.Config
}

// Login is a user with a password in a project, all of them in the domain Default.
type Login struct{ User, Password, Project string }

// ExternalNetworkVariable is the environment variable that names a cloud's external network; it is "public" otherwise.
const ExternalNetworkVariable = "TRELLIS_EXTERNAL_NETWORK"

// FromFile reads a cloud from a clouds.yaml, which is looked for as OpenStack's own command line does it: in the file that
// OS_CLIENT_CONFIG_FILE names, in the working directory, in the user's and the system's configuration; or in the files at paths alone. The entry must
// be an administrator's, with a password.
func FromFile(entry string, paths ...string) (Cloud, error) {
	options := []clouds.ParseOption{clouds.WithCloudName(entry)}
	if len(paths) > 0 {
		options = append(options, clouds.WithLocations(paths...))
	}
	auth, endpoint, trust, err := clouds.Parse(options...)
	if err != nil {
		return Cloud{}, fmt.Errorf("reading cloud %q of clouds.yaml: %w", entry, err)
	}
	if auth.Username == "" || auth.Password == "" {
		return Cloud{}, fmt.Errorf("cloud %q of clouds.yaml has no username and password: both are needed, of an administrator", entry)
	}
	if domain := cmp.Or(auth.DomainID, strings.ToLower(auth.DomainName), "default"); domain != "default" {
		return Cloud{}, fmt.Errorf("cloud %q of clouds.yaml is a user's of domain %q: an administrator of the domain Default is needed", entry, domain)
	}
	if endpoint.Region == "" {
		return Cloud{}, fmt.Errorf("cloud %q of clouds.yaml has no region_name", entry)
	}
	return Cloud{
		Name: entry, AuthURL: strings.TrimRight(auth.IdentityEndpoint, "/"), Region: endpoint.Region, ExternalNetwork: cmp.Or(os.Getenv(ExternalNetworkVariable), "public"), TLS: trust,
		Operator: Login{User: auth.Username, Password: auth.Password, Project: cmp.Or(auth.TenantName, scopedTo(auth))},
	}, nil
}

func scopedTo(auth gophercloud.AuthOptions) string {
	if auth.Scope == nil {
		return ""
	}
	return auth.Scope.ProjectName
}

func (c Cloud) client() *http.Client {
	return &http.Client{
		Timeout:   requestTimeout,
		Transport: &http.Transport{TLSClientConfig: c.TLS, MaxIdleConnsPerHost: 4},
		// A redirect is an answer to look at.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
