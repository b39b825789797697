// Package calico has what a shoot with Calico needs beside the routes if a controller makes the cloud's network route packets to pods: Calico must not
// contradict what the controller reports on nodes. It is for the drivers of clouds with such a controller.
//
// It knows no cloud, and does nothing for other network plugins.
package calico

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/apis/networking"
	"github.com/trellis-garden/trellis/internal/controlplane"
)

// calicoPolicyName is upstream's name, of the binding, too.
const calicoPolicyName = "block-calico-network-unavailable"

// Shoot is what matters of a shoot whose pods are routed natively.
type Shoot struct {
	// NetworkType is that of the network plugin, e.g. "calico".
	NetworkType string
	// MutatingPolicies is the version in which the shoot serves MutatingAdmissionPolicies (contract.MutatingAdmissionPolicies); empty if it does not.
	MutatingPolicies string
}

// StaleNodeConditions are those that Calico leaves on nodes when it stops encapsulating packets: then the route controller sets the condition of a node's
// network, and would take a stale "unavailable" for its own.
func (s Shoot) StaleNodeConditions() []controlplane.NodeCondition {
	if s.NetworkType != networking.Calico {
		return nil
	}
	return []controlplane.NodeCondition{{Type: corev1.NodeNetworkUnavailable, Reasons: []string{"CalicoIsUp", "CalicoIsDown"}}}
}

// Objects keep Calico from setting the condition of a node's network, which the route controller sets: otherwise the two contradict each other whenever
// Calico's pod on a node starts or ends, and the node loses its pods. Calico has no setting for it. If the shoot's kube-apiserver does not support such
// policies there is none, and the condition changes for a moment.
func (s Shoot) Objects() []client.Object {
	version := s.MutatingPolicies
	if s.NetworkType != networking.Calico || version == "" {
		return nil
	}
	policy := &admissionregistrationv1.MutatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: version, Kind: "MutatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: calicoPolicyName},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"nodes/status"}},
				}}},
			},
			MatchConditions: []admissionregistrationv1.MatchCondition{
				{Name: "calico-speaks", Expression: `request.userInfo.username == "system:serviceaccount:kube-system:calico-node"`},
				{Name: "of-the-network", Expression: `object.?status.conditions.orValue([]).exists(c, c.type == "NetworkUnavailable")`},
			},
			Variables: []admissionregistrationv1.Variable{
				{Name: "others", Expression: `object.status.conditions.filter(c, c.type != "NetworkUnavailable")`},
				{Name: "before", Expression: `oldObject.?status.conditions.orValue([]).filter(c, c.type == "NetworkUnavailable")`},
			},
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: admissionregistrationv1.PatchTypeJSONPatch,
				JSONPatch: &admissionregistrationv1.JSONPatch{
					Expression: `[JSONPatch{op: "replace", path: "/status/conditions", value: variables.others + variables.before}]`,
				},
			}},
			// Calico must be able to work if the policy does not.
			FailurePolicy:      new(admissionregistrationv1.Ignore),
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
		},
	}
	binding := &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: version, Kind: "MutatingAdmissionPolicyBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: calicoPolicyName + "-binding"},
		Spec:       admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: calicoPolicyName},
	}
	return []client.Object{policy, binding}
}
