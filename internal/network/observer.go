package network

import (
	"context"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/observer"
)

// Names of the observations of Networks. They depend on the shoot alone, and are the same for all plugins.
const (
	// ObservationPodRange compares the ranges of pods, of which each node takes a part, with the workers' maximum.
	ObservationPodRange = "pod-range"
	// ObservationNodeRange compares the ranges of nodes with the workers' maximum.
	ObservationNodeRange = "node-range"
)

// Observations are what a secondary controller reports of Networks.
func Observations() []observer.Observation {
	return []observer.Observation{
		{Name: ObservationPodRange, Condition: "NetworkPodRangeSufficient"},
		{Name: ObservationNodeRange, Condition: "NetworkNodeRangeSufficient"},
	}
}

// AddObserver adds the secondary controller for Networks to a manager.
func AddObserver(mgr manager.Manager, options observer.Options) error {
	return observer.Add(mgr, observer.Observer[*extensionsv1alpha1.Network]{
		Name:         "network",
		New:          func() *extensionsv1alpha1.Network { return &extensionsv1alpha1.Network{} },
		Observations: Observations(),
		Observe:      observe,
	}, options)
}

func observe(_ context.Context, input observer.Input[*extensionsv1alpha1.Network]) (observer.Result, error) {
	shoot := input.Cluster.Shoot
	pods, _, nodes := rangesOf(input.Object, shoot)
	most := mostNodes(shoot.Spec.Provider.Workers)
	return observer.Result{Findings: map[string]observer.Finding{
		ObservationPodRange:  checkPodRanges(pods, shoot.Spec.Kubernetes.KubeControllerManager, most),
		ObservationNodeRange: checkNodeRanges(nodes, most),
	}}, nil
}
