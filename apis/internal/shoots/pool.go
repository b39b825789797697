package shoots

import (
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/internal/quantities"
	"github.com/trellis-garden/trellis/apis/ratcheting"
)

// Pool has the validated fields of a pool. Shoots and Workers have them in two types, with the same field names.
type Pool struct {
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
func PoolOfShoot(worker *gardencorev1beta1.Worker) Pool {
	pool := Pool{
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
func PoolOfWorker(worker *extensionsv1alpha1.WorkerPool) Pool {
	pool := Pool{Zones: worker.Zones, UpdatedInPlace: isInPlace(worker.UpdateStrategy), ProviderConfig: worker.ProviderConfig}
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

// PoolRules are the rules of a cloud for pools.
type PoolRules struct {
	// Machine checks the machines that a pool is to have, if no pool of the old Shoot has them.
	Machine func(Machine, *field.Path) field.ErrorList
	// Pool checks a pool; the second is the previously accepted one, nil for a new pool.
	Pool func(pool, oldPool *Pool, path *field.Path) field.ErrorList
	// Update checks a change of a pool.
	Update func(oldPool, pool *Pool, path *field.Path) field.ErrorList
}

// Validate checks the pools of a Shoot and matches them with those of the old Shoot by name, since indices change when a pool is removed.
// oldShoot is nil for a new Shoot. What a pool has been wrong in before is not reported again.
func (r PoolRules) Validate(shoot, oldShoot *gardencorev1beta1.Shoot) field.ErrorList {
	var errs field.ErrorList
	oldWorkers, known := poolsByName(oldShoot), map[Machine]bool{}
	for _, oldWorker := range oldWorkers {
		known[MachineOf(oldWorker)] = true
	}
	for i := range shoot.Spec.Provider.Workers {
		worker, path := &shoot.Spec.Provider.Workers[i], ProviderPath("workers").Index(i)
		pool := PoolOfShoot(worker)
		if wanted := MachineOf(worker); !known[wanted] {
			errs = append(errs, r.Machine(wanted, path)...)
		}
		oldWorker := oldWorkers[worker.Name]
		if oldWorker == nil {
			errs = append(errs, r.Pool(&pool, nil, path)...)
			continue
		}
		oldPool := PoolOfShoot(oldWorker)
		errs = append(errs, ratcheting.Introduced(r.Pool(&oldPool, &oldPool, path), r.Pool(&pool, &oldPool, path))...)
		errs = append(errs, r.Update(&oldPool, &pool, path)...)
	}
	return errs
}

func poolsByName(shoot *gardencorev1beta1.Shoot) map[string]*gardencorev1beta1.Worker {
	pools := map[string]*gardencorev1beta1.Worker{}
	if shoot == nil {
		return pools
	}
	for i := range shoot.Spec.Provider.Workers {
		pools[shoot.Spec.Provider.Workers[i].Name] = &shoot.Spec.Provider.Workers[i]
	}
	return pools
}

// ValidatePoolUpdate rejects changes of a pool that are not possible: of its zones, except new ones at the end, since MachineDeployments are named by
// the zone's index; and, for a pool whose nodes are updated in place, changes that need another machine. decode decodes its providerConfig. path is
// the pool's.
func ValidatePoolUpdate[Config any](oldPool, pool *Pool, decode func(*runtime.RawExtension) (*Config, error), path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(pool.Zones) < len(oldPool.Zones) || !slices.Equal(pool.Zones[:len(oldPool.Zones)], oldPool.Zones) {
		errs = append(errs, field.Invalid(path.Child("zones"), pool.Zones,
			"zones can only be added at the end: "+fields.Restore(oldPool.Zones)+", or create a new pool"))
	}
	if !pool.UpdatedInPlace {
		return errs
	}
	if !sameConfig(pool.ProviderConfig, oldPool.ProviderConfig, decode) {
		errs = append(errs, field.Forbidden(path.Child("providerConfig"),
			"nodes that are updated in place keep their machines: set it back to what it was, or create a new pool"))
	}
	if !equality.Semantic.DeepEqual(pool.DataVolumes, oldPool.DataVolumes) {
		errs = append(errs, field.Forbidden(path.Child("dataVolumes"),
			"nodes that are updated in place keep their volumes: set them back to what they were, or create a new pool"))
	}
	return errs
}

// sameConfig compares the content of documents, regardless of formatting.
func sameConfig[Config any](a, b *runtime.RawExtension, decode func(*runtime.RawExtension) (*Config, error)) bool {
	configA, errA := decode(a)
	configB, errB := decode(b)
	if errA != nil || errB != nil {
		return equality.Semantic.DeepEqual(a, b)
	}
	return equality.Semantic.DeepEqual(configA, configB)
}

// ValidateSize checks the size of a volume.
func ValidateSize(size string, path *field.Path) field.ErrorList {
	if size == "" {
		return field.ErrorList{field.Required(path, "give a size like 50Gi")}
	}
	if _, err := SizeInGiB(size); err != nil {
		return field.ErrorList{field.Invalid(path, size, "give a size like 50Gi")}
	}
	return nil
}

// SizeInGiB parses the size of a volume. Clouds count in GiB, so the size is rounded up.
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
