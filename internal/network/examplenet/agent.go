package examplenet

import (
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// agentName is the name of the agent's Deployment, of its ServiceAccount and of its image.
const agentName = "example-net-agent"

// agentObjects returns the agent that computes the routes to Services for all nodes.
func (s *settings) agentObjects() []client.Object {
	watches := []string{"list", "watch"}
	return append([]client.Object{s.agentDeployment()}, account(agentName,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes", "services"}, Verbs: watches},
		rbacv1.PolicyRule{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: watches},
	)...)
}

func (s *settings) agentDeployment() *appsv1.Deployment {
	labels := selectorOf(agentName)
	// Gardener's policies for kube-system allow no other connections.
	labels["origin"], labels[v1beta1constants.GardenRole] = "gardener", v1beta1constants.GardenRoleSystemComponent
	labels[v1beta1constants.LabelNetworkPolicyShootToAPIServer] = v1beta1constants.LabelNetworkPolicyAllowed
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: inKubeSystem(agentName),
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: selectorOf(agentName)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					ServiceAccountName: agentName,
					PriorityClassName:  "system-cluster-critical",
					Containers:         []corev1.Container{{Name: agentName, Image: s.agentImage, Args: []string{"--families=" + joined(s.families)}}},
				},
			},
		},
	}
}
