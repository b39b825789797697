package workload

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestAddressesIn(t *testing.T) {
	for sentence, test := range map[string]struct {
		ranges []string
		number int
		want   []corev1.PodIP
	}{
		"a node without a range":      {nil, 1, nil},
		"a range of IPv4":             {[]string{"100.96.1.0/24"}, 1, []corev1.PodIP{{IP: "100.96.1.3"}}},
		"a range of each family":      {[]string{"100.96.1.0/24", "2001:db8:2::/64"}, 9, []corev1.PodIP{{IP: "100.96.1.11"}, {IP: "2001:db8:2::b"}}},
		"more pods than a range has":  {[]string{"100.96.1.0/24"}, 251, []corev1.PodIP{{IP: "100.96.1.3"}}},
		"the last address of a range": {[]string{"100.96.1.0/24"}, 249, []corev1.PodIP{{IP: "100.96.1.251"}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := addressesIn(test.ranges, test.number)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
	_, err := addressesIn([]string{"none"}, 1)
	require.ErrorContains(t, err, "reading a node's range for pods")
}

func TestTakesPods(t *testing.T) {
	ready := func(status corev1.ConditionStatus) corev1.NodeStatus {
		return corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}}
	}
	for sentence, test := range map[string]struct {
		node corev1.Node
		want bool
	}{
		"a ready node":                 {corev1.Node{Status: ready(corev1.ConditionTrue)}, true},
		"a node that is not ready":     {corev1.Node{Status: ready(corev1.ConditionFalse)}, false},
		"a ready node that is drained": {corev1.Node{Spec: corev1.NodeSpec{Unschedulable: true}, Status: ready(corev1.ConditionTrue)}, false},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, test.want, takesPods(&test.node)) })
	}
}
