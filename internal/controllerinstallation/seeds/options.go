package seeds

import (
	"cmp"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
)

const (
	// credentialsCheckInterval is how often the source of credentials is checked for changes, and the minimum time between two logins after an API
	// server rejected credentials.
	credentialsCheckInterval = 30 * time.Second
	// versionCheckInterval is how often the version of an API server is read again.
	versionCheckInterval = 10 * time.Minute
	// sweepInterval is how often unused connections are dropped.
	sweepInterval = time.Minute
)

// Options configure how seeds are reached. The zero value has good defaults except for Scheme and UserAgent.
type Options struct {
	// Scheme is that of Cluster.Client; default client-go's.
	Scheme *runtime.Scheme
	// UserAgent is what API servers of seeds log; default client-go's.
	UserAgent string
	// RequestTimeout bounds each request to a seed, and each operation on the garden; default 30 s.
	RequestTimeout time.Duration
	// CredentialsLife is the requested validity (spec.expirationSeconds of AdminKubeconfigRequest, at least 10 minutes); default 1 hour. The garden
	// may grant another one.
	CredentialsLife time.Duration
	// IdleTimeout is how long a connection is kept without a call of Connect; default 1 hour.
	IdleTimeout time.Duration
	// Clock is the time for pauses, credentials and versions; default the real one. Timeouts of requests use the real one.
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
