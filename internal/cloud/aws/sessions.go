package aws

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
	"github.com/trellis-garden/trellis/internal/cloud/login"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// cloudName is the label of the metrics.
const cloudName = "aws"

// iamRegion is the region of the signatures for IAM, which is one service for all regions.
const iamRegion = "us-east-1"

// Options configure sessions. The zero value has good defaults, except for UserAgent.
type Options struct {
	// Transport wraps the HTTP transport below everything else; nil does not change it.
	Transport func(http.RoundTripper) http.RoundTripper
	// Endpoint is the address of all services instead of AWS' own ones, for a stand-in; empty means AWS.
	Endpoint string
	// Registerer receives the metrics; nil means none.
	Registerer prometheus.Registerer
	// QPS and Burst size each session's token bucket; default 20 and 50: EC2 refills the buckets of an account with 5 to 20 requests a second, by action.
	// A negative QPS means no limit.
	QPS   float64
	Burst int
	// RequestTimeout bounds each single request without retries; default one minute.
	RequestTimeout time.Duration
	// IdleTimeout is the time without a request after which a session is removed; default one hour.
	IdleTimeout time.Duration
	// Retry is the policy for requests that are safe to repeat, and for those that AWS throttled.
	Retry transport.RetryPolicy
	// UserAgent follows the SDK's.
	UserAgent string
}

func (o Options) withDefaults() Options {
	o.QPS = cmp.Or(o.QPS, 20)
	o.Burst = cmp.Or(o.Burst, 50)
	o.RequestTimeout = cmp.Or(o.RequestTimeout, time.Minute)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, time.Hour)
	o.Retry = o.Retry.WithDefaults()
	return o
}

// Sessions has one Session per account and region: the same for the same credentials. It exists as long as the process, and is safe for concurrent use.
type Sessions struct {
	options   Options
	metrics   *cloud.Metrics
	transport http.RoundTripper

	mu             sync.Mutex
	sessions       map[cloud.Fingerprint]*Session
	lastForgetIdle time.Time
}

// NewSessions returns an empty cache. It panics if the registerer has other metrics with the same names.
func NewSessions(options Options) *Sessions {
	options = options.withDefaults()
	var base http.RoundTripper = transport.New(transport.Trust{})
	if options.Transport != nil {
		base = options.Transport(base)
	}
	return &Sessions{
		options: options, metrics: cloud.NewMetrics(options.Registerer, cloudName), transport: base,
		sessions: map[cloud.Fingerprint]*Session{},
	}
}

// Get returns the account's session. With a role it has logged in, for which it makes a request if there is no login yet, or the last one is about to expire.
// An empty region means that of the credentials.
func (c *Sessions) Get(ctx context.Context, credentials auth.Credentials, region string) (*Session, error) {
	region = cmp.Or(region, credentials.Region)
	if region == "" {
		return nil, cloud.Errorf(cloud.Configuration, "the region is unknown: set it in the shoot, or as %q in the Secret with the credentials", auth.KeyRegion)
	}
	session := c.session(credentials, region)
	if session.logins == nil {
		return session, nil
	}
	if _, err := session.logins.Valid(ctx); err != nil {
		c.forgetFailed(credentials.SessionKey(region), session)
		return nil, err
	}
	return session, nil
}

// session returns the account's session from the cache, or adds a new one.
func (c *Sessions) session(credentials auth.Credentials, region string) *Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetIdle()
	account := credentials.SessionKey(region)
	session, ok := c.sessions[account]
	if !ok {
		session = c.newSession(credentials, region)
		c.sessions[account] = session
	}
	session.touch()
	return session
}

// newSession builds a session that has not logged in.
func (c *Sessions) newSession(credentials auth.Credentials, region string) *Session {
	chain := &repeatable{next: &transport.Retrying{Policy: c.options.Retry, Next: &throttlingAs429{next: &transport.Single{
		Base: c.transport, Limiter: transport.NewLimiter(c.options.QPS, c.options.Burst), Timeout: c.options.RequestTimeout, Metrics: c.metrics,
	}}}}
	httpClient := &http.Client{Transport: chain, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	config := aws.Config{
		Region:     region,
		HTTPClient: httpClient,
		Retryer:    func() aws.Retryer { return aws.NopRetryer{} },
		AppID:      c.options.UserAgent,
	}
	if c.options.Endpoint != "" {
		config.BaseEndpoint = aws.String(c.options.Endpoint)
	}
	session := &Session{region: region, created: newCreations()}
	if credentials.Token == "" {
		config.Credentials = staticCredentials(credentials)
	} else {
		roles := &roleLogin{client: newClient(httpClient, config), credentials: credentials, metrics: c.metrics}
		session.logins = login.NewSource(roles.login)
		config.Credentials = roleCredentials(session.logins)
	}
	session.ec2 = ec2.NewFromConfig(config)
	session.iam = iam.NewFromConfig(config, func(options *iam.Options) {
		if c.options.Endpoint != "" {
			options.Region = iamRegion // as AWS' own endpoint tells the SDK
		}
	})
	session.client = newClient(httpClient, config)
	return session
}

// forgetFailed removes a session that could not log in, unless a login is in progress.
func (c *Sessions) forgetFailed(account cloud.Fingerprint, session *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions[account] == session && session.logins.NeverLoggedIn() {
		delete(c.sessions, account)
	}
}

// forgetIdle removes unused sessions, at most once a minute. A removed session still works for its holders. The caller holds the lock.
func (c *Sessions) forgetIdle() {
	now := time.Now()
	if now.Sub(c.lastForgetIdle) < time.Minute {
		return
	}
	c.lastForgetIdle = now
	for account, session := range c.sessions {
		if now.Sub(time.Unix(0, session.used.Load())) > c.options.IdleTimeout {
			delete(c.sessions, account)
		}
	}
}
