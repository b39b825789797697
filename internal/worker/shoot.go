package worker

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr"

	"github.com/trellis-garden/trellis/internal/contract"
)

// Shoot is everything that a driver may know about the shoot it works for. It is read-only.
type Shoot struct {
	// Worker is the object as it was read at the start of the reconciliation, including its status. In a deletion its pools are those that are deleted.
	Worker *extensionsv1alpha1.Worker
	// Cluster holds the shoot, the seed (may be nil) and the cloud profile.
	Cluster *contract.Cluster
	// Credentials is the data of the Secret that the Worker refers to. It is nil in a deletion when there is no such Secret any more.
	Credentials map[string][]byte
	// TechnicalID is the shoot's name in the cloud, e.g. "shoot--dev--one". At most 63 characters.
	TechnicalID string
	// UID is the shoot's UID: the mark of ownership.
	UID string
	// PodRanges are the effective ranges of pods in CIDR notation, IPv4 before IPv6, those of the shoot's status before those of its spec.
	PodRanges []string
	// Deleting is true when all pools are to go.
	Deleting bool
	// Log carries the object's name.
	Log logr.Logger
	// Decoded is for the driver: see contract.DecodeOnce.
	Decoded *contract.Decoded
}
