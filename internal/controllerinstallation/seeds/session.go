package seeds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// credentials are where a seed is, and what lets somebody in.
type credentials struct {
	// source says where they come from, for people. remedy is what an admin does when they are refused; empty where that is nothing.
	source, remedy string
	// fingerprint is the same for as long as there is no reason to connect anew.
	fingerprint string
	config      *rest.Config
	// renewAt and expireAt are zero when they are good for ever.
	renewAt, expireAt time.Time
}

func (c *credentials) expired(now time.Time) bool {
	return !c.expireAt.IsZero() && !now.Before(c.expireAt)
}

func (c *credentials) due(now time.Time) bool { return !c.renewAt.IsZero() && !now.Before(c.renewAt) }

// rejectedError is the reason when an API server does not accept them.
func (c *credentials) rejectedError() error {
	message := "its API server does not accept the credentials of " + c.source + " (401)"
	if c.remedy != "" {
		message += ": " + c.remedy
	}
	return errors.New(message)
}

// session is a client with certain credentials.
type session struct {
	credentials *credentials
	http        *http.Client
	client      client.Client
	discovery   rest.Interface
	// refused becomes true when the API server does not accept the credentials any more.
	refused atomic.Bool
}

// newSession builds a client. It makes no connection yet: even what kinds there are is asked when somebody needs one, and again for kinds that are not
// among them.
func newSession(credentials *credentials, breaker *breaker, options Options) (*session, error) {
	c := &session{credentials: credentials}
	config := rest.CopyConfig(credentials.config)
	config.QPS = -1    // fairness is the API server's business
	config.Timeout = 0 // the guard has one; http.Client would hide that it was a deadline
	if config.Proxy == nil {
		// The usual one. With it, client-go makes a new transport; without, it has one for each set of credentials, and does not forget them.
		config.Proxy = http.ProxyFromEnvironment
	}
	if config.Dial == nil {
		config.Dial = (&net.Dialer{Timeout: options.RequestTimeout / 3, KeepAlive: 30 * time.Second}).DialContext
	}
	config.ContentType = runtime.ContentTypeJSON
	config.AcceptContentTypes = runtime.ContentTypeJSON
	if options.UserAgent != "" {
		config.UserAgent = options.UserAgent
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &guard{next: next, breaker: breaker, timeout: options.RequestTimeout, refused: &c.refused}
	})
	var err error
	if c.http, err = rest.HTTPClientFor(config); err != nil {
		return nil, fmt.Errorf("building HTTP client: %w", err)
	}
	// Credentials go where the configuration says and nowhere else.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	mapper, err := apiutil.NewDynamicRESTMapper(config, c.http)
	if err != nil {
		return nil, fmt.Errorf("building REST mapper: %w", err)
	}
	if c.client, err = client.New(config, client.Options{Scheme: options.Scheme, Mapper: mapper, HTTPClient: c.http}); err != nil {
		return nil, fmt.Errorf("building client: %w", err)
	}
	discoveryClient, err := discovery.NewDiscoveryClientForConfigAndClient(config, c.http)
	if err != nil {
		return nil, fmt.Errorf("building discovery client: %w", err)
	}
	c.discovery = discoveryClient.RESTClient()
	return c, nil
}

// maxVersion is more than a version of Kubernetes has.
const maxVersion = 64

// version asks the API server for its version.
func (c *session) version(ctx context.Context) (string, error) {
	response, err := c.discovery.Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return "", err
	}
	info := version.Info{}
	if json.Unmarshal(response, &info) != nil || info.GitVersion == "" || len(info.GitVersion) > maxVersion {
		return "", errors.New("what answers there is no API server")
	}
	return info.GitVersion, nil
}

// close closes what nobody uses. Requests under way are not disturbed.
func (c *session) close() { utilnet.CloseIdleConnectionsFor(c.http.Transport) }
