package main

import (
	"encoding/json"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestDrawDeployment(t *testing.T) {
	certificate, _, err := cert.GenerateSelfSignedCertKey("ccm", nil, nil)
	require.NoError(t, err)
	deployment := appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "ccm"}}
	deployment.Spec.Template.Spec = corev1.PodSpec{
		Containers: []corev1.Container{{Image: "registry.example.org/a/ccm:v1"}, {Image: "registry.example.org/b/probe:v2"}},
		Volumes:    []corev1.Volume{volumeOf("config-1"), volumeOf("server-1"), volumeOf("kubeconfig", "access"), volumeOf("missing")},
	}
	lines := drawDeployment(deployment, map[string]*corev1.Secret{
		"config-1":   secretOf("config-1", map[string][]byte{"b.conf": nil, "a.conf": nil}),
		"server-1":   secretOf("server-1", map[string][]byte{corev1.TLSCertKey: certificate}),
		"kubeconfig": secretOf("kubeconfig", map[string][]byte{"kubeconfig": {}}),
		"access": {ObjectMeta: metav1.ObjectMeta{
			Name: "access", Annotations: map[string]string{resourcesv1alpha1.ServiceAccountName: "ccm"},
		}},
	})
	require.Len(t, lines, 6)
	assert.Equal(t, []string{"ccm  Deployment", "├─ ccm:v1", "├─ probe:v2", "├─ access  token of ServiceAccount ccm in the shoot"}, lines[:4])
	assert.Equal(t, "├─ config-1  configuration: a.conf, b.conf", lines[4])
	assert.Regexp(t, `^└─ server-1  certificate by ccm-ca@\d+, until \d{4}-\d\d-\d\d$`, lines[5])
}

func secretOf(name string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

// volumeOf is a volume of one or several Secrets.
func volumeOf(secrets ...string) corev1.Volume {
	if len(secrets) == 1 {
		return corev1.Volume{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secrets[0]}}}
	}
	projected := &corev1.ProjectedVolumeSource{}
	for _, name := range secrets {
		projected.Sources = append(projected.Sources, corev1.VolumeProjection{
			Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
		})
	}
	return corev1.Volume{VolumeSource: corev1.VolumeSource{Projected: projected}}
}

func TestDrawApplied(t *testing.T) {
	resource := resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Name: "shoot"}}
	for _, kind := range []string{"Role", "Role", "A", "B", "C", "D"} {
		reference := resourcesv1alpha1.ObjectReference{}
		reference.Kind = kind
		resource.Status.Resources = append(resource.Status.Resources, reference)
	}
	assert.Equal(t, []string{"shoot  ManagedResource", "├─ 1 A, 1 B, 1 C, 1 D", "└─ 2 Role"}, drawApplied(resource))
}

func TestConditionLines(t *testing.T) {
	well := gardencorev1beta1.Condition{Type: "A", Status: gardencorev1beta1.ConditionTrue, Message: "Fine."}
	lines, healthy := conditionLines("network/demo", []gardencorev1beta1.Condition{well})
	assert.True(t, healthy)
	assert.Equal(t, []string{"network/demo       A                              True         Fine."}, lines)
	_, healthy = conditionLines("network/demo", []gardencorev1beta1.Condition{well, {Type: "B", Status: gardencorev1beta1.ConditionProgressing}})
	assert.False(t, healthy)
	changing := gardencorev1beta1.Condition{Type: "A", Status: gardencorev1beta1.ConditionTrue, Message: "The network is healthy and being changed: so."}
	_, healthy = conditionLines("network/demo", []gardencorev1beta1.Condition{changing})
	assert.False(t, healthy, "the change is over, and nobody has looked since")
	_, healthy = conditionLines("network/demo", nil)
	assert.False(t, healthy, "nobody has looked")
}

func TestIsAboutHealth(t *testing.T) {
	for sentence, test := range map[string]struct {
		body  string
		wants bool
	}{
		"conditions alone":              {`{"metadata":{"resourceVersion":"1"},"status":{"conditions":[]}}`, true},
		"the end of a pass":             {`{"status":{"lastOperation":{},"observedGeneration":1}}`, false},
		"an order that is taken away":   {`{"metadata":{"annotations":{"gardener.cloud/operation":null}}}`, false},
		"conditions and something else": {`{"status":{"conditions":[],"lastOperation":{}}}`, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.wants, isAboutHealth(audit.Write{Body: json.RawMessage(test.body)}))
		})
	}
}

func TestNodeLine(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
		corev1.LabelTopologyZone: "zone-a", corev1.LabelInstanceTypeStable: "m1.small",
	}}}
	node.Spec.ProviderID = "openstack:///1"
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "one"}, {Type: corev1.NodeInternalIP, Address: "10.250.0.2"}}
	assert.Equal(t, "openstack:///1, 10.250.0.2, zone zone-a, m1.small", nodeLine(node))
}

func TestPoolLine(t *testing.T) {
	pool := func(spec map[string]any) unstructured.Unstructured {
		return unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "pods"}, "spec": spec}}
	}
	assert.Equal(t, "pods                                   IPPool 100.96.0.0/11, IP-in-IP Always, VXLAN Never",
		poolLine(pool(map[string]any{"cidr": "100.96.0.0/11", "ipipMode": "Always", "vxlanMode": "Never"})))
	assert.Equal(t, "pods                                   IPPool 10.250.0.0/16, not for pods",
		poolLine(pool(map[string]any{"cidr": "10.250.0.0/16", "disabled": true})))
}

func TestEffectiveLines(t *testing.T) {
	assert.Equal(t, []string{
		"autoScaling              mode vpa, resources (node (cpu 1))",
		"backend                  bird",
	}, effectiveLines(map[string]any{
		"kind": "NetworkConfig", "backend": "bird",
		"autoScaling": map[string]any{"resources": map[string]any{"node": map[string]any{"cpu": "1"}}, "mode": "vpa"},
	}))
}

func TestIsChangeDone(t *testing.T) {
	for _, test := range []struct {
		state       gardencorev1beta1.LastOperationState
		description string
		wants       bool
	}{
		{gardencorev1beta1.LastOperationStateSucceeded, "Reconcile of network succeeded", true},
		{gardencorev1beta1.LastOperationStateSucceeded, "Reconcile of network succeeded; the network is being changed, so: and so", false},
		{gardencorev1beta1.LastOperationStateProcessing, "deploying the network plugin in the shoot", false},
	} {
		assert.Equal(t, test.wants, isChangeDone(&gardencorev1beta1.LastOperation{State: test.state, Description: test.description}), test.description)
	}
}

func TestCostOf(t *testing.T) {
	assert.Equal(t, "no call to the cloud, in 1.5 s", costOf(nil, 1500*time.Millisecond))
	assert.Equal(t, "1 call to the cloud, 0 logins among them, in 2.0 s", costOf(wire.Calls{{}}, 2*time.Second))
}
