package worker

import (
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
)

const (
	// Finalizer is the same as upstream's, so that either controller can take over a Worker.
	Finalizer = "extensions.gardener.cloud/worker"
	// timeout bounds one reconciliation. gardenlet waits for a Worker half as long and then requests another reconciliation.
	timeout = 20 * time.Minute
	// restartManagerAfter is how long a reconciliation waits for machines before it checks whether machine-controller-manager is stuck.
	restartManagerAfter = 5 * time.Minute
	// updatesInterval is the interval of checks whether users have updated the last machine of a pool.
	updatesInterval = 30 * time.Second
)

// Intervals are the durations of waits.
type Intervals struct {
	// RestartManagerAfter is how long a reconciliation waits for machines before it replaces the pod of a stuck machine-controller-manager.
	RestartManagerAfter time.Duration
	// UpdatesInterval is the interval of checks whether the last machine of a pool with manual updates is updated.
	UpdatesInterval time.Duration
}

// Add adds the Worker controller to a manager. drivers has a driver for each type in options.Types. The manager's scheme must include
// machine-controller-manager's types.
func Add(mgr manager.Manager, drivers map[string]Driver, options contract.Options) error {
	return AddWithIntervals(mgr, drivers, options, Intervals{RestartManagerAfter: restartManagerAfter, UpdatesInterval: updatesInterval})
}

// AddWithIntervals is Add with other intervals.
func AddWithIntervals(mgr manager.Manager, drivers map[string]Driver, options contract.Options, intervals Intervals) error {
	if err := contract.RequireDrivers("worker", drivers, options.Types); err != nil {
		return err
	}
	return contract.Add(mgr, contract.Contract[*extensionsv1alpha1.Worker]{
		Name:          "worker",
		Finalizer:     Finalizer,
		New:           func() *extensionsv1alpha1.Worker { return &extensionsv1alpha1.Worker{} },
		Timeout:       timeout,
		Actuator:      &actuator{drivers: drivers, intervals: intervals},
		Stateless:     true,
		ClearVolatile: func(object *extensionsv1alpha1.Worker) { object.Status.MachineDeploymentsLastUpdateTime = nil },
		FollowUp: &contract.FollowUp[*extensionsv1alpha1.Worker]{
			Required: hasManualPools, Due: updatesToRecord, Interval: intervals.UpdatesInterval,
		},
	}, options)
}
