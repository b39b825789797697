package installationcontroller

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/registered"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
)

// Options configure the controller.
type Options struct {
	// SeedName is the seed that the operator runs in. If it is empty, the operator serves the seeds that SeedSelector selects, and State has what is
	// known of their deployments.
	SeedName     string
	SeedSelector labels.Selector
	// SyncPeriod is how often each installation is checked. One that is changing is checked every two seconds, or as often as this if that is shorter.
	SyncPeriod time.Duration
	// Garden has the properties of the garden that seeds need, except for its identity, which is read from the garden.
	Garden workload.Garden
	// Client reads from the garden's API server and writes there, Cache watches ControllerInstallations.
	Client client.Client
	Cache  cache.Cache
	Events events.EventRecorder
	// Access connects to seeds.
	Access seeds.Access
	// Charts fetches charts for an operator in a seed, Revisions has those that an operator of many seeds assigns.
	Charts    registered.Charts
	Revisions revision.Store
	State     *state.Store
	// Controller has the concurrency, the rate limiter and the timeouts.
	Controller controller.Options
	// Registerer takes metrics; nil takes none.
	Registerer prometheus.Registerer
	Clock      clock.Clock
}

const (
	// Finalizer is the operator's own at ControllerInstallations that it serves.
	Finalizer = "installation.trellis.garden/controllerinstallation"
	// gardenletFinalizer is that of gardenlet's controller for type "helm", which leaves it behind when the type changes.
	gardenletFinalizer = "core.gardener.cloud/controllerinstallation"

	operatorOfGarden = "garden"
	operatorOfSeed   = "seed"

	// changingPeriod is how often an installation is checked that is changing or unhealthy.
	changingPeriod = 2 * time.Second
	// careTimeout is how long gardenlet's condition may contradict the ManagedResource before the operator writes the condition itself.
	careTimeout = 5 * time.Minute
)

func (o Options) inSeed() bool { return o.SeedName != "" }

func (o Options) operator() string {
	if o.inSeed() {
		return operatorOfSeed
	}
	return operatorOfGarden
}

// renderTimeout is how much of a reconciliation a chart may take to be rendered, including the time in which it waits for others.
func (o Options) renderTimeout() time.Duration { return o.Controller.ReconciliationTimeout * 3 / 4 }
