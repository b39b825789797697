package worker

import (
	"context"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Driver knows the machines of one kind of cloud. It is shared by concurrent passes over different shoots and keeps nothing
// about a shoot between two calls.
//
// A driver MUST classify its errors (package cloud), MUST mark what it creates as the shoot's own, in the create call itself
// or by its name, MUST find it again by that mark alone when status says nothing, and MUST leave alone whatever is not the shoot's.
type Driver interface {
	// Validate checks the shoot's inputs without any call to the cloud. Each error names the field and the remedy. It runs before
	// everything else, not before a deletion. It says nothing of what the Infrastructure has reported: users cannot correct that, and Prepare
	// fails without a kind as long as something is missing.
	Validate(shoot *Shoot) field.ErrorList
	// Prepare brings into being what machines share besides what the Infrastructure gives, such as server groups, and returns what
	// the Worker's providerStatus must say of it, and of the images in use, before there is a machine: with apiVersion and kind. It
	// converges from any half-made state and costs nothing where no pool needs anything. What no pool needs any more stays: Tidy removes it.
	Prepare(ctx context.Context, shoot *Shoot) (runtime.Object, error)
	// Machines says what the machines of a pool are like. It is pure: the same question has the same answer, down to the bytes.
	// status is what Prepare has returned for the same shoot; in a deletion, where it may be asked for a class that is missing, it is what
	// was recorded, as a *runtime.Unknown in JSON, nil when that is lost.
	Machines(shoot *Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*Machines, error)
	// Cleanup removes what Prepare has brought into being for pools that are gone, and returns what remains to be said in the providerStatus.
	// It runs when no machine uses these things any more. In a deletion all pools are gone: it removes everything, works with the status as
	// it was recorded (see Machines) or without one, and a second time.
	Cleanup(ctx context.Context, shoot *Shoot, status runtime.Object) (runtime.Object, error)
}

// Machines is what the machines of one pool are like.
type Machines struct {
	// HashData are the driver's contributions to the pool's hash, in an order that never changes: another value replaces the nodes.
	HashData []string
	// HashDataInPlace are those for a pool whose nodes are updated in place.
	HashDataInPlace []string
	// Classes has one class for each of the pool's zones, in their order.
	Classes []Class
	// UpstreamMachines is what another extension for this type makes of the same pool, where it leaves something out that counts here. It holds
	// for as long as the pool's machines are of classes which that extension has made: a shoot that changes hands keeps its nodes. nil
	// when there is no difference.
	UpstreamMachines *UpstreamMachines
}

// UpstreamMachines is the other answer to the same question.
type UpstreamMachines struct {
	Machines
	// Message tells users what is left out, as a clause: "the data volumes of pool cpu come when its nodes are replaced".
	Message string
}

// Class is what the machines of a pool are like in one zone.
type Class struct {
	// Provider is the name by which the machine driver knows its classes, e.g. "OpenStack".
	Provider string
	// ProviderSpec is what that driver reads: with apiVersion and kind. It holds no credentials.
	ProviderSpec runtime.Object
	// NodeTemplate tells the cluster-autoscaler what a node will be like that does not exist yet. The contract fills in what it knows:
	// instance type, region, zone, architecture, and capacities that the driver leaves out.
	NodeTemplate machinev1alpha1.NodeTemplate
	// NodeLabels are labels of nodes besides the pool's own.
	NodeLabels map[string]string
}
