package network

import (
	"context"
	"fmt"
	"slices"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/observer"
)

// Names of the observations of Networks. They depend on the shoot, and on how its plugin routes packets. Whether the plugin's components run is none of them:
// that is in the conditions of its ManagedResources, which the primary reports (health.go).
const (
	// ObservationPodRange compares the ranges of pods, of which each node takes a part, with the workers' maximum.
	ObservationPodRange = "pod-range"
	// ObservationNodeRange compares the ranges of nodes with the workers' maximum.
	ObservationNodeRange = "node-range"
	// ObservationMTU compares the MTU of pods with that of the cloud's network, where both are known.
	ObservationMTU = "mtu"
	// ObservationRoutes compares the size of the cloud's route tables with the workers' maximum, where the cloud routes to pods and its limit is known.
	ObservationRoutes = "routes"
	// ObservationDataPlane reports changes of the network that do not end: the primary's health is good while a change waits for nodes or routes.
	ObservationDataPlane = "data-plane"
)

// Observations are what a secondary controller reports of Networks.
func Observations() []observer.Observation {
	return []observer.Observation{
		{Name: ObservationPodRange, Condition: "NetworkPodRangeSufficient"},
		{Name: ObservationNodeRange, Condition: "NetworkNodeRangeSufficient"},
		{Name: ObservationMTU, Condition: "NetworkMTUSufficient"},
		{Name: ObservationRoutes, Condition: "NetworkRoutesSufficient"},
		{Name: ObservationDataPlane, Condition: "NetworkDataPlaneUpToDate"},
	}
}

// Observer describes one network plugin for a secondary controller.
type Observer interface {
	// Routing returns how the deployed plugin routes packets, as far as the status of the Network tells; nil if it does not, since another extension wrote
	// it. It is pure.
	Routing(network *extensionsv1alpha1.Network) (*Routing, error)
}

// Routing is how packets get from a pod to one on another node.
type Routing struct {
	// Encapsulation is what packets are wrapped in, e.g. "VXLAN"; empty if they are not. Overhead is how many bytes it adds to a packet.
	Encapsulation string
	Overhead      int
	// MTU is that of pods in bytes; 0 if the plugin detects that of the node and subtracts the overhead. MTUField is the field of the shoot that sets it.
	MTU      int
	MTUField string
	// CloudRoutes is true if the cloud has a route to the pods of each node, provided that it can.
	CloudRoutes bool
}

// AddObserver adds the secondary controller for Networks to a manager. observers holds an Observer for each type in options.Types.
func AddObserver(mgr manager.Manager, observers map[string]Observer, options observer.Options) error {
	if err := contract.RequireDrivers("network observer", observers, options.Types); err != nil {
		return err
	}
	return observer.Add(mgr, observer.Observer[*extensionsv1alpha1.Network]{
		Name:         "network",
		New:          func() *extensionsv1alpha1.Network { return &extensionsv1alpha1.Network{} },
		Observations: Observations(),
		Observe: func(_ context.Context, input observer.Input[*extensionsv1alpha1.Network]) (observer.Result, error) {
			one, found := observers[input.Object.Spec.Type]
			if !found {
				return observer.Result{}, fmt.Errorf("no observer for type %q", input.Object.Spec.Type)
			}
			return observe(one, input), nil
		},
	}, options)
}

// observe makes all observations. It makes no requests, so those that are not wanted cost nothing.
func observe(one Observer, input observer.Input[*extensionsv1alpha1.Network]) observer.Result {
	shoot := input.Cluster.Shoot
	pods, _, nodes := rangesOf(input.Object, shoot)
	most := mostNodes(shoot.Spec.Provider.Workers)
	findings := map[string]observer.Finding{
		ObservationPodRange:  checkPodRanges(pods, shoot.Spec.Kubernetes.KubeControllerManager, most),
		ObservationNodeRange: checkNodeRanges(nodes, most),
	}
	if finding := checkStage(stateOf(input.Object), input.Since, input.Now); finding != nil {
		findings[ObservationDataPlane] = *finding
	}
	routing, err := one.Routing(input.Object)
	if err != nil {
		findings[ObservationMTU], findings[ObservationRoutes] = observer.Finding{Err: err}, observer.Finding{Err: err}
	}
	if routing == nil {
		return observer.Result{Findings: findings}
	}
	if finding := observeMTU(*routing, input); finding != nil {
		findings[ObservationMTU] = *finding
	}
	families := input.Object.Spec.IPFamilies
	hasIPv4 := len(families) == 0 || slices.Contains(families, extensionsv1alpha1.IPFamilyIPv4)
	if finding := checkRoutes(*routing, shoot.Spec.Provider.Type, hasIPv4, most); finding != nil {
		findings[ObservationRoutes] = *finding
	}
	return observer.Result{Findings: findings}
}
