package openstack

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Options say how sessions behave. The zero value is a good choice but for UserAgent.
type Options struct {
	// Transport wraps the HTTP transport below everything else; nil leaves it as it is.
	Transport func(http.RoundTripper) http.RoundTripper
	// Registerer receives the metrics; nil means none.
	Registerer prometheus.Registerer
	// QPS and Burst size each session's token bucket. Zero means 50 and 100; a negative QPS means no limit.
	QPS   float64
	Burst int
	// RequestTimeout bounds each single request. Zero means a minute.
	RequestTimeout time.Duration
	// UserAgent goes in front of the SDK's.
	UserAgent string
	// ReadOnly makes sessions that refuse everything but GET and HEAD.
	ReadOnly bool
}

// Sessions hands out one Session per account.
type Sessions struct{}

// NewSessions returns an empty cache.
func NewSessions(options Options) *Sessions { return &Sessions{} }

// Get returns the account's session, logged in.
func (c *Sessions) Get(ctx context.Context, credentials Credentials, region string) (*Session, error) {
	panic("being written")
}

// Session is an authenticated line to one region of a cloud, as one user in one project.
type Session struct{}

// Token returns what is known about the login.
func (s *Session) Token() Token { panic("being written") }

type service struct{ name string }

var networkService, computeService, loadBalancerService, shareService service

type call struct {
	service      service
	method, path string
	query        url.Values
	headers      map[string]string
	body, answer any
	once         bool
}

func (s *Session) do(ctx context.Context, c call) error { panic("being written") }
func (s *Session) has(service) bool                     { panic("being written") }
