package network

import (
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/images"
)

const (
	// Finalizer is upstream's, so that a Network can move between the extensions in both directions.
	Finalizer = "extensions.gardener.cloud/network"
	// timeout bounds one reconciliation, as gardenlet bounds its own wait before it requests the next one.
	timeout = 3 * time.Minute
	// defaultGateTimeout is how long a reconciliation itself waits for nodes to reach a stage, before it leaves that to a follow-up. A few nodes take no
	// longer, and gardenlet must continue: what the nodes wait for may be deployed later.
	defaultGateTimeout = 10 * time.Second
	// defaultGateInterval is the pause between two checks of a gate.
	defaultGateInterval = 10 * time.Second
)

// Intervals configures how a change in stages waits for a shoot's nodes.
type Intervals struct {
	// GateTimeout is how long a reconciliation itself waits; it checks the gate at least once.
	GateTimeout time.Duration
	// GateInterval is the pause between two checks by the follow-up.
	GateInterval time.Duration
}

// Add adds the Network controller to a manager. drivers holds a driver for each type in options.Types; images are those of all
// drivers (see package images).
func Add(mgr manager.Manager, drivers map[string]Driver, images images.Vector, options contract.Options) error {
	return AddWithIntervals(mgr, drivers, images, options, Intervals{GateTimeout: defaultGateTimeout, GateInterval: defaultGateInterval})
}

// AddWithIntervals is Add with other intervals.
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
