package csi

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Shoot is what differs between shoots.
type Shoot struct {
	// Image looks up a name in the image vector for this shoot.
	Image func(name string) (string, error)
	// VerticalPodAutoscaler is true if the shoot has one (spec.kubernetes.verticalPodAutoscaler).
	VerticalPodAutoscaler bool
}

// ShootObjects returns the drivers' objects in the shoot: those for nodes, and RBAC for the components in the seed, including the snapshot controller if there
// is one. gardener-resource-manager creates the ServiceAccounts when their tokens are requested. Objects have a TypeMeta; the order is always the same.
//
// Further permissions of upstream's extension are left out: the plugins on nodes do not use the API server.
func ShootObjects(drivers []Driver, shoot Shoot) ([]client.Object, error) {
	var objects []client.Object
	for _, driver := range drivers {
		objects = append(objects, &storagev1.CSIDriver{
			TypeMeta:   metav1.TypeMeta{APIVersion: storagev1.SchemeGroupVersion.String(), Kind: "CSIDriver"},
			ObjectMeta: metav1.ObjectMeta{Name: driver.Name}, Spec: driver.Spec,
		})
		nodes, err := nodeObjects(driver, shoot)
		if err != nil {
			return nil, fmt.Errorf("storage driver %q: %w", driver.Name, err)
		}
		objects = append(objects, nodes...)
		if driver.ShootController == nil {
			continue
		}
		controller, err := driver.ShootController.objects(driver.RolePrefix, shoot)
		if err != nil {
			return nil, fmt.Errorf("storage driver %q: %w", driver.Name, err)
		}
		objects = append(objects, controller...)
	}
	for _, permission := range permissions(drivers) {
		objects = append(objects, permission.Objects()...)
	}
	return objects, nil
}

// verticalPodAutoscaler has a policy for each container, since the containers of a pod differ by orders of magnitude.
func (d Driver) verticalPodAutoscaler() *vpaautoscalingv1.VerticalPodAutoscaler {
	var policies []vpaautoscalingv1.ContainerResourcePolicy
	for _, container := range d.nodeContainers() {
		policies = append(policies, vpaautoscalingv1.ContainerResourcePolicy{
			ContainerName:    container.Name,
			MinAllowed:       container.Requests,
			ControlledValues: new(vpaautoscalingv1.ContainerControlledValuesRequestsOnly),
		})
	}
	return &vpaautoscalingv1.VerticalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: vpaautoscalingv1.SchemeGroupVersion.String(), Kind: "VerticalPodAutoscaler"},
		ObjectMeta: metav1.ObjectMeta{Name: d.Node.Name, Namespace: metav1.NamespaceSystem},
		Spec: vpaautoscalingv1.VerticalPodAutoscalerSpec{
			TargetRef: &autoscalingv1.CrossVersionObjectReference{
				APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "DaemonSet", Name: d.Node.Name,
			},
			UpdatePolicy:   &vpaautoscalingv1.PodUpdatePolicy{UpdateMode: new(vpaautoscalingv1.UpdateModeInPlaceOrRecreate)},
			ResourcePolicy: &vpaautoscalingv1.PodResourcePolicy{ContainerPolicies: policies},
		},
	}
}
