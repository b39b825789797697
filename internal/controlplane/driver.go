package controlplane

import (
	"errors"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
)

// ErrInfrastructureIncomplete is returned while the Infrastructure has not reported what a plan needs. It is not an error of the user, and disappears with
// the next reconciliation of the Infrastructure.
var ErrInfrastructureIncomplete = errors.New("the Infrastructure has not reported everything yet")

// Driver describes the control planes of one cloud. All methods are pure: they make no calls, keep no state, and return the same output for the same input,
// down to the order of lists. The contract does everything else.
type Driver interface {
	// References returns the names of the entries of the shoot's spec.resources whose Secrets the driver needs. A configuration that cannot be decoded has
	// none.
	References(shoot *Shoot) []string
	// Validate checks the shoot's inputs. Each error names the field and the remedy. It runs before Plan, not before the
	// ControlPlane is deleted. It does not check what the Infrastructure has reported: users cannot correct that.
	Validate(shoot *Shoot) field.ErrorList
	// Plan returns the components of the control plane. Errors are classified (package cloud). It does not fail for inputs that Validate accepts, unless the
	// Infrastructure's status is missing or damaged, which is ErrInfrastructureIncomplete.
	Plan(shoot *Shoot) (*Plan, error)
	// Tune returns the changes to Gardener's own components of a shoot of this cloud, as far as the request's scope includes them.
	Tune(request *TuneRequest) (*tuning.Tuning, error)
	// CompleteCredentials replaces keys in the data of the Secret cloudprovider by what the cloud profile and the shoot determine, e.g. the address of the cloud
	// and its certificate authority. Keys that they do not determine are removed. It changes the data in place; labels and annotations are for reading, e.g.
	// the label that distinguishes a workload identity from static credentials. An error rejects the Secret, also while the shoot is deleted.
	CompleteCredentials(secret *corev1.Secret, cluster *contract.Cluster) error
}

// TuneRequest contains the inputs of Tune. It is read-only.
type TuneRequest struct {
	// Scope selects the components.
	Scope tuning.Scope
	// Cluster has the shoot. It has the cloud profile only for nodes: a kube-apiserver must not depend on whether it can be decoded.
	Cluster *contract.Cluster
	// InfrastructureStatus is the provider status of the Infrastructure, as the ControlPlane has it. It is nil for other scopes than nodes, and if there is no
	// ControlPlane: gardenlet creates it before it configures nodes, so a driver that needs it returns an error then.
	InfrastructureStatus *runtime.RawExtension
	// Image returns the image with a name in the image vector, for the shoot's version of Kubernetes.
	Image func(name string) (string, error)
}

// Shoot contains all inputs of a driver for one shoot. It is read-only.
type Shoot struct {
	// ControlPlane is the object as it was read at the start of the reconciliation.
	ControlPlane *extensionsv1alpha1.ControlPlane
	// Cluster holds the shoot, the seed (may be nil) and the cloud profile.
	Cluster *contract.Cluster
	// Credentials is the data of the Secret that the ControlPlane refers to.
	Credentials map[string][]byte
	// Referenced is the data of the Secrets that References names, by their names in the shoot's spec.resources, except for those that do not exist.
	Referenced map[string]map[string][]byte
	// New is true while the shoot is being created and no controller has reconciled the ControlPlane before. It is false if unknown.
	New bool
	// TechnicalID is the shoot's name in the cloud, e.g. "shoot--dev--one".
	TechnicalID string
	// PodRanges and ServiceRanges are the effective ranges in CIDR notation, those of the shoot's status before those of its spec.
	PodRanges, ServiceRanges []string
	// Decoded is for the driver: see contract.DecodeOnce.
	Decoded *contract.Decoded
}
