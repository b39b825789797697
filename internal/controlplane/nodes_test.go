package controlplane_test

import (
	"fmt"
	"strings"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/controlplanetest"
)

func TestCleanNodes(t *testing.T) {
	shoot := controlplane.APIServer().Get(t)
	addNode := func(name, reason string) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		require.NoError(t, shoot.Client.Create(t.Context(), node))
		node.Status.Conditions = []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"},
			{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionFalse, Reason: reason},
		}
		require.NoError(t, shoot.Client.Status().Update(t.Context(), node))
	}
	reasons := func(name string) (reasons []string) {
		node := &corev1.Node{}
		require.NoError(t, shoot.Client.Get(t.Context(), client.ObjectKey{Name: name}, node))
		for _, condition := range node.Status.Conditions {
			reasons = append(reasons, condition.Reason)
		}
		return reasons
	}
	for n := range 3 {
		addNode(fmt.Sprintf("stale-%d", n), "ExampleIsUp")
	}
	addNode("routed", "RouteCreated")
	stale := func(names ...string) func(*controlplane.Plan, *controlplane.Shoot) {
		return func(plan *controlplane.Plan, _ *controlplane.Shoot) {
			plan.StaleNodeConditions = []controlplane.NodeCondition{{Type: corev1.NodeNetworkUnavailable, Reasons: names}}
		}
	}
	d := &driver{}
	h := newHarness(t, d, func(subject *controlplanetest.Subject) {
		subject.Inputs.Existing = func(namespace string) []client.Object {
			return []client.Object{controlplane.KubeconfigSecret(t, shoot, namespace, v1beta1constants.SecretNameGardener)}
		}
	}).Start()
	h.Create()
	assert.Contains(t, reasons("stale-0"), "ExampleIsUp")

	d.change = stale("ExampleIsUp", "ExampleIsDown")
	object := h.Reconcile()
	for n := range 3 {
		assert.Equal(t, []string{"KubeletReady"}, reasons(fmt.Sprintf("stale-%d", n)))
	}
	assert.Equal(t, []string{"KubeletReady", "RouteCreated"}, reasons("routed"))
	assert.Contains(t, string(object.Status.ProviderStatus.Raw),
		`"cleanedNodeConditions":["NetworkUnavailable/ExampleIsUp","NetworkUnavailable/ExampleIsDown"]`)

	addNode("late", "ExampleIsUp")
	h.Reconcile()
	assert.Contains(t, reasons("late"), "ExampleIsUp", "it is done once, not whenever somebody has a reason")
	d.change = nil
	assert.NotContains(t, string(h.Reconcile().Status.ProviderStatus.Raw), "cleanedNodeConditions")
	d.change = stale("ExampleIsUp", "ExampleIsDown")
	h.Reconcile()
	assert.NotContains(t, reasons("late"), "ExampleIsUp", "the plan has named it anew")
}

func TestCleanNodes_NewShoot(t *testing.T) {
	d := &driver{change: func(plan *controlplane.Plan, _ *controlplane.Shoot) {
		plan.StaleNodeConditions = []controlplane.NodeCondition{{Type: corev1.NodeNetworkUnavailable, Reasons: []string{"ExampleIsUp"}}}
	}}
	h := newHarness(t, d).Start()
	object := h.Create()
	assert.Contains(t, string(object.Status.ProviderStatus.Raw), `"cleanedNodeConditions":["NetworkUnavailable/ExampleIsUp"]`,
		"which is done without access to the shoot")
	h.Reconcile()
}

func TestCleanNodes_ExecKubeconfig(t *testing.T) {
	d := &driver{}
	h := newHarness(t, d, func(subject *controlplanetest.Subject) {
		subject.Inputs.Existing = func(namespace string) []client.Object {
			secret := controlplane.KubeconfigSecret(t, controlplane.APIServer().Get(t), namespace, v1beta1constants.SecretNameGardenerInternal)
			secret.Data["kubeconfig"] = []byte(strings.ReplaceAll(string(secret.Data["kubeconfig"]), "  user:\n", "  user:\n    exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}\n"))
			return []client.Object{secret}
		}
	}).Start()
	h.Create()
	d.change = func(plan *controlplane.Plan, _ *controlplane.Shoot) {
		plan.StaleNodeConditions = []controlplane.NodeCondition{{Type: corev1.NodeNetworkUnavailable, Reasons: []string{"ExampleIsUp"}}}
	}
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	object := h.Wait(func(o *extensionsv1alpha1.ControlPlane) error {
		return errorUnless(o.Status.LastError != nil, "no error yet")
	})
	assert.Equal(t, `removing stale conditions from nodes: reading the kubeconfig in Secret gardener-internal: user "gardener" logs in by a program, which is refused`,
		object.Status.LastError.Description)
}
