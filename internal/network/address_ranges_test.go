package network

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/observer"
)

func pools(maximum int32, surge string) []gardencorev1beta1.Worker {
	worker := gardencorev1beta1.Worker{Name: "pool", Maximum: maximum}
	if surge != "" {
		worker.MaxSurge = new(intstr.Parse(surge))
	}
	return []gardencorev1beta1.Worker{worker}
}

func TestObserve_AddressRanges(t *testing.T) {
	type want struct {
		healthy bool
		message string
	}
	for sentence, test := range map[string]struct {
		pods, nodes         []string
		mask, maskIPv6      *int32
		workers             []gardencorev1beta1.Worker
		podRange, nodeRange want
	}{
		"room for all": {
			pods: []string{"100.96.0.0/11"}, nodes: []string{"10.250.0.0/16"}, workers: pools(100, "1"),
			podRange:  want{true, "The range of pods 100.96.0.0/11 has room for 8192 nodes. The workers may have 101 nodes: 100 at their maximum and 1 more while nodes are replaced."},
			nodeRange: want{true, "The range of nodes 10.250.0.0/16 has room for 65531 nodes."},
		},
		"exactly enough": {
			pods: []string{"10.0.0.0/20"}, nodes: []string{"10.250.0.0/24"}, workers: pools(16, ""),
			podRange: want{true, "has room for 16 nodes. The workers may have 16 nodes at their maximum."}, nodeRange: want{true, "251"},
		},
		"not enough for nodes that are added while others are replaced": {
			pods: []string{"10.0.0.0/20"}, nodes: []string{"10.250.0.0/28"}, workers: pools(11, "50%"),
			podRange:  want{false, "The range of pods 10.0.0.0/20 has room for 16 nodes only. The workers may have 17 nodes: 11 at their maximum and 6 more"},
			nodeRange: want{false, "The range of nodes 10.250.0.0/28 has room for 11 nodes only. The workers may have 17 nodes"},
		},
		"a smaller part for each node": {
			pods: []string{"10.0.0.0/20"}, nodes: []string{"10.250.0.0/24"}, mask: new(int32(26)), workers: pools(64, ""),
			podRange: want{true, "has room for 64 nodes."}, nodeRange: want{true, ""},
		},
		"the smaller of two families counts": {
			pods: []string{"10.0.0.0/8", "fd00::/60"}, nodes: []string{"10.250.0.0/16", "fd01::/64"}, mask: new(int32(24)), workers: pools(17, ""),
			podRange: want{false, "The range of pods fd00::/60 has room for 16 nodes only."}, nodeRange: want{true, "10.250.0.0/16"},
		},
		"IPv6 alone, with the field for IPv4": {
			pods: []string{"fd00::/104"}, nodes: []string{"fd01::/64"}, mask: new(int32(112)), workers: pools(200, ""),
			podRange: want{true, "has room for 256 nodes."}, nodeRange: want{true, "more than a million"},
		},
		"a second family with a field of its own": {
			pods: []string{"10.0.0.0/8", "fd00::/104"}, nodes: []string{"10.250.0.0/16"}, maskIPv6: new(int32(108)), workers: pools(17, ""),
			podRange: want{false, "fd00::/104 has room for 16 nodes only."}, nodeRange: want{true, ""},
		},
		"a node's part is larger than the range": {
			pods: []string{"10.0.0.0/25"}, nodes: []string{"10.250.0.0/30"}, workers: pools(1, ""),
			podRange: want{false, "has room for 0 nodes only."}, nodeRange: want{false, "has room for 0 nodes only."},
		},
		"ranges that the cloud chooses": {
			workers: pools(5, ""), podRange: want{true, "no range of pods"}, nodeRange: want{true, "no range of nodes"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := &gardencorev1beta1.Shoot{}
			shoot.Spec.Provider.Workers = test.workers
			shoot.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{NodeCIDRMaskSize: test.mask, NodeCIDRMaskSizeIPv6: test.maskIPv6}
			shoot.Status.Networking = &gardencorev1beta1.NetworkingStatus{Pods: test.pods, Nodes: test.nodes}
			result := observe(routingObserver{}, observer.Input[*extensionsv1alpha1.Network]{
				Object: &extensionsv1alpha1.Network{}, Cluster: &contract.Cluster{Shoot: shoot},
			})
			require.Len(t, result.Findings, 2, "nothing is known of the routing")
			for name, want := range map[string]want{ObservationPodRange: test.podRange, ObservationNodeRange: test.nodeRange} {
				finding := result.Findings[name]
				require.NoError(t, finding.Err)
				assert.Equal(t, want.healthy, finding.Healthy, finding.Message)
				assert.Contains(t, finding.Message, want.message)
			}
		})
	}
}

func TestObserve_InvalidRange(t *testing.T) {
	finding := checkNodeRanges([]string{"10.0.0.0"}, nodeCount{maximum: 1})
	assert.ErrorContains(t, finding.Err, `the range of nodes "10.0.0.0" is invalid`)
}
