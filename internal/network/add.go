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
	// defaultGateTimeout is how long a pass itself waits for nodes to catch up with a stage, before it leaves that to a sequel. Few
	// nodes take no longer, and gardenlet has to go on: what nodes wait for may come after.
	defaultGateTimeout = 10 * time.Second
	// defaultGateInterval is the pause between two looks whether a shoot's nodes have caught up with a stage.
	defaultGateInterval = 10 * time.Second
)

// Intervals says how a change in stages waits for a shoot's nodes.
type Intervals struct {
	// GateTimeout is how long a pass itself waits; a pass looks at least once.
	GateTimeout time.Duration
	// GateInterval is the pause between two looks of the sequel.
	GateInterval time.Duration
}

// Add adds the Network controller to a manager. drivers holds a driver for each type in options.Types; images are those of all
// drivers (see package images).
func Add(mgr manager.Manager, drivers map[string]Driver, images images.Vector, options contract.Options) error {
	return AddWithIntervals(mgr, drivers, images, options, Intervals{GateTimeout: defaultGateTimeout, GateInterval: defaultGateInterval})
}

// AddWithIntervals is Add at another pace.
func AddWithIntervals(
	mgr manager.Manager, drivers map[string]Driver, images images.Vector, options contract.Options, intervals Intervals,
) error {
	if err := contract.RequireDrivers("network", drivers, options.Types); err != nil {
		return err
	}
	actuator := &actuator{drivers: drivers, images: images, gateTimeout: intervals.GateTimeout}
	return contract.Add(mgr, newContract(actuator, intervals.GateInterval), options)
}

func newContract(
	actuator contract.Actuator[*extensionsv1alpha1.Network], interval time.Duration,
) contract.Contract[*extensionsv1alpha1.Network] {
	return contract.Contract[*extensionsv1alpha1.Network]{
		Name:      "network",
		Finalizer: Finalizer,
		New:       func() *extensionsv1alpha1.Network { return &extensionsv1alpha1.Network{} },
		Timeout:   timeout,
		Actuator:  actuator,
		FollowUp:  &contract.FollowUp[*extensionsv1alpha1.Network]{Required: isBetweenStages, Due: isGateOpen, Interval: interval},
	}
}
