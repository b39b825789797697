package example

import (
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

const (
	// cloudName is the label of the metrics.
	cloudName = "example"
	// qps and burst size the token bucket of each session.
	qps   = 50
	burst = 100
	// requestTimeout bounds each single request without retries.
	requestTimeout = time.Minute
	// idleTimeout is the time without a request after which a session is removed: credentials change.
	idleTimeout = time.Hour
)

// Options configure sessions. The zero value has good defaults.
type Options struct {
	// Transport wraps the HTTP transport below everything else; nil does not change it.
	Transport func(http.RoundTripper) http.RoundTripper
	// Registerer receives the metrics; nil means none.
	Registerer prometheus.Registerer
	// Retry is the policy for requests that are safe to repeat.
	Retry transport.RetryPolicy
}

// Sessions has one Session per account: the same for the same credentials. It exists as long as the process, and is safe for concurrent use.
type Sessions struct {
	base    http.RoundTripper
	retry   transport.RetryPolicy
	metrics *cloud.Metrics

	mutex    sync.Mutex
	sessions map[account]*Session
}

// NewSessions returns an empty cache. It panics if the registerer has other metrics with the same names.
func NewSessions(options Options) *Sessions {
	var base http.RoundTripper = transport.New(transport.Trust{})
	if options.Transport != nil {
		base = options.Transport(base)
	}
	return &Sessions{
		base: base, retry: options.Retry.WithDefaults(), metrics: cloud.NewMetrics(options.Registerer, cloudName), sessions: map[account]*Session{},
	}
}

// Get returns the account's session. It makes no request: the cloud has no login.
func (s *Sessions) Get(credentials Credentials) (*Session, error) {
	if err := credentials.validate(); err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now := time.Now()
	maps.DeleteFunc(s.sessions, func(_ account, session *Session) bool { return now.Sub(session.used) > idleTimeout })
	session, ok := s.sessions[credentials.account()]
	if !ok {
		session = s.newSession(credentials)
		s.sessions[credentials.account()] = session
	}
	session.used = now
	return session, nil
}

func (s *Sessions) newSession(credentials Credentials) *Session {
	return &Session{credentials: credentials, client: &http.Client{
		Transport: &transport.Retrying{Policy: s.retry, Next: &transport.Single{
			Base: s.base, Limiter: transport.NewLimiter(qps, burst), Timeout: requestTimeout, Metrics: s.metrics,
		}},
		// The key is sent only to the address of the credentials.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}
