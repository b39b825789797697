package worker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	securityv1alpha1constants "github.com/gardener/gardener/pkg/apis/security/v1alpha1/constants"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
)

const (
	// nameManager is the name of machine-controller-manager's Deployment, and of its container.
	nameManager = v1beta1constants.DeploymentNameMachineControllerManager
	// nameManagerVPA is its VerticalPodAutoscaler.
	nameManagerVPA = "machine-controller-manager-vpa"
	// portSidecar is the port of the machine controller: gardenlet's Service and monitoring use its number and its name.
	portSidecar     = 10259
	portNameSidecar = "providermetrics"
	// volumeKubeconfig is the volume with the kubeconfig of the shoot. A self-hosted shoot has none.
	volumeKubeconfig = "kubeconfig"
	// volumeIdentity is the volume with the token of a workload identity, and identityFolder where it is mounted.
	volumeIdentity = "workload-identity"
	identityFolder = "/var/run/secrets/gardener.cloud/workload-identity"
	// flagTarget selects the cluster of the machines' nodes.
	flagTarget = "--target-kubeconfig="
)

// sidecarName is the name of the container of the machine controller for a type, and of its image: gardenlet and dashboards use
// that name.
func sidecarName(providerType string) string { return nameManager + "-provider-" + providerType }

// sidecar is the machine controller of a type. A memory limit of zero is none.
type sidecar struct {
	providerType, image string
	memoryLimit         resource.Quantity
	workloadIdentity    bool
}

// addTo adds the machine controller to machine-controller-manager, or updates an existing one. It does not change the
// replicas, which gardenlet, the dependency-watchdog and the actuator set.
//
// The machine controller gets the same flags for its clusters as machine-controller-manager.
func (s sidecar) addTo(deployment *appsv1.Deployment) error {
	pod := &deployment.Spec.Template.Spec
	at := indexOfContainer(pod.Containers, nameManager)
	if at < 0 {
		return fmt.Errorf("there is no container %q", nameManager)
	}
	container, err := newSidecar(&pod.Containers[at], deployment.Namespace)
	if err != nil {
		return err
	}
	container.Name, container.Image = sidecarName(s.providerType), s.image
	limitMemory(container, s.memoryLimit)
	if s.workloadIdentity {
		mountIdentityToken(pod, container)
	}
	at = indexOfContainer(pod.Containers, container.Name)
	if at < 0 {
		pod.Containers = append(pod.Containers, *container)
		return nil
	}
	// The API server sets these defaults.
	container.TerminationMessagePath = pod.Containers[at].TerminationMessagePath
	container.TerminationMessagePolicy = pod.Containers[at].TerminationMessagePolicy
	pod.Containers[at] = *container
	return nil
}

// mountIdentityToken mounts the token of a workload identity where the Secret cloudprovider says that it is. Our machine controllers read the token in the
// Secret itself; those of others, by which an image vector may replace ours, read the file. A Secret with other credentials has no token.
func mountIdentityToken(pod *corev1.PodSpec, container *corev1.Container) {
	volume := corev1.Volume{Name: volumeIdentity, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: new(int32(0o644)),
		Sources: []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: v1beta1constants.SecretNameCloudProvider},
			Items:                []corev1.KeyToPath{{Key: securityv1alpha1constants.DataKeyToken, Path: securityv1alpha1constants.DataKeyToken}},
			Optional:             new(true),
		}}},
	}}}
	at := slices.IndexFunc(pod.Volumes, func(existing corev1.Volume) bool { return existing.Name == volume.Name })
	if at < 0 {
		pod.Volumes = append(pod.Volumes, volume)
	} else {
		pod.Volumes[at] = volume
	}
	container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volume.Name, MountPath: identityFolder, ReadOnly: true})
}

// newSidecar returns the container without name and image. Its figures are those that Gardener uses for all providers.
func newSidecar(manager *corev1.Container, namespace string) (*corev1.Container, error) {
	target := slices.IndexFunc(slices.Concat(manager.Command, manager.Args), func(word string) bool {
		return strings.HasPrefix(word, flagTarget)
	})
	if target < 0 {
		return nil, fmt.Errorf("container %q has no flag %s", manager.Name, strings.TrimSuffix(flagTarget, "="))
	}
	sidecar := &corev1.Container{
		ImagePullPolicy: corev1.PullIfNotPresent,
		Args: []string{
			"--control-kubeconfig=inClusterConfig",
			"--kube-api-qps=100",
			"--kube-api-burst=200",
			"--machine-creation-timeout=20m",
			"--machine-drain-timeout=2h",
			"--machine-health-timeout=10m",
			"--machine-safety-apiserver-statuscheck-timeout=30s",
			"--machine-safety-apiserver-statuscheck-period=1m",
			"--machine-safety-orphan-vms-period=30m",
			"--namespace=" + namespace,
			fmt.Sprintf("--port=%d", portSidecar),
			slices.Concat(manager.Command, manager.Args)[target],
			"--v=3",
		},
		LivenessProbe: &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: "/healthz", Port: intstr.FromInt32(portSidecar), Scheme: corev1.URISchemeHTTP,
			}},
			InitialDelaySeconds: 30, TimeoutSeconds: 5, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3,
		},
		Ports: []corev1.ContainerPort{{Name: portNameSidecar, ContainerPort: portSidecar, Protocol: corev1.ProtocolTCP}},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("20Mi"),
		}},
		SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: new(false)},
	}
	for _, mount := range manager.VolumeMounts {
		if mount.Name == volumeKubeconfig {
			sidecar.VolumeMounts = append(sidecar.VolumeMounts, mount)
		}
	}
	return sidecar, nil
}

// limitMemory sets a container's memory limit, and lets Go collect garbage before it is reached. The rest is for other memory.
func limitMemory(container *corev1.Container, limit resource.Quantity) {
	if limit.IsZero() {
		return
	}
	container.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: limit}
	container.Env = append(container.Env, corev1.EnvVar{Name: "GOMEMLIMIT", Value: strconv.FormatInt(limit.Value()*9/10, 10)})
}

func indexOfContainer(containers []corev1.Container, name string) int {
	return slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == name })
}

// addSidecarPolicy makes the vertical pod autoscaler change only the container's requests, as for the other container.
func addSidecarPolicy(vpa *vpaautoscalingv1.VerticalPodAutoscaler, providerType string) {
	if vpa.Spec.ResourcePolicy == nil {
		vpa.Spec.ResourcePolicy = &vpaautoscalingv1.PodResourcePolicy{}
	}
	policies := &vpa.Spec.ResourcePolicy.ContainerPolicies
	wanted := vpaautoscalingv1.ContainerResourcePolicy{
		ContainerName:    sidecarName(providerType),
		ControlledValues: new(vpaautoscalingv1.ContainerControlledValuesRequestsOnly),
	}
	at := slices.IndexFunc(*policies, func(p vpaautoscalingv1.ContainerResourcePolicy) bool {
		return p.ContainerName == wanted.ContainerName
	})
	if at < 0 {
		*policies = append(*policies, wanted)
		return
	}
	(*policies)[at] = wanted
}
