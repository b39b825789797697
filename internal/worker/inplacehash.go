package worker

import (
	"fmt"
	"time"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

// inPlaceHash identifies the state of a node that is updated in place by gardener-node-agent. gardenlet computes the same hash and compares
// it with the one in the Worker's status, so it is Gardener's, byte for byte.
func inPlaceHash(p *extensionsv1alpha1.WorkerPool, shoot *gardencorev1beta1.Shoot) (string, error) {
	if p.KubernetesVersion == nil {
		return "", fmt.Errorf("pool %q has no kubernetesVersion, which its hash requires", p.Name)
	}
	kubernetes, err := version.ParseGeneric(*p.KubernetesVersion)
	if err != nil {
		return "", fmt.Errorf("reading the Kubernetes version of pool %q: %w", p.Name, err)
	}
	inputs := []string{fmt.Sprintf("%d.%d", kubernetes.Major(), kubernetes.Minor()), p.MachineImage.Version}
	inputs = append(inputs, rotationInputs(p.Name, shoot.Status.Credentials)...)
	inputs = append(inputs, kubeletInputs(p.KubeletConfig)...)
	return fingerprint(inputs)[:16], nil
}

// rotationInputs are the times at which the credentials on a pool's nodes were last rotated: the pool's own if pools are rotated one by
// one, otherwise the shoot's.
func rotationInputs(pool string, credentials *gardencorev1beta1.ShootCredentials) []string {
	if credentials == nil || credentials.Rotation == nil {
		return nil
	}
	var inputs []string
	if ca := credentials.Rotation.CertificateAuthorities; ca != nil {
		inputs = appendTime(inputs, helper.LastInitiationTimeForWorkerPool(pool, ca.PendingWorkersRollouts, ca.LastInitiationTime))
	}
	if key := credentials.Rotation.ServiceAccountKey; key != nil {
		inputs = appendTime(inputs, helper.LastInitiationTimeForWorkerPool(pool, key.PendingWorkersRollouts, key.LastInitiationTime))
	}
	return inputs
}

// appendTime formats a time as Go prints it, in UTC: decoded times are in the process's time zone, and Gardener's processes run in UTC.
func appendTime(inputs []string, at *metav1.Time) []string {
	if at == nil {
		return inputs
	}
	return append(inputs, at.In(time.UTC).String())
}

// kubeletInputs are the settings that a running kubelet does not apply.
func kubeletInputs(config *gardencorev1beta1.KubeletConfig) []string {
	if config == nil {
		return nil
	}
	var inputs []string
	if r := config.KubeReserved; r != nil {
		// An amount that is not set is "<nil>".
		inputs = append(inputs, fmt.Sprintf("%s-%s-%s-%s", r.CPU, r.Memory, r.PID, r.EphemeralStorage))
	}
	if hard := config.EvictionHard; hard != nil {
		inputs = append(inputs, fmt.Sprintf("%s-%s-%s-%s-%s", orEmpty(hard.ImageFSAvailable), orEmpty(hard.ImageFSInodesFree),
			orEmpty(hard.MemoryAvailable), orEmpty(hard.NodeFSAvailable), orEmpty(hard.NodeFSInodesFree)))
	}
	if config.CPUManagerPolicy != nil {
		inputs = append(inputs, *config.CPUManagerPolicy)
	}
	return inputs
}

func orEmpty(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}
