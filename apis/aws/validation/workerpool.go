package validation

import (
	"fmt"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/internal/shoots"
)

// maxDataVolumes is the number of device names for data volumes.
const maxDataVolumes = 11

// WorkerPool has the validated fields of a pool. Shoots and Workers have them in two types, with the same field names.
type WorkerPool = shoots.Pool

// Volume is a volume of a pool.
type Volume = shoots.Volume

// PoolOfShoot returns the pool as it is in a Shoot.
func PoolOfShoot(worker *gardencorev1beta1.Worker) WorkerPool { return shoots.PoolOfShoot(worker) }

// PoolOfWorker returns the pool as it is in a Worker. It has no labels: users' own are among Gardener's there.
func PoolOfWorker(worker *extensionsv1alpha1.WorkerPool) WorkerPool {
	return shoots.PoolOfWorker(worker)
}

// SizeInGiB parses the size of a volume. EBS counts in GiB, so the size is rounded up.
func SizeInGiB(size string) (int, error) { return shoots.SizeInGiB(size) }

// ValidateWorkerPool checks a pool by itself and against the zones of the infrastructure. Without zones, the latter is not checked. fldPath is the
// pool's.
func ValidateWorkerPool(pool *WorkerPool, zones []v1alpha1.Zone, fldPath *field.Path) field.ErrorList {
	errs := validatePoolZones(pool.Zones, zones, fldPath.Child("zones"))
	errs = append(errs, validateVolumes(pool, fldPath)...)
	config, invalid := workerConfigs().Read(pool.ProviderConfig, fldPath.Child("providerConfig"))
	errs = append(errs, invalid...)
	if config == nil {
		return errs
	}
	return append(errs, ValidateWorkerConfig(config, pool, fldPath.Child("providerConfig"))...)
}

// ValidateWorkerPoolUpdate rejects changes of a pool that are not possible: of its zones, except new ones at the end, since
// MachineDeployments are named by the zone's index; and, for a pool whose nodes are updated in place, changes that need
// another machine.
func ValidateWorkerPoolUpdate(oldPool, pool *WorkerPool, fldPath *field.Path) field.ErrorList {
	return shoots.ValidatePoolUpdate(oldPool, pool, v1alpha1.DecodeStoredWorkerConfig, fldPath)
}

func workerConfigs() shoots.Reader[v1alpha1.WorkerConfig] {
	return shoots.Reader[v1alpha1.WorkerConfig]{
		Kind: kindOf("WorkerConfig"), Strictly: v1alpha1.DecodeWorkerConfig, Leniently: v1alpha1.DecodeStoredWorkerConfig,
	}
}

func kindOf(kind string) schema.GroupVersionKind { return v1alpha1.GroupVersion().WithKind(kind) }

func validatePoolZones(names []string, zones []v1alpha1.Zone, path *field.Path) field.ErrorList {
	if len(names) == 0 {
		return field.ErrorList{field.Required(path, "machines are made zone by zone: give at least one availability zone")}
	}
	if len(zones) == 0 {
		return nil
	}
	var offered []string
	for _, zone := range zones {
		offered = append(offered, zone.Name)
	}
	known := fields.SetOf(offered)
	var errs field.ErrorList
	for i, name := range names {
		if !known[name] {
			errs = append(errs, field.Invalid(path.Index(i), name, fmt.Sprintf(
				"the infrastructure has no such zone: choose one of %s, or add it at the end of networks.zones in infrastructureConfig", strings.Join(fields.Quoted(offered), ", "))))
		}
	}
	return errs
}

func validateVolumes(pool *WorkerPool, fldPath *field.Path) field.ErrorList {
	if pool.Volume == nil {
		return field.ErrorList{field.Required(fldPath.Child("volume"), "machines start from a volume: give its size and type, like 50Gi and gp3")}
	}
	errs := validateVolume(pool.Volume, fldPath.Child("volume"))
	if count := len(pool.DataVolumes); count > maxDataVolumes {
		errs = append(errs, field.TooMany(fldPath.Child("dataVolumes"), count, maxDataVolumes))
	}
	for i := range pool.DataVolumes {
		errs = append(errs, validateVolume(&pool.DataVolumes[i], fldPath.Child("dataVolumes").Index(i))...)
	}
	return errs
}

func validateVolume(volume *Volume, path *field.Path) field.ErrorList {
	errs := shoots.ValidateSize(volume.Size, path.Child("size"))
	if volume.Type == nil {
		errs = append(errs, field.Required(path.Child("type"), "give a type of volumes, like gp3"))
	}
	return errs
}
