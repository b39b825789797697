package calico

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// nodeDaemonSet is the name of the DaemonSet that runs on all nodes, and of its main container.
const nodeDaemonSet = "calico-node"

// autoscalingObjects returns the autoscalers of the components. Each exists only together with the component that it scales.
func (s *settings) autoscalingObjects() ([]client.Object, error) {
	objects, err := s.typhaAutoscaling()
	if err != nil {
		return nil, err
	}
	switch s.autoscalingMode() {
	case calicov1alpha1.AutoscalingModeClusterProportional:
		scaler, err := s.verticalScaler(nodeByClusterSize())
		if err != nil {
			return nil, err
		}
		objects = append(objects, scaler...)
	case calicov1alpha1.AutoscalingModeVPA:
		objects = append(objects, nodeVPA(s.givenResources().Node))
	case calicov1alpha1.AutoscalingModeStatic:
	}
	if s.verticalAutoscaling && s.hasKubeControllers() {
		objects = append(objects, kubeControllersVPA())
	}
	return objects, nil
}

// typhaAutoscaling returns nothing without Typha. The number of replicas depends on the number of nodes in every mode.
func (s *settings) typhaAutoscaling() ([]client.Object, error) {
	if !s.form.Typha {
		return nil, nil
	}
	objects, err := s.horizontalScaler()
	if err != nil {
		return nil, err
	}
	switch s.autoscalingMode() {
	case calicov1alpha1.AutoscalingModeClusterProportional:
		scaler, err := s.verticalScaler(typhaByClusterSize())
		if err != nil {
			return nil, err
		}
		objects = append(objects, scaler...)
	case calicov1alpha1.AutoscalingModeVPA:
		objects = append(objects, typhaVPA(s.givenResources().Typha))
	case calicov1alpha1.AutoscalingModeStatic:
	}
	return objects, nil
}

func nodeVPA(least *corev1.ResourceList) client.Object {
	return verticalPodAutoscaler(nodeDaemonSet, "DaemonSet", nodeDaemonSet, nodeMemoryLimit,
		givenOr(least, corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("50Mi")}))
}

func typhaVPA(least *corev1.ResourceList) client.Object {
	return verticalPodAutoscaler(typhaName, "Deployment", typhaDeployment, typhaMemoryLimit, givenOr(least, requests("100m", "180Mi")))
}

func kubeControllersVPA() client.Object {
	return verticalPodAutoscaler(kubeControllers, "Deployment", kubeControllers, kubeControllersMemoryLimit, requests("10m", "50Mi"))
}

// verticalPodAutoscaler scales the container that has the autoscaler's own name, between the minimum requests and the limit of its memory. The other
// containers of the pod are too small to matter.
func verticalPodAutoscaler(name, kind, target, memoryLimit string, least corev1.ResourceList) *vpaautoscalingv1.VerticalPodAutoscaler {
	most := within(memoryLimit, least).Limits
	return &vpaautoscalingv1.VerticalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: vpaautoscalingv1.SchemeGroupVersion.String(), Kind: "VerticalPodAutoscaler"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem},
		Spec: vpaautoscalingv1.VerticalPodAutoscalerSpec{
			TargetRef: &autoscalingv1.CrossVersionObjectReference{
				APIVersion: appsv1.SchemeGroupVersion.String(), Kind: kind, Name: target,
			},
			UpdatePolicy: &vpaautoscalingv1.PodUpdatePolicy{UpdateMode: new(vpaautoscalingv1.UpdateModeInPlaceOrRecreate)},
			ResourcePolicy: &vpaautoscalingv1.PodResourcePolicy{ContainerPolicies: []vpaautoscalingv1.ContainerResourcePolicy{
				{
					ContainerName:    name,
					MinAllowed:       maps.Clone(least),
					MaxAllowed:       most,
					ControlledValues: new(vpaautoscalingv1.ContainerControlledValuesRequestsOnly),
				},
				{ContainerName: vpaautoscalingv1.DefaultContainerResourcePolicy, Mode: new(vpaautoscalingv1.ContainerScalingModeOff)},
			}},
		},
	}
}
