package worker

import (
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr"

	"github.com/trellis-garden/trellis/internal/contract"
)

// Shoot has all inputs of a driver. It is read-only.
type Shoot struct {
	// Worker is the object as it was read at the start of the reconciliation, including its status. In a deletion its pools are those that are
	// deleted.
	Worker *extensionsv1alpha1.Worker
	// Cluster holds the shoot, the seed (may be nil) and the cloud profile.
	Cluster *contract.Cluster
	// Credentials is the data of the Secret to which the Worker refers. It is nil in a deletion if the Secret does not exist any more.
	Credentials map[string][]byte
	// TechnicalID is the shoot's name in the cloud, e.g. "shoot--dev--one". At most 63 characters.
	TechnicalID string
	// UID is the shoot's UID: the mark of ownership.
	UID string
	// PodRanges are the effective ranges of pods in CIDR notation, IPv4 before IPv6: those of the shoot's status, or else of its spec.
	PodRanges []string
	// Deleting is true if all pools are deleted.
	Deleting bool
	// Log carries the object's name.
	Log logr.Logger
	// Decoded is for the driver: see contract.DecodeOnce.
	Decoded *contract.Decoded
}

// MachineType returns the machine type of a pool as the CloudProfile has it, nil if it was removed there.
func (s *Shoot) MachineType(pool *extensionsv1alpha1.WorkerPool) *gardencorev1beta1.MachineType {
	types := s.Cluster.CloudProfile.Spec.MachineTypes
	i := slices.IndexFunc(types, func(machineType gardencorev1beta1.MachineType) bool { return machineType.Name == pool.MachineType })
	if i < 0 {
		return nil
	}
	return &types[i]
}
