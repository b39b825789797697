// Package cloud defines what tests, demo and benchmark need of a provider's cloud, so that the clusters of shoots are started for any provider.
// Each provider implements it in a package of its own, such as package openstack. It must not depend on a provider.
package cloud

import (
	"context"
	"fmt"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Cloud is a running cloud for shoots, a fake or a real one.
type Cloud interface {
	Description
	// OpenAccount creates an account. The name must be unused in the cloud.
	OpenAccount(ctx context.Context, name string) (Account, error)
	Traffic
	Faults
	// Close stops what was started with the cloud. A real cloud goes on running.
	Close() error
}

// Description says which cloud it is.
type Description interface {
	// Name is for messages.
	Name() string
	// ControllerArgs are the arguments by which a controller finds the cloud, if cloud profiles do not name it.
	ControllerArgs() []string
}

// Traffic are the calls of controllers. Those of tests are not among them.
type Traffic interface {
	// Log returns the calls since the last ResetLog, in the order of their arrival.
	Log() wire.Calls
	ResetLog()
	// WaitIdle waits until no call is under way, also none whose client is gone.
	WaitIdle(ctx context.Context) error
}

// Faults change what happens to calls of controllers.
type Faults interface {
	// SetLatency sets the duration of all calls.
	SetLatency(latency time.Duration)
	// Inject makes matching calls fail until ClearFaults, and returns how many it has applied to. SetHook sets a function that is called before and
	// after the effect of each call.
	Inject(fault wire.Fault) (applied func() int)
	ClearFaults()
	SetHook(hook wire.Hook)
}

// Account is an account in a cloud, which is empty at first.
type Account interface {
	// NewShoot describes a shoot in the account, for which all resources of an Infrastructure are created.
	NewShoot(name string) *gardenlet.Shoot
	// ResourceNames names all resources, each by its kind, ID and changeable fields, sorted.
	ResourceNames(ctx context.Context) ([]string, error)
	// Remove deletes the account. It fails, and names what is left, unless the account is empty.
	Remove(ctx context.Context) error
}

// MachineAccount is an account in a cloud that has machines.
type MachineAccount interface {
	Account
	// OfferMachines adds machine types and images to the shoot's cloud profile, and the images to the cloud.
	OfferMachines(shoot *gardenlet.Shoot)
	// Servers returns a function that lists the servers of a shoot.
	Servers(shoot *gardenlet.Shoot) func(context.Context) ([]nodes.Server, error)
	// MachineControllerEnv are the environment variables by which a machine controller finds the cloud, if cloud profiles do not name it.
	MachineControllerEnv() map[string]string
}

// WithMachines returns an account of a cloud that has machines, or an error.
func WithMachines(account Account) (MachineAccount, error) {
	with, has := account.(MachineAccount)
	if !has {
		return nil, fmt.Errorf("the cloud of an account of type %T has no machines", account)
	}
	return with, nil
}
