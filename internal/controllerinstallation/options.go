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
	// SeedName is the seed that the operator runs in. Where it is empty the operator serves the seeds that SeedSelector selects, and gates rollouts.
	SeedName     string
	SeedSelector labels.Selector
	// Garden is what seeds learn of the garden. Identity is read there.
	Garden workload.Garden
	// SyncPeriod is how often each installation is looked at. While one is changing it is looked at every two seconds, or as often as this where it
	// is shorter.
	SyncPeriod time.Duration
	// MaxConcurrentReconciles is how many installations are worked on at the same time.
	MaxConcurrentReconciles int
	// Registerer takes metrics; nil takes none.
	Registerer prometheus.Registerer
	// Clock is the time; nil means the real one.
	Clock clock.Clock
}

const (
	// Finalizer is the operator's own at ControllerInstallations that it serves.
	Finalizer = "installation.trellis.garden/controllerinstallation"
	// gardenletFinalizer is put there by gardenlet's controller for type "helm", which leaves it behind when the type changes.
	gardenletFinalizer = "core.gardener.cloud/controllerinstallation"

	operatorOfGarden = "garden"
	operatorOfSeed   = "seed"

	// changingPeriod is how often an installation is looked at that is changing or unhealthy.
	changingPeriod = 2 * time.Second
	// careTimeout is how long gardenlet may disagree about a condition with the ManagedResource before the operator takes the condition for
	// abandoned.
	careTimeout = 5 * time.Minute
)

// inSeed is true for an operator that runs in the seed.
func (o Options) inSeed() bool { return o.SeedName != "" }

func (o Options) operator() string {
	if o.inSeed() {
		return operatorOfSeed
	}
	return operatorOfGarden
}
