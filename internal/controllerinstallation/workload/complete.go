package workload

import (
	"fmt"
	"slices"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	"github.com/gardener/gardener/pkg/utils/secrets"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

// Complete changes the objects of a chart as gardenlet does: it adds the environment variable SEED_NAME to all containers and, on request, a
// kubeconfig for the garden. It changes objects of the groups apps and batch in the installation's own namespace only, neither bare Pods nor objects
// without a namespace. It reports whether access to the garden is needed. A malformed workload is a problem.Problem (ChartCannotBeRendered).
func Complete(installation Installation, garden Garden, objects []*unstructured.Unstructured) (gardenAccess bool, err error) {
	gardenAccess = needsGardenAccess(installation, objects)
	var kubeconfig string
	if gardenAccess {
		secret, err := kubeconfigSecret(installation, garden)
		if err != nil {
			return false, err
		}
		kubeconfig = secret.Name
	}
	for _, object := range objects {
		if !isWorkload(object) || object.GetNamespace() != Namespace(installation.Name) {
			continue
		}
		injected := ""
		if needsKubeconfig(object) {
			injected = kubeconfig
		}
		if err := complete(object, installation.Seed.Name, injected); err != nil {
			return false, problem.New(problem.ChartCannotBeRendered, fmt.Sprintf(
				"%s %s cannot be given what Gardener gives to pods: %v", object.GetKind(), object.GetName(), err))
		}
	}
	return gardenAccess, nil
}

func isWorkload(object *unstructured.Unstructured) bool {
	group := object.GroupVersionKind().Group
	return group == appsv1.GroupName || group == batchv1.GroupName
}

// needsGardenAccess also considers bare Pods and pods of other namespaces, which are not changed.
func needsGardenAccess(installation Installation, objects []*unstructured.Unstructured) bool {
	return installation.InjectGardenKubeconfig && slices.ContainsFunc(objects, func(object *unstructured.Unstructured) bool {
		return hasPods(object) && needsKubeconfig(object)
	})
}

func hasPods(object *unstructured.Unstructured) bool {
	switch object.GetAPIVersion() + "/" + object.GetKind() {
	case "v1/Pod",
		"apps/v1/Deployment", "apps/v1beta2/Deployment", "apps/v1beta1/Deployment",
		"apps/v1/StatefulSet", "apps/v1beta2/StatefulSet", "apps/v1beta1/StatefulSet",
		"apps/v1/DaemonSet", "apps/v1beta2/DaemonSet",
		"batch/v1/Job", "batch/v1/CronJob", "batch/v1beta1/CronJob":
		return true
	default:
		return false
	}
}

// needsKubeconfig returns true unless a label opts out.
func needsKubeconfig(object *unstructured.Unstructured) bool {
	value, labelled := object.GetLabels()[v1beta1constants.LabelInjectGardenKubeconfig]
	return !labelled || value == "true"
}

// complete converts to the typed object and back, as gardenlet does, so that the result is the same, without unknown fields.
func complete(object *unstructured.Unstructured, seed, kubeconfig string) error {
	typed, err := scheme.Scheme.New(object.GroupVersionKind())
	if err != nil {
		return err
	}
	if err := scheme.Scheme.Convert(object, typed, nil); err != nil {
		return err
	}
	if kubeconfig != "" {
		if err := injectKubeconfig(typed, kubeconfig); err != nil {
			return err
		}
	}
	if err := setEnvironment(typed, v1beta1constants.EnvSeedName, seed); err != nil {
		return err
	}
	return scheme.Scheme.Convert(typed, object, nil)
}

// injectKubeconfig does not change pods that have their own kubeconfig for the garden.
func injectKubeconfig(object runtime.Object, kubeconfig string) error {
	const volumeName = "garden-kubeconfig"
	own := false
	err := visitContainers(object, func(container *corev1.Container) {
		own = own || kubernetesutils.HasEnvVar(*container, v1beta1constants.EnvGenericGardenKubeconfig)
	})
	if err != nil || own {
		return err
	}
	err = kubernetesutils.VisitPodSpec(object, func(spec *corev1.PodSpec) {
		kubernetesutils.AddVolume(spec, kubeconfigVolume(volumeName, kubeconfig), true)
		kubernetesutils.VisitContainers(spec, func(container *corev1.Container) {
			mount := corev1.VolumeMount{Name: volumeName, MountPath: kubeconfigPath, ReadOnly: true}
			kubernetesutils.AddVolumeMount(container, mount, true)
		})
	})
	if err != nil {
		return err
	}
	if err := references.InjectAnnotations(object); err != nil {
		return err
	}
	return setEnvironment(object, v1beta1constants.EnvGenericGardenKubeconfig, kubeconfigPath+"/"+secrets.DataKeyKubeconfig)
}

func kubeconfigVolume(name, kubeconfig string) corev1.Volume {
	project := func(secret, key string) corev1.VolumeProjection {
		return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: secret},
			Items:                []corev1.KeyToPath{{Key: key, Path: key}},
			Optional:             new(false),
		}}
	}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: new(corev1.ProjectedVolumeSourceDefaultMode),
		Sources: []corev1.VolumeProjection{
			project(kubeconfig, secrets.DataKeyKubeconfig), project(accessSecretName, resourcesv1alpha1.DataKeyToken),
		},
	}}}
}

func setEnvironment(object runtime.Object, name, value string) error {
	return visitContainers(object, func(container *corev1.Container) {
		kubernetesutils.AddEnvVar(container, corev1.EnvVar{Name: name, Value: value}, true)
	})
}

func visitContainers(object runtime.Object, visit func(*corev1.Container)) error {
	return kubernetesutils.VisitPodSpec(object, func(spec *corev1.PodSpec) { kubernetesutils.VisitContainers(spec, visit) })
}
