package calico

import (
	"maps"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// The memory limits of calico-node, Typha and calico-kube-controllers. Autoscalers stay below them: a pod that requests more than its limit is refused.
const (
	nodeMemoryLimit            = "2800Mi"
	typhaMemoryLimit           = "4000Mi"
	kubeControllersMemoryLimit = "2Gi"
)

// nodeResources returns those of the container calico-node.
func (s *settings) nodeResources() corev1.ResourceRequirements {
	return within(nodeMemoryLimit, givenOr(s.givenResources().Node, requests("250m", "100Mi")))
}

// typhaResources returns those of the container calico-typha.
func (s *settings) typhaResources() corev1.ResourceRequirements {
	return within(typhaMemoryLimit, givenOr(s.givenResources().Typha, requests("200m", "100Mi")))
}

// givenResources returns the user's resources, where they have an effect.
func (s *settings) givenResources() calicov1alpha1.Resources {
	scaling := s.config.AutoScaling
	if scaling == nil || scaling.Resources == nil || s.autoscalingMode() == calicov1alpha1.AutoscalingModeClusterProportional {
		return calicov1alpha1.Resources{}
	}
	return *scaling.Resources
}

// autoscalingMode returns how calico-node and Typha get their requests. Without a vertical pod autoscaler in the shoot, the number of nodes decides.
func (s *settings) autoscalingMode() calicov1alpha1.AutoscalingMode {
	scaling := s.config.AutoScaling
	if scaling == nil || scaling.Mode == "" || scaling.Mode == calicov1alpha1.AutoscalingModeVPA && !s.verticalAutoscaling {
		return calicov1alpha1.AutoscalingModeClusterProportional
	}
	return scaling.Mode
}

// scaledResources returns the annotations of a DaemonSet or Deployment in whose template an autoscaler changes requests: gardener-resource-manager does
// not overwrite them then. A VerticalPodAutoscaler changes pods, not templates.
func (s *settings) scaledResources() map[string]string {
	if s.autoscalingMode() != calicov1alpha1.AutoscalingModeClusterProportional {
		return nil
	}
	return map[string]string{resourcesv1alpha1.PreserveResources: "true"}
}

// givenOr returns the user's resources, with defaults for missing ones.
func givenOr(list *corev1.ResourceList, defaults corev1.ResourceList) corev1.ResourceList {
	if list != nil {
		maps.Copy(defaults, *list)
	}
	return defaults
}

// within sets a memory limit, or the requested memory if that is more.
func within(memoryLimit string, requests corev1.ResourceList) corev1.ResourceRequirements {
	limit := resource.MustParse(memoryLimit)
	if requested := requests[corev1.ResourceMemory]; requested.Cmp(limit) > 0 {
		limit = requested
	}
	return corev1.ResourceRequirements{Requests: requests, Limits: corev1.ResourceList{corev1.ResourceMemory: limit}}
}

func requests(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}
