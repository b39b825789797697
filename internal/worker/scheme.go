package worker

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/kinds"
)

// AddToScheme registers the API types that the contract uses. Binary and suites call it, so that no suite has a type that the binary does not have.
func AddToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(
		kinds.In(extensionsv1alpha1.SchemeGroupVersion, &extensionsv1alpha1.Worker{}, &extensionsv1alpha1.WorkerList{}, &extensionsv1alpha1.Cluster{}),
		kinds.In(machinev1alpha1.SchemeGroupVersion,
			&machinev1alpha1.MachineClass{}, &machinev1alpha1.MachineClassList{}, &machinev1alpha1.Machine{}, &machinev1alpha1.MachineList{},
			&machinev1alpha1.MachineSet{}, &machinev1alpha1.MachineSetList{}, &machinev1alpha1.MachineDeployment{}, &machinev1alpha1.MachineDeploymentList{}),
		// Credentials and user data are Secrets; machine-controller-manager is a Deployment with pods.
		kinds.In(corev1.SchemeGroupVersion, &corev1.Secret{}, &corev1.SecretList{}, &corev1.Pod{}, &corev1.PodList{}),
		kinds.In(appsv1.SchemeGroupVersion, &appsv1.Deployment{}),
		// A Deployment is scaled by its subresource, a Scale.
		kinds.In(autoscalingv1.SchemeGroupVersion, &autoscalingv1.Scale{}),
	)
	return builder.AddToScheme(scheme)
}
