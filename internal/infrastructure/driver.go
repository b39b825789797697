package infrastructure

import (
	"context"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/contract"
)

// Driver fulfils Infrastructures of one type in one kind of cloud. It is shared by concurrent passes over different
// shoots and keeps nothing about a shoot between two calls.
//
// What a driver MUST do:
//   - converge from any half-made state, its own or a crashed predecessor's, and leave nothing twice;
//   - mark what it creates as the shoot's own in the create call itself, or record the intent (contract.StateRecorder.Intend)
//     before the call where the cloud takes no mark;
//   - adopt by recorded ID or by its own mark, never by name alone. Only what another controller began, and stopped before it recorded it,
//     may be told by the form that this controller gives it, in a shoot that nobody has finished and if there is exactly one;
//   - leave alone what the user gave or what somebody else owns, and name it when it is in the way;
//   - classify its errors (package cloud), and wait with contract.WaitUntil where the cloud needs time.
//
// A driver MAY repair drift where that is safe; other drift it reports in Outcome.Findings.
type Driver interface {
	// Validate checks the shoot's inputs without any call to the cloud. Each error names the field and the remedy.
	// It runs before Reconcile, not before Delete.
	Validate(shoot *Shoot) field.ErrorList
	// Reconcile brings everything into being and returns what came of it.
	Reconcile(ctx context.Context, shoot *Shoot, recorder contract.StateRecorder) (*Outcome, error)
	// Delete removes all that is the shoot's own, in the right order, including what a cloud-controller-manager left
	// behind. It works with an empty state, and a second time. It returns nil only when nothing of the shoot is left.
	Delete(ctx context.Context, shoot *Shoot, recorder contract.StateRecorder) error
}

// Shoot is everything that a driver may know about the shoot it works for. It is read-only.
type Shoot struct {
	// Infrastructure is the object as it was read at the start of the pass, status included.
	Infrastructure *extensionsv1alpha1.Infrastructure
	// Cluster holds the shoot, the seed (may be nil) and the cloud profile.
	Cluster *contract.Cluster
	// Credentials is the data of the Secret that the Infrastructure refers to.
	Credentials map[string][]byte
	// TechnicalID is the shoot's name in the cloud, e.g. "shoot--dev--one". At most 63 characters.
	TechnicalID string
	// UID is the shoot's UID: the mark of ownership.
	UID string
	// FirstAttempt is true when nothing of the shoot can exist in the cloud: it is being created, and no controller ever
	// worked on the object. It is false in doubt, and in Delete.
	FirstAttempt bool
	// Log carries the object's name.
	Log logr.Logger
	// Decoded is for the driver: see contract.DecodeOnce.
	Decoded *contract.Decoded
}

// Outcome is what a driver's Reconcile achieved. The contract writes it to the object's status.
type Outcome struct {
	// ProviderStatus is the versioned status that ControlPlane and Worker read, with apiVersion and kind set.
	ProviderStatus runtime.Object
	// State is everything that another seed needs to go on, with apiVersion and kind set.
	State runtime.Object
	// NodesCIDR is set only when the driver chose the range of the nodes; it then wins over the shoot's.
	NodesCIDR *string
	// EgressCIDRs are the stable addresses from which the shoot's nodes reach the world. Empty when they are not stable.
	EgressCIDRs []string
	// Pods, Nodes and Services are the effective ranges, IPv4 before IPv6. Never all empty.
	Pods, Nodes, Services []string
	// Findings are sentences about what differs from the spec and was not repaired.
	Findings []string
}
