package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
)

// poolHash is the hash in the names of a pool's classes: when it changes, the pool's nodes are replaced, or updated in place if that
// is the pool's strategy. It is the same as Gardener's, byte for byte.
//
// Its inputs, in this order, must never change, since that would replace the nodes of all shoots:
//  1. nodeAgentSecretName, in which gardenlet combines what requires new nodes: Kubernetes' minor version, machine type, image,
//     root volume, container runtime, rotated credentials and some of the kubelet's settings,
//  2. for a pool with in-place updates, the values that gardenlet omits from that name for such pools (see inPlaceHash),
//  3. the driver's part: HashData, or HashDataInPlace.
//
// Other changes are applied to the objects in place.
func poolHash(p *extensionsv1alpha1.WorkerPool, shoot *gardencorev1beta1.Shoot, machines *Machines) (string, error) {
	if p.NodeAgentSecretName == nil {
		return "", fmt.Errorf("pool %q has no nodeAgentSecretName, which its hash requires", p.Name)
	}
	inputs := []string{*p.NodeAgentSecretName}
	if !helper.IsUpdateStrategyInPlace(p.UpdateStrategy) {
		return fingerprint(append(inputs, machines.HashData...))[:5], nil
	}
	inPlace, err := inPlaceHash(p, shoot)
	if err != nil {
		return "", err
	}
	return fingerprint(append(append(inputs, inPlace), machines.HashDataInPlace...))[:5], nil
}

// fingerprint is the hash of the inputs' hashes, so that different lists of inputs have different hashes.
func fingerprint(inputs []string) string {
	whole := sha256.New()
	for _, input := range inputs {
		fmt.Fprintf(whole, "%x", sha256.Sum256([]byte(input)))
	}
	return hex.EncodeToString(whole.Sum(nil))
}
