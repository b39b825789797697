package component

import (
	"errors"
	"fmt"
	"maps"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Objects returns the objects of a component for the shoot's namespace, always in the same order, the Deployment first. They have a TypeMeta. The Secrets
// for access to the shoot are not included (see ShootAccessSecret).
func Objects(c Component, values Values) ([]client.Object, error) {
	deployment, err := c.deployment(values)
	if err != nil {
		return nil, fmt.Errorf("component %q: %w", c.Name, err)
	}
	objects := []client.Object{deployment, c.podDisruptionBudget(values), c.verticalPodAutoscaler(values)}
	if c.Metrics != nil {
		monitoring, err := c.monitoring(values)
		if err != nil {
			return nil, fmt.Errorf("component %q: %w", c.Name, err)
		}
		objects = append(objects, monitoring...)
	}
	objects = append(objects, c.seedAccess(values)...)
	if c.Webhooks != nil {
		service, err := c.webhookService(values)
		if err != nil {
			return nil, fmt.Errorf("component %q: %w", c.Name, err)
		}
		objects = append(objects, service)
	}
	return objects, nil
}

func (c Component) deployment(values Values) (*appsv1.Deployment, error) {
	pod, err := c.podSpec(values)
	if err != nil {
		return nil, err
	}
	labels := maps.Clone(c.Selector)
	labels[v1beta1constants.GardenRole] = v1beta1constants.GardenRoleControlPlane
	labels[resourcesv1alpha1.HighAvailabilityConfigType] = resourcesv1alpha1.HighAvailabilityConfigTypeController
	deployment := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: values.Namespace, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas:             new(values.replicas()),
			RevisionHistoryLimit: new(int32(2)),
			Selector:             &metav1.LabelSelector{MatchLabels: maps.Clone(c.Selector)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: c.podLabels(), Annotations: maps.Clone(c.PodAnnotations)}, Spec: *pod,
			},
		},
	}
	// Without these annotations gardener-resource-manager would collect the Secrets as garbage.
	if err := references.InjectAnnotations(deployment); err != nil {
		return nil, fmt.Errorf("naming the Secrets that it uses: %w", err)
	}
	return deployment, nil
}

// replicas is one if the shoot is awake: gardener-resource-manager increases it for highly available shoots.
func (values Values) replicas() int32 {
	if values.Hibernated {
		return 0
	}
	return 1
}

func (c Component) podLabels() map[string]string {
	labels := maps.Clone(c.Selector)
	labels[v1beta1constants.GardenRole] = v1beta1constants.GardenRoleControlPlane
	labels[v1beta1constants.LabelPodMaintenanceRestart] = "true"
	labels[v1beta1constants.LabelNetworkPolicyToDNS] = v1beta1constants.LabelNetworkPolicyAllowed
	if len(c.ShootAccesses()) > 0 {
		labels[resourcesv1alpha1.NetworkPolicyLabelKeyPrefix+"to-kube-apiserver-tcp-443"] = v1beta1constants.LabelNetworkPolicyAllowed
	}
	if len(c.SeedRules) > 0 {
		labels[v1beta1constants.LabelNetworkPolicyToRuntimeAPIServer] = v1beta1constants.LabelNetworkPolicyAllowed
	}
	for _, destination := range c.Egress {
		labels["networking.gardener.cloud/"+string(destination)] = v1beta1constants.LabelNetworkPolicyAllowed
	}
	return labels
}

func (c Component) podSpec(values Values) (*corev1.PodSpec, error) {
	if len(c.Containers) == 0 {
		return nil, errors.New("it has no containers")
	}
	if c.User <= 0 {
		return nil, errors.New("it must not run as root")
	}
	volumes, err := Volumes(c.Containers, values)
	if err != nil {
		return nil, err
	}
	containers := make([]corev1.Container, 0, len(c.Containers))
	for _, container := range c.Containers {
		image, err := values.Image(container.Image)
		if err != nil {
			return nil, fmt.Errorf("looking up the image of container %q: %w", container.Name, err)
		}
		containers = append(containers, container.Build(image))
	}
	pod := &corev1.PodSpec{
		AutomountServiceAccountToken: new(false),
		PriorityClassName:            c.Priority,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   new(true),
			RunAsUser:      new(c.User),
			RunAsGroup:     new(c.User),
			FSGroup:        new(c.User),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: containers,
		Volumes:    volumes,
	}
	if len(c.SeedRules) > 0 { // gardener-resource-manager mounts a token into pods that leave this open
		pod.AutomountServiceAccountToken, pod.ServiceAccountName = nil, c.Name
	}
	return pod, nil
}

func (c Component) podDisruptionBudget(values Values) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "PodDisruptionBudget"},
		ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: values.Namespace, Labels: maps.Clone(c.Selector)},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable:             new(intstr.FromInt32(1)),
			Selector:                   &metav1.LabelSelector{MatchLabels: maps.Clone(c.Selector)},
			UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
		},
	}
}
