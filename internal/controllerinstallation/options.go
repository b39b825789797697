package controllerinstallation

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
)

// Options configure an operator.
type Options struct {
	// SeedName is the seed that the operator runs in. If it is empty, the operator serves the seeds that SeedSelector selects, and gates rollouts.
	SeedName     string
	SeedSelector labels.Selector
	// Garden has the properties of the garden that seeds need, except for its identity, which is read from the garden.
	Garden workload.Garden
	// SyncPeriod is how often each installation is checked. One that is changing is checked every two seconds, or as often as this if that is shorter.
	SyncPeriod time.Duration
	// MaxConcurrentReconciles is the number of workers that reconcile installations.
	MaxConcurrentReconciles int
	// Registerer takes metrics; nil takes none.
	Registerer prometheus.Registerer
	// Clock is the time; nil means the real one.
	Clock clock.Clock
}

// inSeed reports whether the operator runs in the seed that it serves.
func (o Options) inSeed() bool { return o.SeedName != "" }
