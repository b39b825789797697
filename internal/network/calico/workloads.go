package calico

import (
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	// appLabel is the label in the selectors of upstream's workloads. Selectors are immutable.
	appLabel = "k8s-app"
	// clusterCritical is the priority of pods that the shoot's network needs, but no single node.
	clusterCritical = "system-cluster-critical"
)

// deployment returns a Deployment in kube-system with one replica, whose pods are selected by their app. Callers change the replicas in the result.
func deployment(name, app string, pod corev1.PodTemplateSpec) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: metav1.NamespaceSystem,
			Labels: map[string]string{appLabel: app, v1beta1constants.GardenRole: v1beta1constants.GardenRoleSystemComponent},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas:             new(int32(1)),
			RevisionHistoryLimit: new(int32(2)),
			Selector:             &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: app}},
			Template:             pod,
		},
	}
}

// podLabels are those of a pod that connects to the kube-apiserver and to DNS servers. Gardener's policies for kube-system allow nothing else.
func podLabels(app string) map[string]string {
	return map[string]string{
		appLabel:                    app,
		"origin":                    "gardener",
		v1beta1constants.GardenRole: v1beta1constants.GardenRoleSystemComponent,
		v1beta1constants.LabelNetworkPolicyShootToAPIServer: v1beta1constants.LabelNetworkPolicyAllowed,
		v1beta1constants.LabelNetworkPolicyToDNS:            v1beta1constants.LabelNetworkPolicyAllowed,
	}
}

// unprivileged is for containers that need nothing but the network.
func unprivileged() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		RunAsNonRoot:             new(true),
		AllowPrivilegeEscalation: new(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// runtimeDefault is the seccomp profile of the container runtime.
func runtimeDefault() *corev1.SeccompProfile {
	return &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
}

// tolerateEverything is for pods that must run before a node is ready, or where it is not.
func tolerateEverything() []corev1.Toleration {
	return []corev1.Toleration{
		{Effect: corev1.TaintEffectNoSchedule, Operator: corev1.TolerationOpExists},
		{Effect: corev1.TaintEffectNoExecute, Operator: corev1.TolerationOpExists},
	}
}

// disruptionBudget allows to evict one pod of an app at a time, and unhealthy pods at any time.
func disruptionBudget(name, app string) *policyv1.PodDisruptionBudget {
	labels := map[string]string{appLabel: app}
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "PodDisruptionBudget"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem, Labels: labels},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable:             new(intstr.FromInt32(1)),
			Selector:                   &metav1.LabelSelector{MatchLabels: labels},
			UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
		},
	}
}

// serviceOf returns a Service for the pods of an app.
func serviceOf(name, app string, port corev1.ServicePort) *corev1.Service {
	return &corev1.Service{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: metav1.NamespaceSystem, Labels: map[string]string{appLabel: app},
		},
		Spec: corev1.ServiceSpec{Selector: map[string]string{appLabel: app}, Ports: []corev1.ServicePort{port}},
	}
}
