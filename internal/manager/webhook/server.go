package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// certificate is the certificate that this process presents to API servers. It is kept in memory only.
type certificate struct {
	current atomic.Pointer[serverCertificate]
	once    sync.Once
	loaded  chan struct{} // closed when there is one
	absent  atomic.Bool   // nothing that could be shown was found when it was last looked for
	log     logr.Logger
}

func newCertificate(log logr.Logger) *certificate {
	return &certificate{loaded: make(chan struct{}), log: log}
}

// load replaces the certificate. A nil certificate is ignored.
func (c *certificate) load(server *serverCertificate) {
	if server == nil {
		return
	}
	if before := c.current.Swap(server); before == nil || !before.Leaf.Equal(server.Leaf) {
		c.log.Info("Loaded webhook server certificate", "secret", server.secret, "notAfter", server.Leaf.NotAfter)
	}
	c.once.Do(func() { close(c.loaded) })
}

// registerMetric registers a metric with the certificate's expiry time: 0 while there is none.
func (c *certificate) registerMetric(registerer prometheus.Registerer) error {
	err := registerer.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "trellis_webhook_certificate_not_after_timestamp_seconds",
		Help: "When the certificate ends that API servers are shown, in seconds since 1970; 0 without one.",
	}, func() float64 {
		server := c.current.Load()
		if server == nil {
			return 0
		}
		return float64(server.Leaf.NotAfter.Unix())
	}))
	if err != nil {
		return fmt.Errorf("registering the metric of the webhooks' certificate: %w", err)
	}
	return nil
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	server := c.current.Load()
	if server == nil {
		return nil, errors.New("there is no certificate yet")
	}
	return &server.Certificate, nil
}

// check returns an error if the certificate is missing or expired.
func (c *certificate) check() error {
	server := c.current.Load()
	switch {
	case server == nil:
		return errors.New("there is no certificate yet")
	case time.Now().After(server.Leaf.NotAfter):
		return fmt.Errorf("the certificate has expired at %s", server.Leaf.NotAfter.Format(time.RFC3339))
	default:
		return nil
	}
}

// shutdownDelay is how long a server continues to serve after its context ended.
const shutdownDelay = 2 * time.Second

// server is controller-runtime's webhook server, but does not listen before there is a certificate, and drains its connections before it ends: API
// servers keep connections and use HTTP/1.1, where a request is lost that is in transit when the server closes. So while the server shuts down, each
// response asks the API server to close the connection. It runs on all replicas.
type server struct {
	ctrlwebhook.Server
	certificate  *certificate
	limits       *limits
	webhooks     []Webhook
	shuttingDown atomic.Bool
	// responding is true once a connection has succeeded.
	responding atomic.Bool
}

func newServer(host string, port int, certificate *certificate) *server {
	return &server{
		Server: ctrlwebhook.NewServer(ctrlwebhook.Options{
			Host: host, Port: port,
			TLSOpts: []func(*tls.Config){func(config *tls.Config) { config.GetCertificate = certificate.get }},
		}),
		certificate: certificate,
		limits:      defaultLimits(),
	}
}

// Start implements manager.Runnable.
func (s *server) Start(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.certificate.loaded:
	}
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() {
		s.shuttingDown.Store(true)
		time.AfterFunc(shutdownDelay, end)
	})()
	return s.Server.Start(serving)
}

// closeConnections makes each response request the end of its connection while the server shuts down.
func (s *server) closeConnections(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if s.shuttingDown.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, request)
	})
}

// ready returns an error while API servers should not call this process. A server that has responded does so until it is shut down, and the process ends
// with it: it is not tried again, since a handshake costs more processor time than anything else that an idle process does.
func (s *server) ready(request *http.Request) error {
	if err := s.certificate.check(); err != nil {
		return err
	}
	if s.responding.Load() && !s.shuttingDown.Load() {
		return nil
	}
	if err := s.StartedChecker()(request); err != nil {
		return err
	}
	s.responding.Store(true)
	return nil
}

// readyWithoutCertificate is ready for a process whose webhooks are all disabled: it serves if there is a certificate, but needs none.
func (s *server) readyWithoutCertificate(request *http.Request) error {
	if s.certificate.absent.Load() {
		return nil
	}
	return s.ready(request)
}

// serve adds an endpoint.
func (s *server) serve(w Webhook, results results, log logr.Logger) {
	log = log.WithValues("webhook", w.Name)
	results.initialize(w.Name)
	webhook := &admission.Webhook{
		Handler: w.handler(results),
		LogConstructor: func(_ logr.Logger, request *admission.Request) logr.Logger {
			return admission.DefaultLogConstructor(log, request)
		},
	}
	s.Register(w.Path, s.closeConnections(s.limits.wrap(webhook, func(err error) { results.countUnhandled(w.Name, err) })))
}

// handler returns the handler of a webhook with all that is the same for many.
func (w Webhook) handler(results results) admission.Handler {
	handler := handlerWithTimeout{Handler: w.Handler, timeout: w.Timeout, count: func(r admission.Response) { results.count(w.Name, r) }}
	if w.Shoots {
		return neverDenying(handler)
	}
	return handler
}

// handlerWithTimeout gives a handler the time that the API server waits, also during shutdown: every accepted request gets a response.
type handlerWithTimeout struct {
	admission.Handler
	timeout time.Duration
	count   func(admission.Response)
}

// Handle implements admission.Handler.
func (b handlerWithTimeout) Handle(ctx context.Context, request admission.Request) admission.Response {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.timeout)
	defer cancel()
	response := admission.Errored(http.StatusInternalServerError, errors.New("the handler panicked")) // as it stays if it does
	defer func() { b.count(response) }()
	response = b.Handler.Handle(ctx, request)
	return response
}

// reloader loads new certificates from Secrets into the server. It runs on all replicas.
type reloader struct {
	reader      client.Reader
	certificate *certificate
	names       secretNames
	hosts       []string
	// certificateExpected is true if webhooks are enabled, so that a certificate will be generated.
	certificateExpected bool
	timing              timing
	log                 logr.Logger
}

var _ ctrlmanager.LeaderElectionRunnable = (*reloader)(nil)

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (r *reloader) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable. It returns no error of the API server.
func (r *reloader) Start(ctx context.Context) error {
	repeat(ctx, func(reconcileCtx context.Context) time.Duration {
		keys, err := readKeyring(reconcileCtx, r.reader, r.names)
		if err != nil {
			if ctx.Err() == nil {
				r.log.Error(err, "Reloading webhook server certificate failed")
			}
			return min(r.timing.reloadInterval, r.timing.retryInterval)
		}
		found := keys.usable(r.hosts, time.Now())
		r.certificate.load(found)
		r.certificate.absent.Store(found == nil)
		if r.certificateExpected && r.certificate.check() != nil {
			return min(r.timing.reloadInterval, r.timing.startupInterval)
		}
		return r.timing.reloadInterval
	})
	return nil
}
