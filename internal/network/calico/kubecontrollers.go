package calico

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

const kubeControllers = "calico-kube-controllers"

// hasKubeControllers reports whether Calico's controllers have something to do. Upstream omits them where the backend is none. They also release the
// addresses of deleted nodes and pods if calico-ipam assigns addresses: without them a range runs out.
func (s *settings) hasKubeControllers() bool {
	return s.form.Backend != backendNone || s.form.IPAM == calicov1alpha1.IPAMCalico
}

// kubeControllersObjects returns Calico's controllers, without their autoscaler (see autoscalingObjects).
func (s *settings) kubeControllersObjects() ([]client.Object, error) {
	if !s.hasKubeControllers() {
		return nil, nil
	}
	image, err := s.image("calico-kube-controllers")
	if err != nil {
		return nil, err
	}
	result := deployment(kubeControllers, kubeControllers, corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: podLabels(kubeControllers)},
		Spec:       kubeControllersPod(image),
	})
	// Two replicas would work against each other.
	result.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
	objects := []client.Object{
		serviceAccount(kubeControllers),
		result,
		disruptionBudget(kubeControllers, kubeControllers),
	}
	return append(objects, clusterGrant(kubeControllers, kubeControllersRules(), kubeControllers)...), nil
}

func kubeControllersPod(image string) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName: kubeControllers,
		PriorityClassName:  clusterCritical,
		// CoreDNS may need Calico's controllers, so they do not use it.
		DNSPolicy:       corev1.DNSDefault,
		NodeSelector:    map[string]string{corev1.LabelOSStable: "linux"},
		Tolerations:     []corev1.Toleration{{Effect: corev1.TaintEffectNoSchedule, Operator: corev1.TolerationOpExists}},
		SecurityContext: &corev1.PodSecurityContext{SeccompProfile: runtimeDefault()},
		Containers: []corev1.Container{{
			Name:            kubeControllers,
			Image:           image,
			ImagePullPolicy: corev1.PullIfNotPresent,
			// What is not set here is left to the KubeControllersConfiguration, which users may change. The probes need the health checks.
			Env: []corev1.EnvVar{
				{Name: "DATASTORE_TYPE", Value: "kubernetes"},
				{Name: "ENABLED_CONTROLLERS", Value: "node,loadbalancer"},
				{Name: "HEALTH_ENABLED", Value: "true"},
			},
			Resources:       within(kubeControllersMemoryLimit, requests("10m", "50Mi")),
			SecurityContext: unprivileged(),
			LivenessProbe:   checkStatus("-l", 10, 6),
			ReadinessProbe:  checkStatus("-r", 0, 3),
		}},
	}
}

func checkStatus(of string, delay, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:        corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/usr/bin/check-status", of}}},
		InitialDelaySeconds: delay, PeriodSeconds: 10, TimeoutSeconds: 10, FailureThreshold: failures,
	}
}

func kubeControllersRules() []rbacv1.PolicyRule {
	readVerbs, write := []string{"get", "list", "watch"}, []string{"create", "delete", "get", "list", "update", "watch"}
	daemonSet := policyRule("apps", []string{"daemonsets"}, []string{"get"})
	daemonSet.ResourceNames = []string{nodeDaemonSet}
	return []rbacv1.PolicyRule{
		policyRule("", []string{"namespaces", "nodes", "pods"}, readVerbs),
		policyRule("", []string{"services", "services/status"}, []string{"get", "list", "update", "watch"}),
		policyRule(crdGroup, []string{"ipreservations"}, []string{"list"}),
		policyRule(crdGroup, []string{"ippools"}, []string{"list", "watch"}),
		policyRule(crdGroup, []string{"blockaffinities", "hostendpoints", "ipamblocks", "ipamconfigs", "ipamhandles", "tiers"}, write),
		policyRule(crdGroup, []string{"clusterinformations", "kubecontrollersconfigurations"}, []string{"create", "get", "list", "update", "watch"}),
		policyRule(crdGroup, []string{"kubecontrollersconfigurations/status"}, []string{"get", "update"}),
		// Since v3.32 policies are stored under other names. They are renamed once all nodes run the new calico-node.
		policyRule(crdGroup, []string{"globalnetworkpolicies", "networkpolicies", "stagedglobalnetworkpolicies", "stagednetworkpolicies"}, write),
		daemonSet,
	}
}
