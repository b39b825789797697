package worker

import (
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
)

const (
	// Finalizer is upstream's, so that a Worker can change hands in both directions.
	Finalizer = "extensions.gardener.cloud/worker"
	// timeout bounds one pass. gardenlet waits for a Worker half as long and then asks again.
	timeout = 20 * time.Minute
	// restartManagerAfter is how long machines are waited for before anybody looks whether machine-controller-manager is stuck.
	restartManagerAfter = 5 * time.Minute
	// updatesInterval is the pause between two looks whether users have updated the last machine of a pool.
	updatesInterval = 30 * time.Second
)

// Intervals says how the contract waits.
type Intervals struct {
	// RestartManagerAfter is how long machines are waited for before a machine-controller-manager that is stuck gets a new pod.
	RestartManagerAfter time.Duration
	// UpdatesInterval is the pause between two looks whether the last machine of a pool is updated whose users choose the moment.
	UpdatesInterval time.Duration
}

// Add adds the Worker controller to a manager. drivers holds a driver for each type in options.Types. The manager's scheme must know
// machine-controller-manager's types.
func Add(mgr manager.Manager, drivers map[string]Driver, options contract.Options) error {
	return AddWithIntervals(mgr, drivers, options, Intervals{RestartManagerAfter: restartManagerAfter, UpdatesInterval: updatesInterval})
}

// AddWithIntervals is Add at another pace.
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
