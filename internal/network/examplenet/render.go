package examplenet

import (
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/apis/examplenet/v1alpha1"
	"github.com/trellis-garden/trellis/internal/network"
)

// render returns the objects of the plugin.
func (s *settings) render() *network.Rendering {
	objects := s.nodeObjects()
	if s.config.Agent {
		objects = append(objects, s.agentObjects()...)
	}
	return &network.Rendering{Shoot: objects, Seed: []client.Object{s.dashboards()}, Form: s.form, Status: s.status()}
}

// workloads are those that must be rolled out before a stage is complete.
func (s *settings) workloads() []network.Workload {
	workloads := []network.Workload{{Kind: "DaemonSet", Namespace: metav1.NamespaceSystem, Name: nodeName}}
	if s.config.Agent {
		workloads = append(workloads, network.Workload{Kind: "Deployment", Namespace: metav1.NamespaceSystem, Name: agentName})
	}
	return workloads
}

// status reports what is deployed, so that users see defaults and stages.
func (s *settings) status() *v1alpha1.NetworkStatus {
	status := v1alpha1.NewNetworkStatus()
	status.Effective = s.config.DeepCopy()
	status.Effective.Encapsulation, status.Effective.Routes = s.form.Sends, s.form.Routes
	return status
}

// dashboards returns the ConfigMap from which Plutono loads dashboards.
func (s *settings) dashboards() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "example-net-dashboards", Namespace: s.namespace,
			Labels: map[string]string{v1beta1constants.LabelPrefixMonitoringDashboard + "shoot": "true"},
		},
		Data: map[string]string{"example-net-dashboard.json": `{"uid":"example-net","title":"Example Net","panels":[]}`},
	}
}

func inKubeSystem(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem}
}

// selectorOf returns the selector of a workload. It cannot be changed on an existing one.
func selectorOf(name string) map[string]string { return map[string]string{"app": name} }

// account returns a ServiceAccount in kube-system, and the ClusterRole and binding that grant it the rules.
func account(name string, rules ...rbacv1.PolicyRule) []client.Object {
	typeMeta := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
	}
	return []client.Object{
		&corev1.ServiceAccount{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: inKubeSystem(name), AutomountServiceAccountToken: new(false),
		},
		&rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules},
		&rbacv1.ClusterRoleBinding{
			TypeMeta: typeMeta("ClusterRoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: metav1.NamespaceSystem}},
		},
	}
}
