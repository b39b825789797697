package worker

import (
	"fmt"
	"slices"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
)

// nextWorker returns the Worker as gardenlet writes it next, from the shoot as it is now in the Cluster resource, and what changes the name of the Secret with
// the configuration of nodes, by pool. gardenlet updates the Cluster resource at once, but the Worker in the shoot's maintenance time window.
//
// It contains those pools of the Worker that the shoot still has, and of their fields those that hashes are computed from.
func nextWorker(object *extensionsv1alpha1.Worker, shoot *gardencorev1beta1.Shoot) (*extensionsv1alpha1.Worker, map[string][]string, error) {
	next, changes := object.DeepCopy(), map[string][]string{}
	next.Spec.Pools = nil
	for i := range object.Spec.Pools {
		before := &object.Spec.Pools[i]
		n := slices.IndexFunc(shoot.Spec.Provider.Workers, func(pool gardencorev1beta1.Worker) bool { return pool.Name == before.Name })
		if n < 0 {
			continue
		}
		pool := &shoot.Spec.Provider.Workers[n]
		after := nextPool(before, pool, shoot)
		name, clauses, err := nextNodeAgentSecretName(shoot, pool, before, &after, reconciledAt(object))
		if err != nil {
			return nil, nil, fmt.Errorf("computing the configuration of the nodes of pool %q: %w", before.Name, err)
		}
		if before.NodeAgentSecretName != nil {
			after.NodeAgentSecretName = &name
		}
		changes[before.Name] = clauses
		next.Spec.Pools = append(next.Spec.Pools, after)
	}
	return next, changes, nil
}

// reconciledAt returns the end of the last reconciliation, zero if there was none.
func reconciledAt(object *extensionsv1alpha1.Worker) time.Time {
	if operation := object.Status.LastOperation; operation != nil {
		return operation.LastUpdateTime.Time
	}
	return time.Time{}
}

// nextPool returns a pool of the Worker with the shoot's settings, as gardenlet copies them.
func nextPool(before *extensionsv1alpha1.WorkerPool, pool *gardencorev1beta1.Worker, shoot *gardencorev1beta1.Shoot) extensionsv1alpha1.WorkerPool {
	after := *before.DeepCopy()
	after.MachineType, after.Architecture = pool.Machine.Type, pool.Machine.Architecture
	if image := pool.Machine.Image; image != nil {
		after.MachineImage.Name = image.Name
		if image.Version != nil {
			after.MachineImage.Version = *image.Version
		}
	}
	after.ProviderConfig, after.Zones, after.UpdateStrategy = pool.ProviderConfig, pool.Zones, pool.UpdateStrategy
	after.Volume, after.DataVolumes = nil, nil
	if volume := pool.Volume; volume != nil {
		after.Volume = &extensionsv1alpha1.Volume{Name: volume.Name, Type: volume.Type, Size: volume.VolumeSize, Encrypted: volume.Encrypted}
	}
	for _, volume := range pool.DataVolumes {
		after.DataVolumes = append(after.DataVolumes, extensionsv1alpha1.DataVolume{
			Name: volume.Name, Type: volume.Type, Size: volume.VolumeSize, Encrypted: volume.Encrypted,
		})
	}
	after.KubernetesVersion, after.KubeletConfig = &shoot.Spec.Kubernetes.Version, shoot.Spec.Kubernetes.Kubelet
	if own := pool.Kubernetes; own != nil {
		if own.Version != nil {
			after.KubernetesVersion = own.Version
		}
		if own.Kubelet != nil {
			after.KubeletConfig = own.Kubelet
		}
	}
	return *after.DeepCopy()
}
