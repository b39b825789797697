package network

import (
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/images"
)

const (
	// Finalizer is upstream's, so that a Network can change hands in both directions.
	Finalizer = "extensions.gardener.cloud/network"
	// timeout bounds one pass, as gardenlet bounds its wait before it asks again.
	timeout = 3 * time.Minute
	// gatePatience is how long a pass itself waits for nodes to catch up with a stage, before it leaves that to a sequel. Few
	// nodes take no longer, and gardenlet has to go on: what nodes wait for may come after.
	gatePatience = 10 * time.Second
	// gateInterval is the pause between two looks whether a shoot's nodes have caught up with a stage.
	gateInterval = 10 * time.Second
)

// Pace says how a change in stages waits for a shoot's nodes.
type Pace struct {
	// Patience is how long a pass itself waits; a pass looks at least once.
	Patience time.Duration
	// Interval is the pause between two looks of the sequel.
	Interval time.Duration
}

// Add adds the Network controller to a manager. drivers holds a driver for each type in options.Types; images are those of all
// drivers (see package images).
func Add(mgr manager.Manager, drivers map[string]Driver, images images.Vector, options contract.Options) error {
	return AddPaced(mgr, drivers, images, options, Pace{Patience: gatePatience, Interval: gateInterval})
}

// AddPaced is Add at another pace.
func AddPaced(
	mgr manager.Manager, drivers map[string]Driver, images images.Vector, options contract.Options, pace Pace,
) error {
	if err := contract.RequireDrivers("network", drivers, options.Types); err != nil {
		return err
	}
	actuator := &actuator{drivers: drivers, images: images, patience: pace.Patience}
	return contract.Add(mgr, contractOf(actuator, pace.Interval), options)
}

func contractOf(
	actuator contract.Actuator[*extensionsv1alpha1.Network], interval time.Duration,
) contract.Contract[*extensionsv1alpha1.Network] {
	return contract.Contract[*extensionsv1alpha1.Network]{
		Name:      "network",
		Finalizer: Finalizer,
		New:       func() *extensionsv1alpha1.Network { return &extensionsv1alpha1.Network{} },
		Timeout:   timeout,
		Actuator:  actuator,
		Sequel:    &contract.Sequel[*extensionsv1alpha1.Network]{Awaited: isBetweenStages, Due: mayGoOn, Interval: interval},
	}
}
