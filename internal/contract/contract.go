package contract

import (
	"context"
	"errors"
	"fmt"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Object is an extension object of Gardener: an Infrastructure, a ControlPlane, a Worker, a Network.
type Object interface {
	client.Object
	extensionsv1alpha1.Object
}

// NewList returns an empty list of the object's kind.
func NewList(scheme *runtime.Scheme, object Object) (client.ObjectList, error) {
	kind, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return nil, fmt.Errorf("looking up the kind of %T: %w", object, err)
	}
	empty, err := scheme.New(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err != nil {
		return nil, fmt.Errorf("looking up the kind of lists of %s: %w", kind.Kind, err)
	}
	list, ok := empty.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("%T is no list of objects", empty)
	}
	return list, nil
}

// Contract declares what is specific to one contract. All fields but the last three are required.
type Contract[O Object] struct {
	// Name is the kind in lower case, e.g. "infrastructure". It names the controller and labels its metrics.
	Name string
	// Finalizer is the one that upstream extensions use for the kind, so that an object can be handed over.
	Finalizer string
	// New returns an empty object.
	New func() O
	// Timeout bounds one reconciliation.
	Timeout time.Duration
	// Actuator does the work.
	Actuator Actuator[O]
	// Stateless contracts never write status.state nor status.resources: for Worker both belong to gardenlet.
	Stateless bool
	// ClearVolatile clears in a status what every reconciliation writes anew, such as a time, so that it does not count as a change. nil for
	// nothing.
	ClearVolatile func(object O)
	// FollowUp is what is left to do after gardenlet has gone on; nil for nothing.
	FollowUp *FollowUp[O]
}

// ErrSuperseded is what an Actuator returns, wrapped or not, when it stops because a newer operation was requested. It is not reported as an error,
// and the new operation is started at once.
var ErrSuperseded = errors.New("superseded by a newer operation")

// Actuator implements a contract for one object. It is shared by concurrent reconciliations of different objects; there is
// never more than one of the same object.
//
// A method changes rec.Object.Status in memory (provider status, resources, and what the kind adds); the runtime writes all
// of it in one patch when the method returns, with or without an error. State goes through rec.StateRecorder instead; lastOperation,
// lastError, observedGeneration and conditions are not the Actuator's: what it changes in these is ignored.
// "Not ready yet" is not an error: a method waits (see WaitUntil) until ctx ends. Errors carry their kind (package cloud);
// see Codes for how it is reported.
type Actuator[O Object] interface {
	// Reconcile fulfils the object's spec, for Create, Reconcile and Restore (see rec.Operation). It is
	// idempotent, and for Restore it finds in status.state what the controller on another seed recorded.
	Reconcile(ctx context.Context, rec *Reconciliation[O]) error
	// Delete removes what Reconcile created, also after an incomplete Reconcile. The object is deleted once it returns nil.
	Delete(ctx context.Context, rec *Reconciliation[O]) error
	// ForceDelete releases what is in the seed. It depends neither on the cloud nor on the shoot.
	ForceDelete(ctx context.Context, rec *Reconciliation[O]) error
	// Migrate gives up ownership: it removes what is in the seed and does not touch the shoot and the cloud. The other seed
	// gets the state that was written before; gardenlet has copied it already.
	Migrate(ctx context.Context, rec *Reconciliation[O]) error
}

// Reconciliation is one run of an Actuator over one object.
type Reconciliation[O Object] struct {
	// Object is a copy that belongs to this reconciliation.
	Object O
	// Cluster holds the shoot, the seed and the cloud profile.
	Cluster *Cluster
	// Operation is reported as the type of the last operation.
	Operation gardencorev1beta1.LastOperationType
	// FirstAttempt is true if nothing can exist yet: the shoot is being created, and no controller ever reconciled the
	// object. It is false if that is not certain.
	FirstAttempt bool
	// Log carries the object's name and the operation.
	Log logr.Logger
	// Client reads Secrets and Clusters from the API server, never from a cache, and writes.
	Client client.Client
	// StateRecorder saves state and reports progress.
	StateRecorder StateRecorder
	// Messages are sentences that are appended to the last operation's description on success.
	Messages []string

	publish func(ctx context.Context) error
}

// Publish writes the object's status as it was changed so far, for contracts whose output gardenlet needs during the
// reconciliation (Worker's machineDeployments).
func (rec *Reconciliation[O]) Publish(ctx context.Context) error { return rec.publish(ctx) }

// StateRecorder records what a running Actuator is about to create and has created, and reports its progress. All methods
// are safe for concurrent use.
type StateRecorder interface {
	// RecordIntent saves state in status.state and returns when the API server has it. Before an Actuator creates something that it
	// could not find again, it MUST call this, once per reconciliation with all intents together. state is encoded as
	// JSON; it must always have everything that another seed needs.
	RecordIntent(ctx context.Context, state any) error
	// RecordState saves state soon: in a write every 250 ms, of the latest state, and with the final status at the latest. A failed write is
	// retried. Nothing is written when nothing changed.
	// A state that cannot be stored (it does not encode, or the contract is Stateless) fails the reconciliation.
	RecordState(state any)
	// Run executes the graph with as much parallelism as it allows and reports its progress in the last operation.
	// It returns the errors of all failed tasks, each naming its task.
	Run(ctx context.Context, graph *Graph) error
}
