package worker

import (
	"fmt"
	"time"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/version"
)

// nodeFacts are inputs of the configuration of a pool's nodes that are not in the Worker.
type nodeFacts struct {
	credentials *gardencorev1beta1.ShootCredentials
	// localDNS is true if the kubelets of the pool use node-local DNS without kube-proxy.
	localDNS bool
	runtime  *gardencorev1beta1.CRI
}

// factsOf returns the facts for a pool with the Kubernetes version of p. pool is the shoot's.
func factsOf(shoot *gardencorev1beta1.Shoot, pool *gardencorev1beta1.Worker, p *extensionsv1alpha1.WorkerPool) (nodeFacts, error) {
	minor, err := minorVersion(p)
	if err != nil {
		return nodeFacts{}, err
	}
	facts := nodeFacts{credentials: shoot.Status.Credentials, runtime: pool.CRI}
	if helper.IsNodeLocalDNSEnabled(shoot.Spec.SystemComponents) {
		isOlder := version.MustParseGeneric(minor).LessThan(version.MajorMinor(1, 34))
		facts.localDNS = isOlder || helper.IsKubeProxyIPVSMode(shoot.Spec.Kubernetes.KubeProxy)
	}
	return facts, nil
}

// nodeAgentInputs are the inputs of the name of the Secret with the configuration of a pool's nodes, for a pool whose nodes are replaced. gardenlet computes
// the name, and another one replaces the nodes (see poolHash). The inputs and their order are gardenlet's of Gardener v1.149, byte for byte.
func nodeAgentInputs(p *extensionsv1alpha1.WorkerPool, facts nodeFacts) ([]hashInput, error) {
	minor, err := minorVersion(p)
	if err != nil {
		return nil, err
	}
	image := p.MachineImage
	inputs := []hashInput{
		{name: inputKubernetes, value: minor, shown: minor},
		{name: inputMachineType, value: p.MachineType, shown: p.MachineType},
		{name: inputImage, value: image.Name + image.Version, shown: image.Name + " " + image.Version},
	}
	if volume := p.Volume; volume != nil {
		inputs = append(inputs, hashInput{name: inputVolumeSize, value: volume.Size, shown: volume.Size})
		if volume.Type != nil {
			inputs = append(inputs, hashInput{name: inputVolumeType, value: *volume.Type, shown: *volume.Type})
		}
	}
	if facts.runtime != nil {
		name := string(facts.runtime.Name)
		inputs = append(inputs, hashInput{name: inputRuntime, value: name, shown: name})
	}
	inputs = append(inputs, rotationInputs(p.Name, facts.credentials)...)
	if facts.localDNS {
		inputs = append(inputs, hashInput{name: inputLocalDNS, value: "node-local-dns"})
	}
	return append(inputs, kubeletInputs(p.KubeletConfig)...), nil
}

func nodeAgentSecretName(pool string, inputs []hashInput) string {
	return fmt.Sprintf("gardener-node-agent-%s-%s", pool, fingerprint(valuesOf(inputs))[:16])
}

// nextNodeAgentSecretName returns the name that gardenlet writes next to a pool, and what changes it. before is the pool in the Worker, after the pool that
// gardenlet writes next, with the shoot's pool.
//
// The Worker does not contain all inputs of the recorded name. The others are found by trying which of their possible values give that name. If none does,
// gardenlet computes names in another way, or an input has changed more than once. Then the name is expected to change only if an input changes.
func nextNodeAgentSecretName(
	shoot *gardencorev1beta1.Shoot, pool *gardencorev1beta1.Worker, before, after *extensionsv1alpha1.WorkerPool, reconciledAt time.Time,
) (string, []string, error) {
	recorded := orEmpty(before.NodeAgentSecretName)
	if helper.IsUpdateStrategyInPlace(after.UpdateStrategy) {
		return recorded, nil, nil // it contains no hash
	}
	facts, err := factsOf(shoot, pool, after)
	if err != nil {
		return "", nil, err
	}
	next, err := nodeAgentInputs(after, facts)
	if err != nil {
		return "", nil, err
	}
	if facts, err = factsOf(shoot, pool, before); err != nil {
		return "", nil, err
	}
	for _, possible := range possibleFacts(facts) {
		past, err := nodeAgentInputs(before, possible)
		if err != nil {
			return "", nil, err
		}
		if nodeAgentSecretName(before.Name, past) == recorded {
			return nodeAgentSecretName(after.Name, next), changedInputs(past, next), nil
		}
	}
	past, err := nodeAgentInputs(before, facts)
	if err != nil {
		return "", nil, err
	}
	clauses := append(changedInputs(past, next), rotatedSince(before.Name, shoot.Status.Credentials, reconciledAt)...)
	if len(clauses) == 0 {
		return recorded, nil, nil
	}
	return nodeAgentSecretName(after.Name, next), clauses, nil
}

// rotatedSince returns a clause for each of a pool's credentials that were rotated after a time, or in the same second: times in a status have no fractions,
// and a reconciliation with new credentials ends later.
func rotatedSince(pool string, credentials *gardencorev1beta1.ShootCredentials, since time.Time) []string {
	var clauses []string
	for _, rotation := range rotationsOf(pool, credentials) {
		if !rotation.at.Time.Before(since) {
			clauses = append(clauses, rotatedClause(rotation.name))
		}
	}
	return clauses
}

// possibleFacts are what the facts may have been: the present ones first, then those before a rotation of credentials, or with another use of node-local DNS.
func possibleFacts(present nodeFacts) []nodeFacts {
	var possible []nodeFacts
	for _, localDNS := range []bool{present.localDNS, !present.localDNS} {
		for _, credentials := range possibleCredentials(present.credentials) {
			possible = append(possible, nodeFacts{credentials: credentials, localDNS: localDNS, runtime: present.runtime})
		}
	}
	return possible
}

// possibleCredentials are the present credentials, and those before the first rotation of any of them.
func possibleCredentials(present *gardencorev1beta1.ShootCredentials) []*gardencorev1beta1.ShootCredentials {
	possible := []*gardencorev1beta1.ShootCredentials{present}
	if present == nil || present.Rotation == nil {
		return possible
	}
	for _, forget := range []func(*gardencorev1beta1.ShootCredentialsRotation){
		func(r *gardencorev1beta1.ShootCredentialsRotation) { r.CertificateAuthorities = nil },
		func(r *gardencorev1beta1.ShootCredentialsRotation) { r.ServiceAccountKey = nil },
		func(r *gardencorev1beta1.ShootCredentialsRotation) {
			r.CertificateAuthorities, r.ServiceAccountKey = nil, nil
		},
	} {
		former := present.DeepCopy()
		forget(former.Rotation)
		possible = append(possible, former)
	}
	return possible
}
