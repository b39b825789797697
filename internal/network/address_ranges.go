package network

import (
	"fmt"
	"math"
	"net/netip"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/trellis-garden/trellis/internal/observer"
)

const (
	// Sizes of a node's part of the range of pods, where the shoot does not say it (gardener/pkg/apis/core/v1beta1/types_shoot.go).
	defaultNodeMaskIPv4 = 24
	defaultNodeMaskIPv6 = 64
	// reservedAddresses of a range of nodes are for others: the network itself, its broadcast address, the gateway, and servers of DHCP and DNS. Clouds
	// reserve from three to five.
	reservedAddresses = 5
)

// mostNodes is how many nodes the shoot's workers may have: their maximum, and those that are added while others are replaced. The two are told apart, since
// Gardener checks the maximum alone.
func mostNodes(workers []gardencorev1beta1.Worker) (most nodeCount) {
	for _, worker := range workers {
		most.maximum += int(worker.Maximum)
		if worker.MaxSurge == nil {
			continue
		}
		surge, err := intstr.GetScaledValueFromIntOrPercent(worker.MaxSurge, int(worker.Maximum), true)
		if err == nil {
			most.surge += surge
		}
	}
	return most
}

// nodeCount is a number of nodes.
type nodeCount struct {
	maximum, surge int
}

func (c nodeCount) total() int { return c.maximum + c.surge }

func (c nodeCount) String() string {
	if c.surge == 0 {
		return fmt.Sprintf("%d nodes at their maximum", c.maximum)
	}
	return fmt.Sprintf("%d nodes: %d at their maximum and %d more while nodes are replaced", c.total(), c.maximum, c.surge)
}

// checkPodRanges compares the ranges of pods with the number of nodes.
func checkPodRanges(ranges []string, config *gardencorev1beta1.KubeControllerManagerConfig, most nodeCount) observer.Finding {
	return checkRanges("pods", ranges, most, func(prefix netip.Prefix) int {
		mask, bits := defaultNodeMaskIPv4, 32
		if prefix.Addr().Is6() {
			mask, bits = defaultNodeMaskIPv6, 128
		}
		if size := nodeMaskSize(prefix, config); size != nil {
			mask = int(*size)
		}
		return powerOfTwo(min(mask, bits) - prefix.Bits())
	}, "use smaller or fewer workers; the range of pods and nodeCIDRMaskSize of a shoot cannot be changed")
}

// nodeMaskSize is what the shoot says about the size of a node's part. In a shoot with IPv6 alone, the field for IPv4 is used as well.
func nodeMaskSize(prefix netip.Prefix, config *gardencorev1beta1.KubeControllerManagerConfig) *int32 {
	switch {
	case config == nil:
		return nil
	case prefix.Addr().Is6() && config.NodeCIDRMaskSizeIPv6 != nil:
		return config.NodeCIDRMaskSizeIPv6
	case prefix.Addr().Is6() && config.NodeCIDRMaskSize != nil && *config.NodeCIDRMaskSize <= 32:
		return nil // it is that of the other family
	default:
		return config.NodeCIDRMaskSize
	}
}

// checkNodeRanges compares the ranges of nodes with the number of nodes.
func checkNodeRanges(ranges []string, most nodeCount) observer.Finding {
	return checkRanges("nodes", ranges, most, func(prefix netip.Prefix) int {
		return max(powerOfTwo(prefix.Addr().BitLen()-prefix.Bits())-reservedAddresses, 0)
	}, "use smaller or fewer workers")
}

// checkRanges finds the ranges that have room for too few nodes.
func checkRanges(what string, ranges []string, most nodeCount, room func(netip.Prefix) int, remedy string) observer.Finding {
	if len(ranges) == 0 {
		return observer.Finding{Healthy: true, Message: fmt.Sprintf("The shoot has no range of %s of its own.", what)}
	}
	smallest, at := math.MaxInt, ""
	for _, text := range ranges {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return observer.Finding{Err: fmt.Errorf("the range of %s %q is invalid: %w", what, text, err)}
		}
		if nodes := room(prefix); nodes < smallest {
			smallest, at = nodes, text
		}
	}
	if smallest >= most.total() {
		return observer.Finding{Healthy: true, Message: fmt.Sprintf("The range of %s %s has room for %s nodes. The workers may have %s.", what, at, countText(smallest), most)}
	}
	return observer.Finding{Message: fmt.Sprintf("The range of %s %s has room for %s nodes only. The workers may have %s. Further nodes will not become ready: %s.",
		what, at, countText(smallest), most, remedy)}
}

// powerOfTwo returns 2^exponent, at least 0 and at most the largest number.
func powerOfTwo(exponent int) int {
	switch {
	case exponent < 0:
		return 0
	case exponent >= 62:
		return math.MaxInt
	default:
		return 1 << exponent
	}
}

// countText writes numbers that are not limits in practice as such.
func countText(count int) string {
	if count > 1_000_000 {
		return "more than a million"
	}
	return fmt.Sprint(count)
}
