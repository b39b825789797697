package gardenet

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
)

// verticalPodAutoscaler scales the requests of agents between the configured requests and limits.
func (s *settings) verticalPodAutoscaler() *vpaautoscalingv1.VerticalPodAutoscaler {
	return autoscalerOf(agentName, corev1.ResourceRequirements{Requests: s.config.Resources.Node.Requests, Limits: s.config.Resources.Node.Limits})
}

// autoscalerOf scales the requests of a DaemonSet, whose container has the same name.
func autoscalerOf(name string, resources corev1.ResourceRequirements) *vpaautoscalingv1.VerticalPodAutoscaler {
	return &vpaautoscalingv1.VerticalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: vpaautoscalingv1.SchemeGroupVersion.String(), Kind: "VerticalPodAutoscaler"},
		ObjectMeta: inKubeSystem(name, name),
		Spec: vpaautoscalingv1.VerticalPodAutoscalerSpec{
			TargetRef:    &autoscalingv1.CrossVersionObjectReference{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "DaemonSet", Name: name},
			UpdatePolicy: &vpaautoscalingv1.PodUpdatePolicy{UpdateMode: new(vpaautoscalingv1.UpdateModeInPlaceOrRecreate)},
			ResourcePolicy: &vpaautoscalingv1.PodResourcePolicy{ContainerPolicies: []vpaautoscalingv1.ContainerResourcePolicy{
				{
					ContainerName:    name,
					MinAllowed:       maps.Clone(resources.Requests),
					MaxAllowed:       maps.Clone(resources.Limits),
					ControlledValues: new(vpaautoscalingv1.ContainerControlledValuesRequestsOnly),
				},
				{ContainerName: vpaautoscalingv1.DefaultContainerResourcePolicy, Mode: new(vpaautoscalingv1.ContainerScalingModeOff)},
			}},
		},
	}
}
