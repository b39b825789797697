package infrastructure

import (
	"context"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/contract"
)

// Driver implements Infrastructures of one type. It is shared by concurrent reconciliations of different shoots. Nothing may depend on what it keeps in memory
// of a shoot between two calls.
//
// What a driver MUST do:
//   - converge from any partial state, its own or that of a process that crashed, and create nothing twice;
//   - mark each resource as the shoot's own in the create call itself, or record the intent (contract.StateRecorder.RecordIntent)
//     before the call if the cloud has no such mark;
//   - adopt by recorded ID or by its own mark, never by name alone. Only a resource that another controller created and did not record may be recognized by
//     the form that this controller gives it, in a shoot that was never completed, and if there is exactly one;
//   - never change resources of users or of others, and name them when they block an operation;
//   - classify its errors (package cloud), and wait with contract.WaitUntil where the cloud needs time.
//
// A driver MAY repair drift where that is safe. It reports other drift in Outcome.Findings.
type Driver interface {
	// Validate checks the shoot's inputs without any call to the cloud. Each error names the field and the remedy.
	// It runs before Reconcile, not before Delete.
	Validate(shoot *Shoot) field.ErrorList
	// Reconcile creates and updates all resources, and returns the result.
	Reconcile(ctx context.Context, shoot *Shoot, recorder contract.StateRecorder) (*Outcome, error)
	// Delete deletes all resources of the shoot, in the right order, including leftovers of a cloud-controller-manager. It works with an empty state, and may
	// be called again. It returns nil only if no resource of the shoot is left.
	Delete(ctx context.Context, shoot *Shoot, recorder contract.StateRecorder) error
}

// Shoot is everything that a driver may know about the shoot it works for. It is read-only.
type Shoot struct {
	// Infrastructure is the object as it was read at the start of the reconciliation, including its status.
	Infrastructure *extensionsv1alpha1.Infrastructure
	// Cluster holds the shoot, the seed (may be nil) and the cloud profile.
	Cluster *contract.Cluster
	// Credentials is the data of the Secret that the Infrastructure refers to.
	Credentials map[string][]byte
	// TechnicalID is the shoot's name in the cloud, e.g. "shoot--dev--one". At most 63 characters.
	TechnicalID string
	// UID is the shoot's UID: the mark of ownership.
	UID string
	// FirstAttempt is true if the shoot cannot have any resource in the cloud: it is being created, and no controller has reconciled the object before. It is
	// false if unknown, and in Delete.
	FirstAttempt bool
	// Log carries the object's name.
	Log logr.Logger
	// Decoded is for the driver: see contract.DecodeOnce.
	Decoded *contract.Decoded
}

// Outcome is the result of a driver's Reconcile. The contract writes it to the object's status.
type Outcome struct {
	// Unchanged is true if everything is as in the reconciliation whose outcome the status contains. Then all other fields are empty.
	Unchanged bool
	// ProviderStatus is the versioned status that ControlPlane and Worker read, with apiVersion and kind set.
	ProviderStatus runtime.Object
	// State is everything that another seed needs to continue, with apiVersion and kind.
	State runtime.Object
	// NodesCIDR is set only when the driver chose the range of the nodes; it then wins over the shoot's.
	NodesCIDR *string
	// EgressCIDRs are the stable source addresses of traffic from the shoot's nodes to the internet. Empty if they are not stable.
	EgressCIDRs []string
	// Pods, Nodes and Services are the effective ranges, IPv4 before IPv6. Never all empty.
	Pods, Nodes, Services []string
	// Findings are sentences about differences from the spec that were not repaired.
	Findings []string
}
