package workertest

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// poolOfShoot returns a pool of the Worker as gardenlet writes it.
func poolOfShoot(shoot *gardencorev1beta1.Shoot, pool *gardencorev1beta1.Worker) extensionsv1alpha1.WorkerPool {
	kubernetes, kubelet := shoot.Spec.Kubernetes.Version, shoot.Spec.Kubernetes.Kubelet
	if own := pool.Kubernetes; own != nil && own.Version != nil {
		kubernetes = *own.Version
	}
	if own := pool.Kubernetes; own != nil && own.Kubelet != nil {
		kubelet = own.Kubelet
	}
	p := extensionsv1alpha1.WorkerPool{
		Name: pool.Name, MachineType: pool.Machine.Type, Minimum: pool.Minimum, Maximum: pool.Maximum, Zones: pool.Zones, Labels: pool.Labels,
		MachineImage: extensionsv1alpha1.MachineImage{Name: pool.Machine.Image.Name, Version: *pool.Machine.Image.Version},
		Architecture: pool.Machine.Architecture, ProviderConfig: pool.ProviderConfig, UpdateStrategy: pool.UpdateStrategy,
		KubernetesVersion: &kubernetes, KubeletConfig: kubelet, NodeAgentSecretName: new(nodeAgentSecretName(shoot, pool, kubernetes, kubelet)),
	}
	if pool.Volume != nil {
		p.Volume = &extensionsv1alpha1.Volume{Type: pool.Volume.Type, Size: pool.Volume.VolumeSize, Encrypted: pool.Volume.Encrypted}
	}
	for _, volume := range pool.DataVolumes {
		p.DataVolumes = append(p.DataVolumes, extensionsv1alpha1.DataVolume{
			Name: volume.Name, Type: volume.Type, Size: volume.VolumeSize, Encrypted: volume.Encrypted,
		})
	}
	return p
}

// nodeAgentSecretName is the name of the Secret with the configuration of a pool's nodes, as gardenlet computes it. kube-proxy is never in IPVS mode here.
func nodeAgentSecretName(
	shoot *gardencorev1beta1.Shoot, pool *gardencorev1beta1.Worker, kubernetes string, kubelet *gardencorev1beta1.KubeletConfig,
) string {
	if pool.UpdateStrategy != nil {
		return "gardener-node-agent-" + pool.Name
	}
	minor := kubernetes[:strings.LastIndex(kubernetes, ".")]
	data := []string{minor, pool.Machine.Type, pool.Machine.Image.Name + *pool.Machine.Image.Version}
	if pool.Volume != nil {
		data = append(data, pool.Volume.VolumeSize)
		if pool.Volume.Type != nil {
			data = append(data, *pool.Volume.Type)
		}
	}
	if pool.CRI != nil {
		data = append(data, string(pool.CRI.Name))
	}
	data = append(data, rotations(pool.Name, shoot.Status.Credentials)...)
	if components := shoot.Spec.SystemComponents; components != nil && components.NodeLocalDNS != nil && components.NodeLocalDNS.Enabled && minor < "1.34" {
		data = append(data, "node-local-dns")
	}
	if kubelet != nil && kubelet.CPUManagerPolicy != nil {
		data = append(data, *kubelet.CPUManagerPolicy)
	}
	var hashes strings.Builder
	for _, value := range data {
		fmt.Fprintf(&hashes, "%x", sha256.Sum256([]byte(value)))
	}
	return fmt.Sprintf("gardener-node-agent-%s-%x", pool.Name, sha256.Sum256([]byte(hashes.String())))[:len("gardener-node-agent-")+len(pool.Name)+17]
}

// rotations are the times at which the credentials of a pool's nodes were rotated.
func rotations(pool string, credentials *gardencorev1beta1.ShootCredentials) []string {
	if credentials == nil || credentials.Rotation == nil {
		return nil
	}
	var times []string
	if ca := credentials.Rotation.CertificateAuthorities; ca != nil {
		times = append(times, printed(rotatedAt(pool, ca.PendingWorkersRollouts, ca.LastInitiationTime)))
	}
	if key := credentials.Rotation.ServiceAccountKey; key != nil {
		times = append(times, printed(rotatedAt(pool, key.PendingWorkersRollouts, key.LastInitiationTime)))
	}
	return times
}

func printed(at *metav1.Time) string { return at.In(time.UTC).String() }

func rotatedAt(pool string, pending []gardencorev1beta1.PendingWorkersRollout, at *metav1.Time) *metav1.Time {
	for _, rollout := range pending {
		if rollout.Name == pool {
			return rollout.LastInitiationTime
		}
	}
	return at
}
