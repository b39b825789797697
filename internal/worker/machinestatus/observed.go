package machinestatus

import (
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
)

// LabelName is the label with the name of the MachineDeployment, on its sets and machines.
const LabelName = "name"

// Wanted is one desired MachineDeployment of the Worker: the machines of one pool in one zone.
type Wanted struct {
	// Name is the name of the MachineDeployment, Class that of its machine class.
	Name, Pool, Class string
}

// Observed are the machine objects of a shoot in the seed.
type Observed struct {
	Deployments []machinev1alpha1.MachineDeployment
	Sets        []machinev1alpha1.MachineSet
	Machines    []machinev1alpha1.Machine
	// At is the time at which they were read.
	At time.Time
}

// IsEmpty reports whether there are no machines, nor objects that would create some.
func (o Observed) IsEmpty() bool { return len(o.Deployments)+len(o.Sets)+len(o.Machines) == 0 }
