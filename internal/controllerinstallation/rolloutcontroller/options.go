package rolloutcontroller

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
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
)

// Options configure the controller.
type Options struct {
	// SeedSelector selects the seeds whose installations are served.
	SeedSelector labels.Selector
	// SyncPeriod is how often a deployment is read again if an admin may have repaired it by a change of an object that it refers to.
	SyncPeriod time.Duration
	// Client reads from the garden's API server and writes there. Cache has Seeds, ControllerInstallations, and ControllerDeployments without content.
	Client client.Client
	Cache  cache.Cache
	Events events.EventRecorder
	Charts registered.Charts
	State  *state.Store
	// Controller has the concurrency, the rate limiter and the timeouts.
	Controller controller.Options
	// Registerer takes metrics; nil takes none.
	Registerer prometheus.Registerer
	Clock      clock.Clock
}

// shortRequeueInterval is used while another controller is about to write an object.
const shortRequeueInterval = 200 * time.Millisecond
