package seeds

import (
	"cmp"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
)

const (
	// credentialsCheckInterval is how often it is looked whether a seed is still reached in the same way, and the least time between two logins that are made
	// because an API server refused credentials.
	credentialsCheckInterval = 30 * time.Second
	// versionCheckInterval is how often an API server is asked for its version again.
	versionCheckInterval = 10 * time.Minute
	// sweepInterval is how often it is looked for lines that nobody uses any more.
	sweepInterval = time.Minute
)

// Options say how seeds are reached. The zero value is a good choice but for Scheme and UserAgent.
type Options struct {
	// Scheme is that of Cluster.Client; default client-go's.
	Scheme *runtime.Scheme
	// UserAgent is what API servers of seeds log; default client-go's.
	UserAgent string
	// RequestTimeout bounds each request to a seed, and what is asked of the garden at a time; default 30 s.
	RequestTimeout time.Duration
	// CredentialsLife is what the garden is asked for (spec.expirationSeconds of AdminKubeconfigRequest, at least 10 minutes); default 1 hour. It may
	// grant another life.
	CredentialsLife time.Duration
	// IdleTimeout is after how long without a call of To the line to a seed is dropped; default 1 hour.
	IdleTimeout time.Duration
	// Clock tells when pauses, credentials and versions are over; default the real one. Requests are bounded by the real time.
	Clock clock.PassiveClock
	// Registerer receives the metric trellis_seed_reachable{seed}; nil means none.
	Registerer prometheus.Registerer
}

func (o Options) withDefaults() Options {
	o.RequestTimeout = cmp.Or(o.RequestTimeout, 30*time.Second)
	o.CredentialsLife = cmp.Or(o.CredentialsLife, time.Hour)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, time.Hour)
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o
}
