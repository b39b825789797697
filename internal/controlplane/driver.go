package controlplane

import (
	"errors"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
)

// ErrInfrastructureIncomplete says that the Infrastructure has not reported yet what a plan needs. It is no fault of the user's, and passes
// with the next reconciliation of the Infrastructure.
var ErrInfrastructureIncomplete = errors.New("the Infrastructure has not reported everything yet")

// Driver knows what a control plane needs of one cloud. All methods are pure: they call nobody, keep nothing, and answer
// the same question with the same answer, down to the order of lists. The contract does everything else.
type Driver interface {
	// References names the entries of the shoot's spec.resources whose Secrets the driver needs. A configuration that cannot be
	// read has none.
	References(shoot *Shoot) []string
	// Validate checks the shoot's inputs. Each error names the field and the remedy. It runs before Plan, not before the
	// ControlPlane is deleted. It says nothing of what the Infrastructure has reported: users cannot correct that.
	Validate(shoot *Shoot) field.ErrorList
	// Plan says what the control plane consists of. An error is classified (package cloud); inputs that Validate accepts do
	// not fail, unless the Infrastructure's status is missing or damaged, which is ErrInfrastructureIncomplete.
	Plan(shoot *Shoot) (*Plan, error)
	// Tune says what has to be different in Gardener's own components of a shoot of this cloud, as far as the subject goes. The cluster holds the
	// cloud profile for nodes alone: a kube-apiserver must not depend on whether that is in order.
	Tune(cluster *contract.Cluster, scope tuning.Scope) (*tuning.Tuning, error)
	// CompleteCredentials changes the data of the Secret cloudprovider to what the cloud profile knows better than whoever
	// made the credentials: where the cloud is, and how to trust it. What the cloud profile lacks, the data must not say either. It changes
	// data in place. An error refuses the Secret, also while the shoot is deleted.
	CompleteCredentials(data map[string][]byte, cluster *contract.Cluster) error
}

// Shoot is everything that a driver may know about the shoot it plans for. It is read-only.
type Shoot struct {
	// ControlPlane is the object as it was read at the start of the pass.
	ControlPlane *extensionsv1alpha1.ControlPlane
	// Cluster holds the shoot, the seed (may be nil) and the cloud profile.
	Cluster *contract.Cluster
	// Credentials is the data of the Secret that the ControlPlane refers to.
	Credentials map[string][]byte
	// Referenced is the data of the Secrets that References asked for, by their names in the shoot's spec.resources. Those that
	// are not there are left out.
	Referenced map[string]map[string][]byte
	// New is true while the shoot is being created and nobody has worked on the ControlPlane before. It is false in doubt.
	New bool
	// TechnicalID is the shoot's name in the cloud, e.g. "shoot--dev--one".
	TechnicalID string
	// PodRanges and ServiceRanges are the effective ranges in CIDR notation, those of the shoot's status before those of its spec.
	PodRanges, ServiceRanges []string
	// Decoded is for the driver: see contract.DecodeOnce.
	Decoded *contract.Decoded
}
