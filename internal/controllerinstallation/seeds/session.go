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

// credentials are the address of a seed and the credentials for it.
type credentials struct {
	// source describes their origin in messages. remedy is what an admin must do if they are rejected; empty if nothing.
	source, remedy string
	// fingerprint changes when a new connection must be made.
	fingerprint string
	config      *rest.Config
	// renewAt and expireAt are zero if they do not expire.
	renewAt, expireAt time.Time
}

func (c *credentials) expired(now time.Time) bool {
	return !c.expireAt.IsZero() && !now.Before(c.expireAt)
}

func (c *credentials) due(now time.Time) bool { return !c.renewAt.IsZero() && !now.Before(c.renewAt) }

// rejectedError returns the error for credentials that an API server rejects.
func (c *credentials) rejectedError() error {
	message := "its API server does not accept the credentials of " + c.source + " (401)"
	if c.remedy != "" {
		message += ": " + c.remedy
	}
	return errors.New(message)
}

// session is a client with its credentials.
type session struct {
	credentials *credentials
	http        *http.Client
	client      client.Client
	discovery   rest.Interface
	// refused becomes true when the API server rejects the credentials.
	refused atomic.Bool
}

// newSession builds a client. It does not connect yet: the API's kinds are discovered when one is needed, and again for unknown kinds.
func newSession(credentials *credentials, breaker *breaker, options Options) (*session, error) {
	c := &session{credentials: credentials}
	config := rest.CopyConfig(credentials.config)
	config.QPS = -1    // the API server has priority and fairness
	config.Timeout = 0 // the guard has one; http.Client would hide that it was a deadline
	if config.Proxy == nil {
		// This is the default dialer. With it, client-go makes a new transport; without it, client-go caches one for each set of credentials and never removes it.
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
	// Credentials are only sent to the configured server, so redirects are not followed.
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

// maxVersion is more than the length of any version of Kubernetes.
const maxVersion = 64

// version reads the version of the API server.
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

// close closes idle connections. Pending requests are not affected.
func (c *session) close() { utilnet.CloseIdleConnectionsFor(c.http.Transport) }
