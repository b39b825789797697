package worker

import (
	"maps"
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/require"
)

// named is a row of testdata/node-agent-names.json: a shoot with one pool, and the name of the Secret with the configuration of its nodes.
type named struct {
	Sentence string                   `json:"sentence"`
	Shoot    *gardencorev1beta1.Shoot `json:"shoot"`
	Name     string                   `json:"name"`
}

// Package e2e compares the rows with gardenlet's own function.
func TestNodeAgentSecretName_Golden(t *testing.T) {
	cases := rollCases()
	cases["node-local DNS with kube-proxy in IPVS mode"] = rollCase{change: func(o *observed) {
		o.shoot.Spec.Kubernetes.Version = "1.35.2"
		o.setLocalDNS(true)
		o.shoot.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(true), Mode: new(gardencorev1beta1.ProxyModeIPVS)}
	}}
	cases["no volume and no container runtime"] = rollCase{change: func(o *observed) { o.pool().Volume, o.pool().CRI = nil, nil }}
	cases["kubelet of the pool"] = rollCase{change: func(o *observed) {
		o.shoot.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{CPUManagerPolicy: new("static")}
		o.pool().Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: &gardencorev1beta1.KubeletConfig{
			EvictionHard: &gardencorev1beta1.KubeletConfigEviction{MemoryAvailable: new("100Mi"), NodeFSAvailable: new("5%")},
		}}
	}}
	var rows []named
	for _, sentence := range slices.Sorted(maps.Keys(cases)) {
		tc := cases[sentence]
		o := newObserved(t)
		if tc.before != nil {
			o = newObserved(t, tc.before)
		}
		tc.change(o)
		if len(o.shoot.Spec.Provider.Workers) == 0 {
			continue
		}
		o.pool().ProviderConfig = nil // it is no input, and no JSON here
		p := nextPool(&extensionsv1alpha1.WorkerPool{Name: o.pool().Name}, o.pool(), o.shoot)
		facts, err := factsOf(o.shoot, o.pool(), &p)
		require.NoError(t, err)
		inputs, err := nodeAgentInputs(&p, facts)
		require.NoError(t, err)
		rows = append(rows, named{Sentence: sentence, Shoot: o.shoot, Name: nodeAgentSecretName(p.Name, inputs)})
	}
	checkGolden(t, "node-agent-names.json", "[\n"+linesOf(t, rows)+"]\n")
}
