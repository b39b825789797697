package contract

import (
	"context"
	"errors"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Object is an extension object of Gardener: an Infrastructure, a ControlPlane, a Worker, a Network.
type Object interface {
	client.Object
	extensionsv1alpha1.Object
}

// Contract declares what is particular to one contract. All fields but the last three are required.
type Contract[O Object] struct {
	// Name is the kind in lower case, e.g. "infrastructure". It names the controller and labels its metrics.
	Name string
	// Finalizer is the one that upstream extensions use for the kind, so that an object can change hands.
	Finalizer string
	// New returns an empty object.
	New func() O
	// Timeout bounds one pass.
	Timeout time.Duration
	// Actuator does the work.
	Actuator Actuator[O]
	// Stateless contracts never write status.state nor status.resources: for Worker both belong to gardenlet.
	Stateless bool
	// ClearVolatile clears in a status what every pass writes anew, such as a time: it does not make a pass one that has changed something. nil
	// for nothing.
	ClearVolatile func(object O)
	// FollowUp is what is left to do after gardenlet has gone on; nil for nothing.
	FollowUp *FollowUp[O]
}

// ErrSuperseded is what an Actuator returns, wrapped or not, when it breaks off because a newer order has come: that is nobody's error, and
// the new order is taken up at once.
var ErrSuperseded = errors.New("a newer order has come")

// Actuator does a contract's work on one object. Implementations are shared by concurrent passes over different objects;
// there is never more than one pass over the same object.
//
// A method changes pass.Object.Status in memory (provider status, resources, and what the kind adds); the runtime writes all
// of it in one patch when the method returns, with or without an error. State goes through pass.Track instead; lastOperation,
// lastError, observedGeneration and conditions are not the Actuator's: what it does to any of these is ignored.
// "Not ready yet" is not an error: a method waits (see WaitUntil) until ctx ends. Errors carry their kind (package cloud);
// see Codes for what becomes of it.
type Actuator[O Object] interface {
	// Reconcile fulfils the object's spec: for Create, Reconcile and Restore alike, pass.Operation tells which. It is
	// idempotent, and for Restore it finds in status.state what another seed's controller left.
	Reconcile(ctx context.Context, rec *Reconciliation[O]) error
	// Delete removes what Reconcile brought into being, however far that came. The object is gone once it returns nil.
	Delete(ctx context.Context, rec *Reconciliation[O]) error
	// ForceDelete lets go of what is in the seed. It depends neither on the cloud nor on the shoot.
	ForceDelete(ctx context.Context, rec *Reconciliation[O]) error
	// Migrate stops owning: it removes what is in the seed and leaves the shoot and the cloud untouched. The state that
	// travels is the one written before; gardenlet has copied it already.
	Migrate(ctx context.Context, rec *Reconciliation[O]) error
}

// Reconciliation is one run of an Actuator over one object.
type Reconciliation[O Object] struct {
	// Object is this pass's own copy.
	Object O
	// Cluster holds the shoot, the seed and the cloud profile.
	Cluster *Cluster
	// Operation is what will be reported as the type of the last operation.
	Operation gardencorev1beta1.LastOperationType
	// FirstAttempt is true when nothing can exist yet: the shoot is being created, and no controller ever worked on the
	// object. It is false in doubt.
	FirstAttempt bool
	// Log carries the object's name and the operation.
	Log logr.Logger
	// Client reads Secrets and Clusters from the API server, never from a cache, and writes.
	Client client.Client
	// StateRecorder is the line back to the runtime.
	StateRecorder StateRecorder
	// Messages are sentences that the last operation's description ends with when the pass succeeds.
	Messages []string

	publish func(ctx context.Context) error
}

// Publish writes the object's status as the pass has changed it so far, for contracts whose output gardenlet needs while
// the pass goes on (Worker's machineDeployments).
func (rec *Reconciliation[O]) Publish(ctx context.Context) error { return rec.publish(ctx) }

// StateRecorder is how work that is under way speaks to the runtime: what it is about to do, what it has done, how far it is.
// All methods are safe for concurrent use.
type StateRecorder interface {
	// RecordIntent saves state in status.state and returns when the API server has it. Whoever creates something that cannot
	// be found again by itself MUST call it before the create, once a pass with all intents together. state is encoded as
	// JSON; it must hold at all times all that another seed needs.
	RecordIntent(ctx context.Context, state any) error
	// RecordState saves state soon: several calls in a row end in one write, the last one wins, and the pass does not end
	// before it is written. A failed write is retried, at last with the final status. Nothing is written when nothing changed.
	// A state that cannot be kept (it does not encode, or the contract is Stateless) fails the pass.
	RecordState(state any)
	// Run executes the graph with as much parallelism as it allows and reports its progress in the last operation.
	// It returns the errors of all failed tasks, each naming its task.
	Run(ctx context.Context, graph *Graph) error
}
