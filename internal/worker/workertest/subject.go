package workertest

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/worker"
)

// Identity is whose the machines are. It is the same in all cases; each case has a cloud of its own.
type Identity struct{ TechnicalID, UID string }

// Subject is a driver together with a fake of its cloud.
type Subject struct {
	// Type is the value of spec.type that the driver serves.
	Type string
	// NewCloud makes a cloud with what its operator and the Infrastructure provide, and with things of others that look as much like
	// the shoot's as the cloud allows.
	NewCloud func(shoot Identity) (Cloud, error)
	// ErrorResponses are the errors with which the cloud may truthfully refuse a call, see contracttest.Subject.
	ErrorResponses func(contracttest.Call) []contracttest.ErrorResponse
	// Want is how many resources of each kind the pools of Inputs share besides machines.
	Want map[string]int
}

// Cloud is a fake with an account for the shoot's owner. Machines are none of its business: the simulated machine-controller-manager
// has a cloud of its own for them.
type Cloud interface {
	// Inputs returns what users, operators and Gardener configure.
	Inputs() Inputs
	// NewDriver builds a driver as a starting process does: with no login, and nothing remembered. Every request goes through the
	// transport. Pauses between retries are a matter of milliseconds.
	NewDriver(transport contracttest.Transport) (worker.Driver, error)
	// Resources lists everything that drivers of Workers make in the cloud, whoever owns it.
	Resources() ([]Resource, error)
	// Close ends the cloud.
	Close() error
}

// Inputs is the configuration of the shoot in the suite.
type Inputs struct {
	// CloudProfileConfig and InfrastructureStatus may be nil.
	CloudProfileConfig, InfrastructureStatus runtime.Object
	Credentials                              map[string][]byte
	// Pools are at least two with different names, of which the first has one zone, and the last shares with no other pool what it needs
	// besides machines. The suite fills in what it leaves out and what has nothing to do with the cloud.
	Pools []extensionsv1alpha1.WorkerPool
	// IgnoredByUpstream gives a pool something that another extension for the type ignores, see worker.Machines.Former. It is nil if there is
	// nothing of the kind.
	IgnoredByUpstream func(pool *extensionsv1alpha1.WorkerPool)
}

// Resource is a thing in the cloud.
type Resource struct {
	Kind, ID, Name string
	// Facts tell what is true of it and must be true of it in every run, in any stable form. They contain no IDs but those that the cloud
	// had from the beginning.
	Facts string
}
