package openstack

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/login"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// cloudName is the label of the metrics.
const cloudName = "openstack"

// Options configure sessions. The zero value has good defaults, except for UserAgent.
type Options struct {
	// Transport wraps the HTTP transport below everything else, once for each set of trusted certificates; nil does not
	// change it.
	Transport func(http.RoundTripper) http.RoundTripper
	// Registerer receives the metrics; nil means none.
	Registerer prometheus.Registerer
	// QPS and Burst size each session's token bucket; default 50 and 100. A negative QPS means no limit.
	QPS   float64
	Burst int
	// RequestTimeout bounds each single request without retries; default one minute.
	RequestTimeout time.Duration
	// IdleTimeout is the time without a call after which a session is removed; default one hour.
	IdleTimeout time.Duration
	// Retry is the policy for requests that are safe to repeat.
	Retry transport.RetryPolicy
	// UserAgent precedes the SDK's.
	UserAgent string
	// ReadOnly makes sessions that reject all requests except GET and HEAD, see transport.ErrReadOnly.
	ReadOnly bool
}

func (o Options) withDefaults() Options {
	o.QPS = cmp.Or(o.QPS, 50)
	o.Burst = cmp.Or(o.Burst, 100)
	o.RequestTimeout = cmp.Or(o.RequestTimeout, time.Minute)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, time.Hour)
	o.Retry = o.Retry.WithDefaults()
	return o
}

// Sessions has one Session per account: the same for the same credentials, auth URL, CA bundle and region. It
// exists as long as the process, and is safe for concurrent use.
type Sessions struct {
	options Options
	metrics *cloud.Metrics

	mu             sync.Mutex
	sessions       map[cloud.Fingerprint]*Session
	transports     map[cloud.Fingerprint]sharedTransport // by their trusted certificates
	lastForgetIdle time.Time
}

// sharedTransport is shared by all sessions that trust the same certificates.
type sharedTransport struct {
	plain   *http.Transport
	wrapped http.RoundTripper
}

// NewSessions returns an empty cache. It panics if the registerer has other metrics with the same names.
func NewSessions(options Options) *Sessions {
	return &Sessions{
		options:    options.withDefaults(),
		metrics:    cloud.NewMetrics(options.Registerer, cloudName),
		sessions:   map[cloud.Fingerprint]*Session{},
		transports: map[cloud.Fingerprint]sharedTransport{},
	}
}

// Get returns the account's session, logged in. It makes a call only if there is no login yet, or the last one is about to
// expire. An empty region means the first that the cloud lists.
func (c *Sessions) Get(ctx context.Context, credentials auth.Credentials, region string) (*Session, error) {
	if err := credentials.Validate(); err != nil {
		return nil, err
	}
	account := credentials.SessionKey(region)
	session := c.session(account, credentials, region)
	if _, err := session.logins.Valid(ctx); err != nil {
		c.forgetFailed(account, session)
		return nil, err
	}
	return session, nil
}

// LoggedIn reports whether the account has a session whose credentials were accepted before.
func (c *Sessions) LoggedIn(credentials auth.Credentials, region string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	session, ok := c.sessions[credentials.SessionKey(region)]
	return ok && session.logins.Last() != nil
}

// session returns the account's session from the cache, or adds a new one.
func (c *Sessions) session(account cloud.Fingerprint, credentials auth.Credentials, region string) *Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetIdle()
	session, ok := c.sessions[account]
	if !ok {
		session = c.newSession(credentials, region)
		c.sessions[account] = session
	}
	session.touch()
	return session
}

// newSession builds a session that has not logged in. The caller holds the lock.
func (c *Sessions) newSession(credentials auth.Credentials, region string) *Session {
	plain := &transport.Retrying{Policy: c.options.Retry, Next: &transport.Single{
		Base: c.transport(credentials), Limiter: transport.NewLimiter(c.options.QPS, c.options.Burst),
		Timeout: c.options.RequestTimeout, Metrics: c.metrics,
	}}
	keystone := &authenticator{client: c.provider(plain), credentials: credentials, metrics: c.metrics}
	logins := login.NewSource(keystone.login)
	var roundTripper http.RoundTripper = &authenticated{next: plain, logins: logins}
	if c.options.ReadOnly {
		roundTripper = &transport.ReadOnly{Next: roundTripper}
	}
	return &Session{
		region: region, logins: logins, client: c.provider(roundTripper), transportKey: credentials.TransportKey(),
	}
}

// provider returns the SDK's client with a transport. It has no token and repeats nothing: the transport does.
func (c *Sessions) provider(roundTripper http.RoundTripper) *gophercloud.ProviderClient {
	client := &gophercloud.ProviderClient{HTTPClient: http.Client{
		Transport: roundTripper,
		// The token is sent only to the addresses of the catalog.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if c.options.UserAgent != "" {
		client.UserAgent.Prepend(c.options.UserAgent)
	}
	return client
}

// transport returns the transport for the trusted certificates of the credentials. The caller holds the lock.
func (c *Sessions) transport(credentials auth.Credentials) http.RoundTripper {
	key := credentials.TransportKey()
	shared, ok := c.transports[key]
	if !ok {
		plain := transport.New(transport.Trust{CACert: credentials.CACert, Insecure: credentials.Insecure})
		shared = sharedTransport{plain: plain, wrapped: plain}
		if c.options.Transport != nil {
			shared.wrapped = c.options.Transport(plain)
		}
		c.transports[key] = shared
	}
	return shared.wrapped
}

// forgetFailed removes a session that could not log in, unless a login is in progress.
func (c *Sessions) forgetFailed(account cloud.Fingerprint, session *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions[account] == session && session.logins.NeverLoggedIn() {
		delete(c.sessions, account)
	}
}

// forgetIdle removes unused sessions: at most once a minute, and with the transports that no session needs. A
// removed session still works for its holders. The caller holds the lock.
func (c *Sessions) forgetIdle() {
	now := time.Now()
	if now.Sub(c.lastForgetIdle) < time.Minute {
		return
	}
	c.lastForgetIdle = now
	needed := map[cloud.Fingerprint]bool{}
	for account, session := range c.sessions {
		if now.Sub(time.Unix(0, session.used.Load())) > c.options.IdleTimeout {
			delete(c.sessions, account)
			continue
		}
		needed[session.transportKey] = true
	}
	for trust, shared := range c.transports {
		if !needed[trust] {
			shared.plain.CloseIdleConnections()
			delete(c.transports, trust)
		}
	}
}
