package landscape

import (
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
)

// ID is a kind and a type, such as Infrastructure and openstack.
type ID struct{ Kind, Type string }

// String is how Gardener writes it: Infrastructure/openstack.
func (id ID) String() string { return id.Kind + "/" + id.Type }

// compare orders by kind, then by type.
func (id ID) compare(other ID) int {
	if c := strings.Compare(id.Kind, other.Kind); c != 0 {
		return c
	}
	return strings.Compare(id.Type, other.Type)
}

// theSeed is how Wants calls the seed as a wanter.
const theSeed = "the seed"

// Requirements is what is wanted, and for each the wanters, such as "shoot garden-dev/cat" or "the seed": at least one, none twice,
// in no order.
type Requirements map[ID][]string

func (w Requirements) add(requirer string, ids ...ID) {
	for _, id := range ids {
		if !slices.Contains(w[id], requirer) {
			w[id] = append(w[id], requirer)
		}
	}
}

// IDs returns what is wanted, in order.
func (w Requirements) IDs() []ID {
	ids := make([]ID, 0, len(w))
	for id := range w {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, ID.compare)
	return ids
}

// Required returns the kinds and types that Gardener wants installed on the seed: for its shoots (also those that are leaving
// it), for its backups, and for itself. For a seed that is a self-hosted shoot, what the shoot alone wants is left out, since
// Gardener installs that for the shoot.
func Required(g *Garden, seed *gardencorev1beta1.Seed) Requirements {
	requirements := requiredByBackups(g, func(owner *string, _ *corev1.ObjectReference) bool { return deref(owner) == seed.Name })
	hosted := Requirements{}
	for i := range g.Shoots {
		if shoot := &g.Shoots[i]; isOn(shoot, seed.Name) {
			hosted.add("shoot "+shoot.Namespace+"/"+shoot.Name, RequiredByShoot(shoot, seed, g.Registrations, g.Domains[seed.Name])...)
		}
	}
	bySeed := RequiredBySeed(seed, g.Registrations)
	for id, requirers := range hosted {
		requirements[id] = append(requirements[id], requirers...)
	}
	requirements.add(theSeed, bySeed...)
	for _, id := range requiredBySelfHosted(g, seed) {
		if _, alsoHosted := hosted[id]; !alsoHosted && !slices.Contains(bySeed, id) {
			delete(requirements, id)
		}
	}
	return requirements
}

func isOn(shoot *gardencorev1beta1.Shoot, seed string) bool {
	return deref(shoot.Spec.SeedName) == seed || deref(shoot.Status.SeedName) == seed
}

// requiredByBackups leaves out entries whose bucket is gone, as Gardener does. owns tells whose buckets and entries are looked at.
func requiredByBackups(g *Garden, owns func(seed *string, shoot *corev1.ObjectReference) bool) Requirements {
	requirements := Requirements{}
	provider := map[string]string{}
	for _, bucket := range g.BackupBuckets {
		provider[bucket.Name] = bucket.Spec.Provider.Type
		if owns(bucket.Spec.SeedName, bucket.Spec.ShootRef) {
			requirements.add("bucket "+bucket.Name, ID{extensionsv1alpha1.BackupBucketResource, bucket.Spec.Provider.Type})
		}
	}
	for _, entry := range g.BackupEntries {
		if typ, ok := provider[entry.Spec.BucketName]; ok && owns(entry.Spec.SeedName, entry.Spec.ShootRef) {
			requirements.add("backup "+entry.Namespace+"/"+entry.Name, ID{extensionsv1alpha1.BackupEntryResource, typ})
		}
	}
	return requirements
}

// RequiredBySeed returns what the seed wants for itself, in no order: nothing while it is being deleted.
func RequiredBySeed(seed *gardencorev1beta1.Seed, registrations []gardencorev1beta1.ControllerRegistration) []ID {
	if seed.DeletionTimestamp != nil {
		return nil
	}
	ids := providerIDs(seed.Spec.Provider.Type)
	if dns := seed.Spec.DNS.Provider; dns != nil {
		ids = append(ids, ID{extensionsv1alpha1.DNSRecordResource, dns.Type})
	}
	return append(ids, extensionIDs(gardencorev1beta1.ClusterTypeSeed, seed.Spec.Extensions, registrations, nil)...)
}

func providerIDs(typ string) []ID {
	return []ID{
		{extensionsv1alpha1.ControlPlaneResource, typ}, {extensionsv1alpha1.InfrastructureResource, typ}, {extensionsv1alpha1.WorkerResource, typ},
	}
}

