package component

import (
	"cmp"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
)

// verticalPodAutoscaler has a policy for each container, since the containers of a pod differ by orders of magnitude.
func (c Component) verticalPodAutoscaler(values Values) *vpaautoscalingv1.VerticalPodAutoscaler {
	policies := make([]vpaautoscalingv1.ContainerResourcePolicy, 0, len(c.Containers))
	for _, container := range c.Containers {
		policies = append(policies, vpaautoscalingv1.ContainerResourcePolicy{
			ContainerName:    container.Name,
			MinAllowed:       container.Requests,
			ControlledValues: new(vpaautoscalingv1.ContainerControlledValuesRequestsOnly),
		})
	}
	return &vpaautoscalingv1.VerticalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: vpaautoscalingv1.SchemeGroupVersion.String(), Kind: "VerticalPodAutoscaler"},
		ObjectMeta: metav1.ObjectMeta{Name: cmp.Or(c.Autoscaler, c.Name+"-vpa"), Namespace: values.Namespace},
		Spec: vpaautoscalingv1.VerticalPodAutoscalerSpec{
			TargetRef: &autoscalingv1.CrossVersionObjectReference{
				APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment", Name: c.Name,
			},
			UpdatePolicy:   &vpaautoscalingv1.PodUpdatePolicy{UpdateMode: new(vpaautoscalingv1.UpdateModeInPlaceOrRecreate)},
			ResourcePolicy: &vpaautoscalingv1.PodResourcePolicy{ContainerPolicies: policies},
		},
	}
}
