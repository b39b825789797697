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
	// reviveAfter is how long machines are waited for before anybody looks whether machine-controller-manager is stuck.
	reviveAfter = 5 * time.Minute
	// updatesInterval is the pause between two looks whether users have updated the last machine of a pool.
	updatesInterval = 30 * time.Second
)

// Pace says how the contract waits.
type Pace struct {
	// ReviveAfter is how long machines are waited for before a machine-controller-manager that is stuck gets a new pod.
	ReviveAfter time.Duration
	// UpdatesInterval is the pause between two looks whether the last machine of a pool is updated whose users choose the moment.
	UpdatesInterval time.Duration
}

// Add adds the Worker controller to a manager. drivers holds a driver for each type in options.Types. The manager's scheme must know
// machine-controller-manager's types.
func Add(mgr manager.Manager, drivers map[string]Driver, options contract.Options) error {
	return AddPaced(mgr, drivers, options, Pace{ReviveAfter: reviveAfter, UpdatesInterval: updatesInterval})
}

// AddPaced is Add at another pace.
func AddPaced(mgr manager.Manager, drivers map[string]Driver, options contract.Options, pace Pace) error {
	if err := contract.RequireDrivers("worker", drivers, options.Types); err != nil {
		return err
	}
	return contract.Add(mgr, contract.Contract[*extensionsv1alpha1.Worker]{
		Name:      "worker",
		Finalizer: Finalizer,
		New:       func() *extensionsv1alpha1.Worker { return &extensionsv1alpha1.Worker{} },
		Timeout:   timeout,
		Actuator:  &actuator{drivers: drivers, pace: pace},
		Stateless: true,
		Renewed:   func(object *extensionsv1alpha1.Worker) { object.Status.MachineDeploymentsLastUpdateTime = nil },
		Sequel: &contract.Sequel[*extensionsv1alpha1.Worker]{
			Awaited: hasManualPools, Due: updatesToRecord, Interval: pace.UpdatesInterval,
		},
	}, options)
}
