package controlplane

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/contract"
)

func TestEffectiveRanges(t *testing.T) {
	for sentence, tc := range map[string]struct {
		spec           *gardencorev1beta1.Networking
		status         *gardencorev1beta1.NetworkingStatus
		pods, services []string
	}{
		"none are known": {},
		"the spec's, while the status knows none": {
			spec:   &gardencorev1beta1.Networking{Pods: new("100.96.0.0/11"), Services: new("")},
			status: &gardencorev1beta1.NetworkingStatus{}, pods: []string{"100.96.0.0/11"},
		},
		"the status' before the spec's": {
			spec:     &gardencorev1beta1.Networking{Pods: new("100.96.0.0/11"), Services: new("100.64.0.0/13")},
			status:   &gardencorev1beta1.NetworkingStatus{Pods: []string{"100.96.0.0/11", "2001:db8::/48"}},
			pods:     []string{"100.96.0.0/11", "2001:db8::/48"},
			services: []string{"100.64.0.0/13"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := &gardencorev1beta1.Shoot{}
			shoot.Spec.Networking, shoot.Status.Networking = tc.spec, tc.status
			pods, services := effectiveRanges(&contract.Cluster{Shoot: shoot})
			assert.Equal(t, tc.pods, pods)
			assert.Equal(t, tc.services, services)
		})
	}
}

func TestStatusOf(t *testing.T) {
	for sentence, tc := range map[string]struct {
		raw  string
		want status
	}{
		"our own":      {`{"apiVersion":"controlplane.trellis.garden/v1alpha1","kind":"ControlPlaneStatus","hibernating":true}`, status{Hibernating: true}},
		"another kind": {`{"apiVersion":"example.org/v1","kind":"ControlPlaneStatus","hibernating":true}`, status{}},
		"no JSON":      {`]`, status{}},
		"none at all":  {``, status{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			object := &extensionsv1alpha1.ControlPlane{}
			if tc.raw != "" {
				object.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(tc.raw)}
			}
			left := statusOf(object)
			left.TypeMeta = metav1.TypeMeta{}
			assert.Equal(t, tc.want, left)
			assert.Equal(t, tc.want.Hibernating, isHibernating(object))
		})
	}
}

func TestNodeConditions(t *testing.T) {
	stale := NodeCondition{Type: corev1.NodeNetworkUnavailable, Reasons: []string{"ExampleIsUp", "ExampleIsDown"}}
	assert.Equal(t, []string{"NetworkUnavailable/ExampleIsUp", "NetworkUnavailable/ExampleIsDown"}, stale.names())
	assert.True(t, stale.matches(corev1.NodeCondition{Type: corev1.NodeNetworkUnavailable, Reason: "ExampleIsDown"}))
	assert.False(t, stale.matches(corev1.NodeCondition{Type: corev1.NodeNetworkUnavailable, Reason: "RouteCreated"}))
	assert.False(t, stale.matches(corev1.NodeCondition{Type: corev1.NodeReady, Reason: "ExampleIsDown"}))
}

func TestAdd_MissingDriver(t *testing.T) {
	err := Add(nil, map[string]Driver{"openstack": nil}, Images{}, contract.Options{Types: []string{"aws"}})
	assert.EqualError(t, err, `no control plane driver for type "aws"; there are: openstack`)
}
