package csi

import (
	"fmt"
	"maps"
	"slices"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/rbac"
)

// ShootController is the part of a driver that calls the cloud with the permissions of a node, and so runs in the shoot's kube-system: a Deployment in the
// host's network, where the node's role can be assumed whatever users permit pods.
type ShootController struct {
	// Name and Selector are the Deployment's. The ServiceAccount is called ServiceAccount.
	Name           string
	Selector       map[string]string
	ServiceAccount string
	// ContainerPrefix is the prefix of the sidecars' container names.
	ContainerPrefix string
	// User is the ID of the user that the processes run as.
	User int64
	// Plugin is the driver's own container, see Controller.Plugin. It has no access to the shoot.
	Plugin component.Container
	// ProvisionerArgs are the provisioner's, besides those of all drivers.
	ProvisionerArgs []string
	// HealthPort is the port of the liveness probe in the host's network; unique among drivers and their nodes.
	HealthPort int32
}

// provisioner is the only sidecar: others are for volumes that are attached, resized or copied.
func (c ShootController) provisioner() component.Container {
	return WithSocket(component.Container{
		Name:  c.ContainerPrefix + "provisioner",
		Image: "csi-provisioner",
		Args: slices.Concat([]string{
			"--csi-address=" + socketPath, "--timeout=3m", "--leader-election=true", "--leader-election-namespace=" + metav1.NamespaceSystem,
		}, c.ProvisionerArgs, []string{"--v=3"}),
		Requests: requests("38Mi"),
	})
}

func (c ShootController) containers() []component.Container {
	return []component.Container{
		withLivenessProbe(WithSocket(c.Plugin), c.HealthPort), c.provisioner(), WithSocket(livenessProbe(c.ContainerPrefix, c.HealthPort)),
	}
}

// objects returns the Deployment and all that belongs to it.
func (c ShootController) objects(rolePrefix string, shoot Shoot) ([]client.Object, error) {
	deployment, err := c.deployment(shoot.Image)
	if err != nil {
		return nil, err
	}
	objects := []client.Object{
		&corev1.ServiceAccount{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
			ObjectMeta: metav1.ObjectMeta{Name: c.ServiceAccount, Namespace: metav1.NamespaceSystem},
		},
		deployment,
		&policyv1.PodDisruptionBudget{
			TypeMeta:   metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "PodDisruptionBudget"},
			ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: metav1.NamespaceSystem, Labels: maps.Clone(c.Selector)},
			Spec: policyv1.PodDisruptionBudgetSpec{
				MaxUnavailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: maps.Clone(c.Selector)},
				UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
			},
		},
	}
	if shoot.VerticalPodAutoscaler {
		objects = append(objects, c.verticalPodAutoscaler())
	}
	permissions := rbac.Permissions{
		Name: rolePrefix + c.Name, Account: c.ServiceAccount, Rules: shootProvisionerRules(), SystemRules: leaseRules(),
	}
	return append(objects, permissions.Objects()...), nil
}

// shootProvisionerRules are those of a provisioner whose driver has neither snapshots nor attachments.
func shootProvisionerRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rbac.WatchRule("", "persistentvolumes", "create", "patch", "delete"),
		rbac.WatchRule("", "persistentvolumeclaims", "update"),
		rbac.WatchRule("", "nodes"),
		eventsRule(),
		rbac.WatchRule(groupStorage, "storageclasses"),
		rbac.WatchRule(groupStorage, "csinodes"),
	}
}

func (c ShootController) deployment(image func(string) (string, error)) (*appsv1.Deployment, error) {
	parts := c.containers()
	containers := make([]corev1.Container, 0, len(parts))
	for _, part := range parts {
		found, err := image(part.Image)
		if err != nil {
			return nil, fmt.Errorf("looking up the image of container %q in Deployment %q: %w", part.Name, c.Name, err)
		}
		containers = append(containers, part.Build(found))
	}
	volumes, err := component.Volumes(parts, component.Values{})
	if err != nil {
		return nil, fmt.Errorf("mounting for Deployment %q: %w", c.Name, err)
	}
	labels := maps.Clone(c.Selector)
	labels[resourcesv1alpha1.HighAvailabilityConfigType] = resourcesv1alpha1.HighAvailabilityConfigTypeController
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: metav1.NamespaceSystem, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas:             new(int32(1)),
			RevisionHistoryLimit: new(int32(2)),
			Selector:             &metav1.LabelSelector{MatchLabels: maps.Clone(c.Selector)},
			// A new pod cannot have the port of an old one on the same node.
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{
				MaxSurge: new(intstr.FromInt32(0)), MaxUnavailable: new(intstr.FromInt32(1)),
			}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(c.Selector)},
				Spec: corev1.PodSpec{
					HostNetwork:        true,
					DNSPolicy:          corev1.DNSClusterFirstWithHostNet,
					PriorityClassName:  "system-cluster-critical",
					ServiceAccountName: c.ServiceAccount,
					Tolerations:        []corev1.Toleration{{Key: "CriticalAddonsOnly", Operator: corev1.TolerationOpExists}},
					SecurityContext: &corev1.PodSecurityContext{
						RunAsNonRoot: new(true), RunAsUser: new(c.User), RunAsGroup: new(c.User), FSGroup: new(c.User),
						SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
					},
					Containers: containers,
					Volumes:    volumes,
				},
			},
		},
	}, nil
}

func (c ShootController) verticalPodAutoscaler() *vpaautoscalingv1.VerticalPodAutoscaler {
	var policies []vpaautoscalingv1.ContainerResourcePolicy
	for _, container := range c.containers() {
		policies = append(policies, vpaautoscalingv1.ContainerResourcePolicy{
			ContainerName:    container.Name,
			MinAllowed:       container.Requests,
			ControlledValues: new(vpaautoscalingv1.ContainerControlledValuesRequestsOnly),
		})
	}
	return &vpaautoscalingv1.VerticalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: vpaautoscalingv1.SchemeGroupVersion.String(), Kind: "VerticalPodAutoscaler"},
		ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: metav1.NamespaceSystem},
		Spec: vpaautoscalingv1.VerticalPodAutoscalerSpec{
			TargetRef:      &autoscalingv1.CrossVersionObjectReference{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment", Name: c.Name},
			UpdatePolicy:   &vpaautoscalingv1.PodUpdatePolicy{UpdateMode: new(vpaautoscalingv1.UpdateModeInPlaceOrRecreate)},
			ResourcePolicy: &vpaautoscalingv1.PodResourcePolicy{ContainerPolicies: policies},
		},
	}
}