// RequiredByShoot returns what a shoot wants on its seed, in no order, perhaps several times. seed is nil for a self-hosted shoot
// as seen from itself.
func RequiredByShoot(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed, registrations []gardencorev1beta1.ControllerRegistration, domains Domains) []ID {
	var ids []ID
	if backup := backupOf(shoot, seed); backup != nil {
		ids = append(ids, ID{extensionsv1alpha1.BackupBucketResource, backup.Provider}, ID{extensionsv1alpha1.BackupEntryResource, backup.Provider})
	}
	if seed != nil {
		// The control plane extension of the seed's own provider may expose control planes.
		ids = append(ids, ID{extensionsv1alpha1.ControlPlaneResource, seed.Spec.Provider.Type})
	}
	workerless := len(shoot.Spec.Provider.Workers) == 0
	if !workerless {
		ids = append(ids, providerIDs(shoot.Spec.Provider.Type)...)
		if networking := shoot.Spec.Networking; networking != nil && networking.Type != nil {
			ids = append(ids, ID{extensionsv1alpha1.NetworkResource, *networking.Type})
		}
	}
	for _, pool := range shoot.Spec.Provider.Workers {
		ids = append(ids, poolIDs(shoot, pool)...)
	}
	ids = append(ids, dnsIDs(shoot, seed, domains)...)
	return append(ids, extensionIDs(gardencorev1beta1.ClusterTypeShoot, shoot.Spec.Extensions, registrations,
		func(resource gardencorev1beta1.ControllerResource) bool {
			return !workerless || resource.WorkerlessSupported != nil && *resource.WorkerlessSupported
		})...)
}

func poolIDs(shoot *gardencorev1beta1.Shoot, pool gardencorev1beta1.Worker) []ID {
	var ids []ID
	if image := pool.Machine.Image; image != nil {
		ids = append(ids, ID{extensionsv1alpha1.OperatingSystemConfigResource, image.Name})
	}
	if pool.CRI != nil {
		for _, runtime := range pool.CRI.ContainerRuntimes {
			ids = append(ids, ID{extensionsv1alpha1.ContainerRuntimeResource, runtime.Type})
		}
	}
	if controlPlane := pool.ControlPlane; controlPlane != nil && controlPlane.Exposure != nil && controlPlane.Exposure.Extension != nil {
		ids = append(ids, ID{extensionsv1alpha1.SelfHostedShootExposureResource, exposureType(shoot)})
	}
	return ids
}

// exposureType is that of the first pool with a control plane, of which Gardener allows one; without a word about it, the provider's.
func exposureType(shoot *gardencorev1beta1.Shoot) string {
	if exposure := controlPlanePool(shoot).ControlPlane.Exposure; exposure != nil && exposure.Extension != nil && exposure.Extension.Type != nil {
		return *exposure.Extension.Type
	}
	return shoot.Spec.Provider.Type
}

// backupOf returns the backup of a self-hosted shoot's own pool, otherwise the seed's.
func backupOf(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) *gardencorev1beta1.Backup {
	if pool := controlPlanePool(shoot); pool != nil {
		return pool.ControlPlane.Backup
	}
	if seed == nil {
		return nil
	}
	return seed.Spec.Backup
}

// controlPlanePool returns the pool on which a self-hosted shoot runs its control plane, nil for all others.
func controlPlanePool(shoot *gardencorev1beta1.Shoot) *gardencorev1beta1.Worker {
	for i := range shoot.Spec.Provider.Workers {
		if pool := &shoot.Spec.Provider.Workers[i]; pool.ControlPlane != nil {
			return pool
		}
	}
	return nil
}

// extensionIDs returns the types of kind Extension that a cluster has: those that it names and has not disabled, and those that
// registrations enable for all clusters of its kind. allowed is nil when all are.
func extensionIDs(
	cluster gardencorev1beta1.ClusterType, named []gardencorev1beta1.Extension, registrations []gardencorev1beta1.ControllerRegistration,
	allowed func(gardencorev1beta1.ControllerResource) bool,
) []ID {
	var ids []ID
	disabled := map[string]bool{}
	for _, extension := range named {
		if extension.Disabled != nil && *extension.Disabled {
			disabled[extension.Type] = true
		} else {
			ids = append(ids, ID{extensionsv1alpha1.ExtensionResource, extension.Type})
		}
	}
	for _, registration := range registrations {
		for _, resource := range registration.Spec.Resources {
			if resource.Kind == extensionsv1alpha1.ExtensionResource && slices.Contains(resource.AutoEnable, cluster) &&
				!disabled[resource.Type] && (allowed == nil || allowed(resource)) {
				ids = append(ids, ID{resource.Kind, resource.Type})
			}
		}
	}
	return ids
}

// requiredBySelfHosted returns what Gardener installs for the self-hosted shoot that the seed is, none for other seeds.
func requiredBySelfHosted(g *Garden, seed *gardencorev1beta1.Seed) []ID {
	shoot := g.selfHostedShoot(seed)
	if shoot == nil {
		return nil
	}
	backups := requiredByBackups(g, func(_ *string, owner *corev1.ObjectReference) bool {
		return owner != nil && owner.Name == shoot.Name && owner.Namespace == shoot.Namespace
	})
	return append(backups.IDs(), RequiredByShoot(shoot, nil, g.Registrations, Domains{})...)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
