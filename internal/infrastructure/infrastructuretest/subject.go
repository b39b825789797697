package infrastructuretest

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// Identity is whose the resources are. It is the same in all cases; each case has a cloud of its own.
type Identity struct{ TechnicalID, UID string }

// Subject is a driver together with a fake of its cloud.
type Subject struct {
	// Type is the value of spec.type that the driver serves.
	Type string
	// NewCloud makes a cloud with what its operator provides, and with what others own: it MUST hold resources that look
	// as much like the shoot's as the cloud allows, namely some of the same names, some whose names begin with the
	// technical ID, and some of another shoot that the driver would have made.
	NewCloud func(shoot Identity) (Cloud, error)
	// ErrorResponses are the errors with which the cloud may truthfully refuse a call, see contracttest.Subject.
	ErrorResponses func(contracttest.Call) []contracttest.ErrorResponse
	// Want is how many resources of each kind the shoot of Cloud.Inputs consists of.
	Want map[string]int
	// Cases selects the cases of the exploration by a part of their names, such as the path of calls that a feature adds. Empty means all.
	Cases string
	// MergeFaults makes one case of many in the exploration, see contracttest.Options.
	MergeFaults bool
}

// Cloud is a fake with an account for the shoot's owner.
type Cloud interface {
	// Inputs returns what users and operators configure.
	Inputs() Inputs
	// NewDriver builds a driver as a starting process does: with no login, and nothing remembered. Every request goes
	// through the transport. Pauses between retries are a matter of milliseconds.
	NewDriver(transport contracttest.Transport) (infrastructure.Driver, error)
	// Resources lists everything that is in the cloud, whoever owns it.
	Resources() ([]Resource, error)
	// Close ends the cloud.
	Close() error
}

// Inputs is the configuration of the shoot in the suite. Its ranges are those of contracttest.Fixture.
type Inputs struct {
	InfrastructureConfig, CloudProfileConfig runtime.Object
	Credentials                              map[string][]byte
	// SSHPublicKey may be nil.
	SSHPublicKey []byte
}

// Resource is a thing in the cloud.
type Resource struct {
	Kind, ID, Name string
	// Facts tell what is true of it and must be true of it in every run, in any stable form. They contain no IDs but
	// those that the cloud had from the beginning.
	Facts string
	// Version changes with every change of the resource. Facts may serve where a cloud has nothing of the kind.
	Version string
}
