package openstack

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
)

// Flags of kube-controller-manager for the ranges that it gives to nodes. The size for one family must not be set together with two ranges.
const (
	clusterRanges   = "--cluster-cidr"
	nodeSize        = "--node-cidr-mask-size"
	nodeSizePerIPv4 = "--node-cidr-mask-size-ipv4"
	nodeSizePerIPv6 = "--node-cidr-mask-size-ipv6"
)

// tuneNodeRanges makes kube-controller-manager give nodes of a dual-stack shoot a range of both families from the moment on at which both are known.
// While a shoot of IPv4 becomes dual-stack, gardenlet passes the range of IPv4 only, until all nodes have ranges of both families, with IPv6's size,
// with which kube-controller-manager does not start. It counts on a cloud-controller-manager that gives nodes their ranges; OpenStack's does not. For
// other dual-stack shoots gardenlet sets the same flags.
func tuneNodeRanges(pod *tuning.Pod, shoot *gardencorev1beta1.Shoot) {
	networking, status, config := shoot.Spec.Networking, shoot.Status.Networking, shoot.Spec.Kubernetes.KubeControllerManager
	if networking == nil || len(networking.IPFamilies) < 2 || status == nil {
		return
	}
	var ranges []string
	for _, family := range networking.IPFamilies {
		if at := slices.IndexFunc(status.Pods, func(text string) bool { return familyOf(text) == family }); at >= 0 {
			ranges = append(ranges, status.Pods[at])
		}
	}
	if len(ranges) < len(networking.IPFamilies) {
		return
	}
	pod.SetFlags[clusterRanges] = strings.Join(ranges, ",")
	pod.DropFlags = append(pod.DropFlags, nodeSize)
	if config != nil && config.NodeCIDRMaskSize != nil {
		pod.SetFlags[nodeSizePerIPv4] = strconv.Itoa(int(*config.NodeCIDRMaskSize))
	}
	if config != nil && config.NodeCIDRMaskSizeIPv6 != nil {
		pod.SetFlags[nodeSizePerIPv6] = strconv.Itoa(int(*config.NodeCIDRMaskSizeIPv6))
	}
}

// familyOf returns the IP family of a range, empty for a text that is none.
func familyOf(text string) gardencorev1beta1.IPFamily {
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return ""
	case prefix.Addr().Is4():
		return gardencorev1beta1.IPFamilyIPv4
	default:
		return gardencorev1beta1.IPFamilyIPv6
	}
}
