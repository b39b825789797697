package worker

import (
	"context"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Driver implements the machines of one cloud. It is shared by concurrent reconciliations of different shoots and keeps no state of a shoot
// between two calls.
//
// A driver MUST classify its errors (package cloud), MUST mark what it creates as the shoot's own, in the create call itself
// or by its name, MUST find it again by that mark if the status is empty, and MUST NOT change resources of others.
type Driver interface {
	// Validate checks the shoot's inputs without any call to the cloud. Each error names the field and the remedy. It runs before
	// everything else, not before a deletion. It does not check what the Infrastructure has reported: users cannot correct that, and Prepare
	// returns an error without a kind as long as something is missing.
	Validate(shoot *Shoot) field.ErrorList
	// Prepare creates the resources that machines share besides those of the Infrastructure, such as server groups. It returns the
	// providerStatus of the Worker, with these resources and the images in use, which is written before a machine is created: with apiVersion
	// and kind. It converges from any partial state and makes no calls if no pool needs anything. It keeps resources that no pool needs any
	// more: Cleanup removes them.
	Prepare(ctx context.Context, shoot *Shoot) (runtime.Object, error)
	// Machines describes the machines of a pool. It is pure: the same input gives the same output, down to the bytes. status is what Prepare
	// has returned for the same shoot. In a deletion, in which it may be called for a missing class, status is the recorded one as a
	// *runtime.Unknown in JSON, or nil if it is lost.
	Machines(shoot *Shoot, status runtime.Object, pool *extensionsv1alpha1.WorkerPool) (*Machines, error)
	// Cleanup deletes the resources that Prepare has created for pools that are gone, and returns the new providerStatus. It is called when no
	// machine uses these resources any more. In a deletion all pools are gone: it deletes everything, with the recorded status (see Machines)
	// or without one, and may be called again.
	Cleanup(ctx context.Context, shoot *Shoot, status runtime.Object) (runtime.Object, error)
}

// Machines describes the machines of one pool.
type Machines struct {
	// HashData is the driver's part of the pool's hash, in an order that never changes: another value replaces the nodes.
	HashData []string
	// HashDataNames says for users what each element of HashData is, e.g. "the server group". Names are unique, and are no part of the hash.
	HashDataNames []string
	// HashDataInPlace is that part for a pool whose nodes are updated in place.
	HashDataInPlace []string
	// Classes has one class for each of the pool's zones, in their order.
	Classes []Class
	// UpstreamMachines describes the machines that another extension for this type creates for the same pool, if it ignores something that is
	// part of the hash here. It applies as long as the pool's machines are of classes of that extension, so that a shoot that is taken over
	// keeps its nodes. nil if there is no difference.
	UpstreamMachines *UpstreamMachines
}

// UpstreamMachines describes the machines of a pool as another extension creates them.
type UpstreamMachines struct {
	Machines
	// Message is a clause for users that names what is ignored, e.g. "the data volumes of pool cpu are created when its nodes are replaced".
	Message string
}

// Class describes the machines of a pool in one zone.
type Class struct {
	// Provider is the name of the machine driver in its classes, e.g. "OpenStack".
	Provider string
	// ProviderSpec is the configuration for that driver, in the form that it reads. It contains no credentials.
	ProviderSpec runtime.Object
	// NodeTemplate describes future nodes for the cluster-autoscaler. The contract adds instance type, region, zone, architecture, and
	// capacities that the driver omits.
	NodeTemplate machinev1alpha1.NodeTemplate
	// Labels are labels of the class itself besides the contract's.
	Labels map[string]string
	// NodeLabels are labels of nodes besides the pool's own.
	NodeLabels map[string]string
}
