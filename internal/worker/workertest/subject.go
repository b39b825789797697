package workertest

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/worker"
)

// Identity identifies the owner of the machines. It is the same in all cases; each case has a cloud of its own.
type Identity struct{ TechnicalID, UID string }

// Subject is a driver with a fake of its cloud.
type Subject struct {
	// Type is the value of spec.type that the driver serves.
	Type string
	// NewCloud creates a cloud with the resources of its operator and of the Infrastructure, and with resources of others that are as similar
	// to the shoot's as the cloud permits.
	NewCloud func(shoot Identity) (Cloud, error)
	// ErrorResponses are the error responses that the cloud may return to a call, see contracttest.Subject.
	ErrorResponses func(contracttest.Call) []contracttest.ErrorResponse
	// Want is the number of shared resources of each kind for the pools of Inputs.
	Want map[string]int
}

// Cloud is a fake with an account for the shoot's owner. It has no machines: the simulated machine-controller-manager
// has a cloud of its own for them.
type Cloud interface {
	// Inputs returns the configuration of users, operators and Gardener.
	Inputs() Inputs
	// NewDriver builds a driver as a starting process does, without a login and without memory. Every request goes through the
	// transport. Pauses between retries are in the order of milliseconds.
	NewDriver(transport contracttest.Transport) (worker.Driver, error)
	// Resources lists all resources of the kinds that drivers of Workers create, of all owners.
	Resources() ([]Resource, error)
	// Close stops the cloud.
	Close() error
}

// Inputs is the configuration of the shoot in the suite.
type Inputs struct {
	// CloudProfileConfig and InfrastructureStatus may be nil.
	CloudProfileConfig, InfrastructureStatus runtime.Object
	Credentials                              map[string][]byte
	// Pools are at least two with different names. The first has one zone, and the last has shared resources of its own. The suite sets fields
	// that are empty and independent of the cloud.
	Pools []extensionsv1alpha1.WorkerPool
	// IgnoredByUpstream adds a setting to a pool that another extension for the type ignores, see worker.Machines.UpstreamMachines. It is nil
	// if there is none.
	IgnoredByUpstream func(pool *extensionsv1alpha1.WorkerPool)
}

// Resource is a resource in the cloud.
type Resource struct {
	Kind, ID, Name string
	// Facts are properties that must be the same in every run, in any stable format. They contain no IDs except those that existed before
	// the run.
	Facts string
}
