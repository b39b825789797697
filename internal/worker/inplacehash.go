package worker

import (
	"fmt"
	"slices"
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
	inputs, err := inPlaceInputs(p, shoot.Status.Credentials)
	if err != nil {
		return "", err
	}
	return fingerprint(valuesOf(inputs))[:16], nil
}

// inPlaceInputs are the inputs of the hash, in gardenlet's order.
func inPlaceInputs(p *extensionsv1alpha1.WorkerPool, credentials *gardencorev1beta1.ShootCredentials) ([]hashInput, error) {
	minor, err := minorVersion(p)
	if err != nil {
		return nil, err
	}
	inputs := []hashInput{
		{name: inputKubernetes, value: minor, shown: minor},
		{name: inputImage, value: p.MachineImage.Version, shown: p.MachineImage.Name + " " + p.MachineImage.Version},
	}
	inputs = append(inputs, rotationInputs(p.Name, credentials)...)
	return append(inputs, kubeletInputs(p.KubeletConfig)...), nil
}

func minorVersion(p *extensionsv1alpha1.WorkerPool) (string, error) {
	if p.KubernetesVersion == nil {
		return "", fmt.Errorf("pool %q has no kubernetesVersion, which its hash requires", p.Name)
	}
	kubernetes, err := version.ParseGeneric(*p.KubernetesVersion)
	if err != nil {
		return "", fmt.Errorf("reading the Kubernetes version of pool %q: %w", p.Name, err)
	}
	return fmt.Sprintf("%d.%d", kubernetes.Major(), kubernetes.Minor()), nil
}

// rotationInputs are the times at which the credentials on a pool's nodes were last rotated: the pool's own if pools are rotated one by
// one, otherwise the shoot's.
func rotationInputs(pool string, credentials *gardencorev1beta1.ShootCredentials) []hashInput {
	var inputs []hashInput
	for _, rotation := range rotationsOf(pool, credentials) {
		// Go prints the time in UTC: decoded times are in the process's time zone, and Gardener's processes run in UTC.
		inputs = append(inputs, hashInput{name: rotation.name, value: rotation.at.In(time.UTC).String()})
	}
	return inputs
}

// rotation is the last rotation of credentials that the nodes of a pool have.
type rotation struct {
	name string
	at   *metav1.Time
}

func rotationsOf(pool string, credentials *gardencorev1beta1.ShootCredentials) []rotation {
	if credentials == nil || credentials.Rotation == nil {
		return nil
	}
	var rotations []rotation
	if ca := credentials.Rotation.CertificateAuthorities; ca != nil {
		at := helper.LastInitiationTimeForWorkerPool(pool, ca.PendingWorkersRollouts, ca.LastInitiationTime)
		rotations = append(rotations, rotation{inputAuthorities, at})
	}
	if key := credentials.Rotation.ServiceAccountKey; key != nil {
		at := helper.LastInitiationTimeForWorkerPool(pool, key.PendingWorkersRollouts, key.LastInitiationTime)
		rotations = append(rotations, rotation{inputKey, at})
	}
	return slices.DeleteFunc(rotations, func(r rotation) bool { return r.at == nil })
}

// kubeletInputs are the settings that a running kubelet does not apply.
func kubeletInputs(config *gardencorev1beta1.KubeletConfig) []hashInput {
	if config == nil {
		return nil
	}
	var inputs []hashInput
	if r := config.KubeReserved; r != nil {
		// An amount that is not set is "<nil>".
		inputs = append(inputs, hashInput{name: inputKubelet, value: fmt.Sprintf("%s-%s-%s-%s", r.CPU, r.Memory, r.PID, r.EphemeralStorage)})
	}
	if hard := config.EvictionHard; hard != nil {
		inputs = append(inputs, hashInput{name: inputKubelet, value: fmt.Sprintf("%s-%s-%s-%s-%s", orEmpty(hard.ImageFSAvailable), orEmpty(hard.ImageFSInodesFree),
			orEmpty(hard.MemoryAvailable), orEmpty(hard.NodeFSAvailable), orEmpty(hard.NodeFSInodesFree))})
	}
	if config.CPUManagerPolicy != nil {
		inputs = append(inputs, hashInput{name: inputKubelet, value: *config.CPUManagerPolicy})
	}
	return inputs
}

func orEmpty(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}
