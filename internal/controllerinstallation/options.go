package controllerinstallation

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
)

// Options say what an operator serves and how.
type Options struct {
	// SeedName is the seed that the operator runs in. If it is empty, the operator serves the seeds that SeedSelector selects, and gates rollouts.
	SeedName     string
	SeedSelector labels.Selector
	// Garden is what seeds are told of the garden, without its identity, which is read there.
	Garden workload.Garden
	// SyncPeriod is how often each installation is checked. One that is changing is checked every two seconds, or as often as this if that is shorter.
	SyncPeriod time.Duration
	// MaxConcurrentReconciles is how many installations are worked on at the same time.
	MaxConcurrentReconciles int
	// Registerer takes metrics; nil takes none.
	Registerer prometheus.Registerer
	// Clock is the time; nil means the real one.
	Clock clock.Clock
}

// inSeed is true for an operator that runs in the seed.
func (o Options) inSeed() bool { return o.SeedName != "" }
