package validation

import (
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/quantities"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// WorkerPool has the validated fields of a pool. Shoots and Workers have them in two types, with the same field names.
type WorkerPool struct {
	Zones []string
	// Labels are those that the user has given.
	Labels map[string]string
	// Volume is nil if the pool does not configure its root volume.
	Volume         *Volume
	DataVolumes    []Volume
	UpdatedInPlace bool
	ProviderConfig *runtime.RawExtension
}

// Volume is a volume of a pool.
type Volume struct {
	Name      string
	Type      *string
	Size      string
	Encrypted *bool
}

// PoolOfShoot returns the pool as it is in a Shoot.
func PoolOfShoot(worker *gardencorev1beta1.Worker) WorkerPool {
	pool := WorkerPool{
		Zones: worker.Zones, Labels: worker.Labels, UpdatedInPlace: isInPlace(worker.UpdateStrategy), ProviderConfig: worker.ProviderConfig,
	}
	if volume := worker.Volume; volume != nil {
		pool.Volume = &Volume{Type: volume.Type, Size: volume.VolumeSize, Encrypted: volume.Encrypted}
	}
	for _, volume := range worker.DataVolumes {
		pool.DataVolumes = append(pool.DataVolumes, Volume{Name: volume.Name, Type: volume.Type, Size: volume.VolumeSize, Encrypted: volume.Encrypted})
	}
	return pool
}

// PoolOfWorker returns the pool as it is in a Worker. It has no labels: users' own are among Gardener's there.
func PoolOfWorker(worker *extensionsv1alpha1.WorkerPool) WorkerPool {
	pool := WorkerPool{Zones: worker.Zones, UpdatedInPlace: isInPlace(worker.UpdateStrategy), ProviderConfig: worker.ProviderConfig}
	if volume := worker.Volume; volume != nil {
		pool.Volume = &Volume{Type: volume.Type, Size: volume.Size, Encrypted: volume.Encrypted}
	}
	for _, volume := range worker.DataVolumes {
		pool.DataVolumes = append(pool.DataVolumes, Volume{Name: volume.Name, Type: volume.Type, Size: volume.Size, Encrypted: volume.Encrypted})
	}
	return pool
}

func isInPlace(strategy *gardencorev1beta1.MachineUpdateStrategy) bool {
	return strategy != nil && (*strategy == gardencorev1beta1.AutoInPlaceUpdate || *strategy == gardencorev1beta1.ManualInPlaceUpdate)
}

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
	var errs field.ErrorList
	if len(pool.Zones) < len(oldPool.Zones) || !slices.Equal(pool.Zones[:len(oldPool.Zones)], oldPool.Zones) {
		errs = append(errs, field.Invalid(fldPath.Child("zones"), pool.Zones,
			"zones can only be added at the end: "+restore(oldPool.Zones)+", or create a new pool"))
	}
	if !pool.UpdatedInPlace {
		return errs
	}
	if !sameConfig(pool.ProviderConfig, oldPool.ProviderConfig) {
		errs = append(errs, field.Forbidden(fldPath.Child("providerConfig"),
			"nodes that are updated in place keep their machines: set it back to what it was, or create a new pool"))
	}
	if !equality.Semantic.DeepEqual(pool.DataVolumes, oldPool.DataVolumes) {
		errs = append(errs, field.Forbidden(fldPath.Child("dataVolumes"),
			"nodes that are updated in place keep their volumes: set them back to what they were, or create a new pool"))
	}
	return errs
}

// sameConfig compares the content of documents, regardless of formatting.
func sameConfig(a, b *runtime.RawExtension) bool {
	configA, errA := v1alpha1.DecodeStoredWorkerConfig(a)
	configB, errB := v1alpha1.DecodeStoredWorkerConfig(b)
	if errA != nil || errB != nil {
		return equality.Semantic.DeepEqual(a, b)
	}
	return equality.Semantic.DeepEqual(configA, configB)
}

func validateVolumes(pool, oldPool *WorkerPool, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	if volume := pool.Volume; volume != nil {
		path := fldPath.Child("volume")
		switch {
		case volume.Size != "":
			errs = append(errs, validateSize(volume.Size, path.Child("size"))...)
		case volume.Type != nil:
			errs = append(errs, field.Required(path.Child("size"), "a volume of this type needs a size: give one like 50Gi, or remove the type"))
		}
		wasEncrypted := oldPool != nil && oldPool.Volume != nil && isTrue(oldPool.Volume.Encrypted)
		errs = append(errs, validateEncryption(volume, wasEncrypted, path)...)
	}
	names, encryptedBefore := seen[string]{}, map[string]bool{}
	if oldPool != nil {
		for _, old := range oldPool.DataVolumes {
			encryptedBefore[old.Name] = encryptedBefore[old.Name] || isTrue(old.Encrypted)
		}
	}
	for i := range pool.DataVolumes {
		volume, path := &pool.DataVolumes[i], fldPath.Child("dataVolumes").Index(i)
		errs = append(errs, validateName(volume.Name, "a name that tells the volumes of a machine apart", path.Child("name"))...)
		if names.isDuplicate(volume.Name) {
			errs = append(errs, duplicate(path.Child("name"), volume.Name))
		}
		errs = append(errs, validateSize(volume.Size, path.Child("size"))...)
		errs = append(errs, validateEncryption(volume, encryptedBefore[volume.Name], path)...)
	}
	return errs
}

func validateSize(size string, path *field.Path) field.ErrorList {
	if size == "" {
		return field.ErrorList{field.Required(path, "give a size like 50Gi")}
	}
	if _, err := SizeInGiB(size); err != nil {
		return field.ErrorList{field.Invalid(path, size, "give a size like 50Gi")}
	}
	return nil
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

// SizeInGiB parses the size of a volume. Cinder counts in GiB, so the size is rounded up.
func SizeInGiB(size string) (int, error) {
	if err := quantities.Check(size); err != nil {
		return 0, err
	}
	quantity, err := resource.ParseQuantity(size)
	if err != nil {
		return 0, fmt.Errorf("reading size %q: %w", size, err)
	}
	const gib, most = 1 << 30, 1 << 30 // no volume has an EiB
	count := quantity.Value() / gib
	if quantity.Value()%gib > 0 {
		count++
	}
	if count <= 0 || count > most {
		return 0, fmt.Errorf("size %q is not one of a volume", size)
	}
	return int(count), nil
}
