package calico

import (
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// policyObjects returns the policies in kube-system that Gardener, which denies all traffic there from Kubernetes 1.33 on, does not have. Labels cover
// the rest of what Calico's pods need: pods with a network of their own connect to the kube-apiserver and to DNS servers, and nothing connects to them.
func (s *settings) policyObjects() ([]client.Object, error) {
	if !s.form.Typha {
		return nil, nil
	}
	return []client.Object{&networkingv1.NetworkPolicy{
		TypeMeta: metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "NetworkPolicy"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "gardener.cloud--allow-from-calico-node", Namespace: metav1.NamespaceSystem,
			Labels:      map[string]string{"origin": "gardener"},
			Annotations: map[string]string{v1beta1constants.GardenerDescription: "Allows calico-node to connect to Typha."},
		},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{appLabel: typhaName}},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				From: []networkingv1.NetworkPolicyPeer{{
					PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: nodeDaemonSet}},
				}},
				Ports: []networkingv1.NetworkPolicyPort{{Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromInt32(typhaPort))}},
			}},
		},
	}}, nil
}
