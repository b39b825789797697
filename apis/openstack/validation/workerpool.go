package validation

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/internal/shoots"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

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

// SizeInGiB parses the size of a volume. Cinder counts in GiB, so the size is rounded up.
func SizeInGiB(size string) (int, error) { return shoots.SizeInGiB(size) }

// ValidateWorkerPool checks a pool by itself and against the CloudProfile. oldPool is the previously accepted pool, nil for a new
// pool: rules that the upstream extension does not have, and those that depend on the CloudProfile, which changes, are applied only
// to what differs. If the accepted pool is not known, pass the pool twice. Without a profile, what depends on it is not checked.
// fldPath is the pool's.
func ValidateWorkerPool(pool, oldPool *WorkerPool, profile *v1alpha1.CloudProfileConfig, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(pool.Zones) == 0 {
		errs = append(errs, field.Required(fldPath.Child("zones"), "machines are made zone by zone: give at least one availability zone"))
	}
	errs = append(errs, validateVolumes(pool, oldPool, fldPath)...)

	path := fldPath.Child("providerConfig")
	config, err := v1alpha1.DecodeWorkerConfig(pool.ProviderConfig)
	if err != nil {
		errs = append(errs, DecodingErrors(path, err)...)
		// Unknown fields do not hide other errors.
		if config, err = v1alpha1.DecodeStoredWorkerConfig(pool.ProviderConfig); err != nil {
			return errs
		}
	}
	var oldConfig *v1alpha1.WorkerConfig
	if oldPool != nil {
		// What cannot be read was not accepted, so everything is checked.
		oldConfig, _ = v1alpha1.DecodeStoredWorkerConfig(oldPool.ProviderConfig)
	}
	return append(errs, ValidateWorkerConfig(config, oldConfig, PoolValidationContext{
		Profile: profile, Zones: pool.Zones, Labels: pool.Labels,
	}, path)...)
}

// ValidateWorkerPoolUpdate rejects changes of a pool that are not possible: of its zones, except new ones at the end, since
// MachineDeployments are named by the zone's index; and, for a pool whose nodes are updated in place, changes that need
// another machine.
func ValidateWorkerPoolUpdate(oldPool, pool *WorkerPool, fldPath *field.Path) field.ErrorList {
	return shoots.ValidatePoolUpdate(oldPool, pool, v1alpha1.DecodeStoredWorkerConfig, fldPath)
}

func validateVolumes(pool, oldPool *WorkerPool, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	if volume := pool.Volume; volume != nil {
		path := fldPath.Child("volume")
		switch {
		case volume.Size != "":
			errs = append(errs, shoots.ValidateSize(volume.Size, path.Child("size"))...)
		case volume.Type != nil:
			errs = append(errs, field.Required(path.Child("size"), "a volume of this type needs a size: give one like 50Gi, or remove the type"))
		}
		wasEncrypted := oldPool != nil && oldPool.Volume != nil && isTrue(oldPool.Volume.Encrypted)
		errs = append(errs, validateEncryption(volume, wasEncrypted, path)...)
	}
	names, encryptedBefore := fields.Seen[string]{}, map[string]bool{}
	if oldPool != nil {
		for _, old := range oldPool.DataVolumes {
			encryptedBefore[old.Name] = encryptedBefore[old.Name] || isTrue(old.Encrypted)
		}
	}
	for i := range pool.DataVolumes {
		volume, path := &pool.DataVolumes[i], fldPath.Child("dataVolumes").Index(i)
		errs = append(errs, validateName(volume.Name, "a name that tells the volumes of a machine apart", path.Child("name"))...)
		if names.IsDuplicate(volume.Name) {
			errs = append(errs, fields.Duplicate(path.Child("name"), volume.Name))
		}
		errs = append(errs, shoots.ValidateSize(volume.Size, path.Child("size"))...)
		errs = append(errs, validateEncryption(volume, encryptedBefore[volume.Name], path)...)
	}
	return errs
}

// validateEncryption rejects the field encrypted: OpenStack encrypts by volume type. The upstream extension ignores the
// field.
func validateEncryption(volume *Volume, before bool, path *field.Path) field.ErrorList {
	if !isTrue(volume.Encrypted) || before {
		return nil
	}
	return field.ErrorList{field.Forbidden(path.Child("encrypted"),
		"OpenStack encrypts volumes of certain types: remove the field, and choose such a type")}
}

func isTrue(value *bool) bool { return value != nil && *value }
