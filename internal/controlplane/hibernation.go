package controlplane

import (
	"context"
	"fmt"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hibernationState is the state of a shoot's hibernation.
type hibernationState int

const (
	// awake: all components run.
	awake hibernationState = iota
	// hibernating: the shoot is to be hibernated, but its kube-apiserver still runs, and the shoot may need the cloud-controller-manager for its preparation.
	// gardener-resource-manager may be stopped already.
	hibernating
	// hibernated: no component runs.
	hibernated
)

// readHibernationState determines the state. gardenlet wakes up a shoot before it is deleted or migrated.
func readHibernationState(ctx context.Context, reader client.Reader, namespace string, shoot *gardencorev1beta1.Shoot) (hibernationState, error) {
	if !v1beta1helper.HibernationIsEnabled(shoot) || shoot.DeletionTimestamp != nil || isMigrating(shoot) {
		return awake, nil
	}
	runs, err := isKubeAPIServerRunning(ctx, reader, namespace)
	switch {
	case err != nil:
		return awake, err
	case runs:
		return hibernating, nil
	default:
		return hibernated, nil
	}
}

func isMigrating(shoot *gardencorev1beta1.Shoot) bool {
	lastOperation := shoot.Status.LastOperation
	return lastOperation != nil && lastOperation.Type == gardencorev1beta1.LastOperationTypeMigrate
}

// isKubeAPIServerRunning reports whether the shoot's kube-apiserver is to run.
func isKubeAPIServerRunning(ctx context.Context, reader client.Reader, namespace string) (bool, error) {
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: namespace, Name: v1beta1constants.DeploymentNameKubeAPIServer}
	if err := reader.Get(ctx, key, deployment); apierrors.IsNotFound(err) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("looking whether the shoot's kube-apiserver runs: %w", err)
	}
	return deployment.Spec.Replicas == nil || *deployment.Spec.Replicas > 0, nil
}

// isHibernating reports whether the last reconciliation kept the control plane running until gardenlet stops the kube-apiserver.
func isHibernating(object *extensionsv1alpha1.ControlPlane) bool { return statusOf(object).Hibernating }

// isKubeAPIServerStopped reports whether gardenlet has stopped it.
func isKubeAPIServerStopped(ctx context.Context, reader client.Reader, object *extensionsv1alpha1.ControlPlane) (bool, error) {
	runs, err := isKubeAPIServerRunning(ctx, reader, object.Namespace)
	return !runs, err
}
