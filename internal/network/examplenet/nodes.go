package examplenet

import (
	"fmt"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// nodeName is the name of the DaemonSet, of its ServiceAccount and of its image.
	nodeName = "example-net"
	// configName is the name of the ConfigMap that its pods mount, configFolder the folder.
	configName, configFolder = "example-net-config", "/etc/example-net"
)

// nodeObjects returns the part of the plugin on each node.
func (s *settings) nodeObjects() []client.Object {
	reads := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch"}}
	return append([]client.Object{s.nodeDaemonSet(), s.nodeConfig()}, account(nodeName, reads)...)
}

// nodeConfig is what pods read again when it changes. Everything that nodes must agree upon is in their command line instead, so that a gate tells which nodes
// have it.
func (s *settings) nodeConfig() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: inKubeSystem(configName),
		Data:       map[string]string{"families": joined(s.families), "podRanges": joined(s.podRanges)},
	}
}

func (s *settings) nodeDaemonSet() *appsv1.DaemonSet {
	labels := selectorOf(nodeName)
	// A node accepts pods only when this pod is ready.
	labels[v1beta1constants.LabelNodeCriticalComponent] = "true"
	return &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Name: nodeName, Namespace: metav1.NamespaceSystem, Labels: labels},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: selectorOf(nodeName)},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: s.nodePod()},
		},
	}
}

func (s *settings) nodePod() corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName: nodeName,
		PriorityClassName:  "system-node-critical",
		HostNetwork:        true,
		// It must run before a node is ready, and where it is not.
		Tolerations: []corev1.Toleration{
			{Effect: corev1.TaintEffectNoSchedule, Operator: corev1.TolerationOpExists},
			{Effect: corev1.TaintEffectNoExecute, Operator: corev1.TolerationOpExists},
		},
		Containers: []corev1.Container{{
			Name:  nodeName,
			Image: s.nodeImage,
			Args: []string{
				"--config=" + configFolder,
				"--accept=" + joined(s.form.Accepts),
				"--send=" + string(s.form.Sends),
				fmt.Sprintf("--use-cloud-routes=%t", s.form.Routes),
			},
			SecurityContext: &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}}},
			VolumeMounts:    []corev1.VolumeMount{{Name: "config", MountPath: configFolder}},
		}},
		Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configName}},
		}}},
	}
}

func joined[T ~string](values []T) string {
	texts := make([]string, 0, len(values))
	for _, value := range values {
		texts = append(texts, string(value))
	}
	return strings.Join(texts, ",")
}
