package network

import (
	"fmt"
	"slices"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/apis/networking"
	"github.com/trellis-garden/trellis/internal/observer"
)

// minimalMTUIPv6 is the smallest MTU of a link that carries IPv6 (RFC 8200, section 5).
const minimalMTUIPv6 = 1280

// observeMTU returns no finding if the MTU of the cloud's network is not known.
func observeMTU(routing Routing, input observer.Input[*extensionsv1alpha1.Network]) *observer.Finding {
	provider := input.Cluster.Shoot.Spec.Provider
	network, err := networking.NetworkMTU(provider.Type, provider.InfrastructureConfig)
	if err != nil {
		return &observer.Finding{Err: err}
	}
	if network == 0 {
		return nil
	}
	return new(checkMTU(routing, network, slices.Contains(input.Object.Spec.IPFamilies, extensionsv1alpha1.IPFamilyIPv6)))
}

// checkMTU compares the packets of pods with what the network passes.
func checkMTU(routing Routing, network int, ipv6 bool) observer.Finding {
	largest := network - routing.Overhead
	explanation := fmt.Sprintf("The cloud's network has an MTU of %d bytes", network)
	if routing.Encapsulation != "" {
		explanation += fmt.Sprintf(", of which %s takes %d", routing.Encapsulation, routing.Overhead)
	}
	if ipv6 && largest < minimalMTUIPv6 {
		return observer.Finding{Message: fmt.Sprintf("%s. The %d that are left are fewer than the %d that IPv6 needs: increase the MTU of the network",
			explanation, largest, minimalMTUIPv6)}
	}
	switch {
	case routing.MTU == 0:
		return observer.Finding{Healthy: true, Message: fmt.Sprintf("%s. The plugin detects the MTU of nodes, and pods have at most %d.", explanation, largest)}
	case routing.MTU > largest:
		return observer.Finding{Message: fmt.Sprintf("%s. Pods have an MTU of %d: packets of more than %d bytes do not reach other nodes. Set %s to at most %d, "+
			"or let the plugin detect it (0); pods that run keep theirs until they are replaced", explanation, routing.MTU, largest, routing.MTUField, largest)}
	default:
		return observer.Finding{Healthy: true, Message: fmt.Sprintf("%s. Pods have an MTU of %d, and may have %d.", explanation, routing.MTU, largest)}
	}
}

// checkRoutes returns no finding if the cloud has no route for each node, or its limit is not known.
func checkRoutes(routing Routing, infrastructureType string, hasIPv4 bool, most nodeCount) *observer.Finding {
	infrastructure := networking.InfrastructureOf(infrastructureType)
	table := infrastructure.RouteTable
	if !routing.CloudRoutes || !infrastructure.RoutesPods(hasIPv4) || table.Routes == 0 {
		return nil
	}
	room := table.Routes - table.Reserved
	text := fmt.Sprintf("A route table takes %d routes, and has room for those of %d nodes. The workers may have %s.", table.Routes, room, most)
	if most.total() <= room {
		return &observer.Finding{Healthy: true, Message: text}
	}
	remedy := "use smaller or fewer workers, or encapsulate packets"
	if table.Remedy != "" {
		remedy = table.Remedy + ", or " + remedy
	}
	return &observer.Finding{Message: text + " Pods of further nodes will not be reachable: " + remedy}
}
