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

// sleep says how much of a shoot is awake.
type sleep int

const (
	// awake: everything runs.
	awake sleep = iota
	// fallingAsleep: the shoot is to be hibernated, but its kube-apiserver still runs, and what is in the shoot may need the
	// cloud-controller-manager to get ready for it. gardener-resource-manager may be gone already.
	fallingAsleep
	// asleep: nothing runs.
	asleep
)

// sleepOf finds out how much of the shoot is awake. A shoot that is being deleted or moved is woken up by gardenlet first.
func sleepOf(ctx context.Context, reader client.Reader, namespace string, shoot *gardencorev1beta1.Shoot) (sleep, error) {
	if !v1beta1helper.HibernationIsEnabled(shoot) || shoot.DeletionTimestamp != nil || isMoving(shoot) {
		return awake, nil
	}
	runs, err := kubeAPIServerRuns(ctx, reader, namespace)
	switch {
	case err != nil:
		return awake, err
	case runs:
		return fallingAsleep, nil
	default:
		return asleep, nil
	}
}

func isMoving(shoot *gardencorev1beta1.Shoot) bool {
	lastOperation := shoot.Status.LastOperation
	return lastOperation != nil && lastOperation.Type == gardencorev1beta1.LastOperationTypeMigrate
}

// kubeAPIServerRuns reports whether gardenlet wants the shoot's kube-apiserver to run.
func kubeAPIServerRuns(ctx context.Context, reader client.Reader, namespace string) (bool, error) {
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: namespace, Name: v1beta1constants.DeploymentNameKubeAPIServer}
	if err := reader.Get(ctx, key, deployment); apierrors.IsNotFound(err) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("looking whether the shoot's kube-apiserver runs: %w", err)
	}
	return deployment.Spec.Replicas == nil || *deployment.Spec.Replicas > 0, nil
}

// fallsAsleep reports whether the last pass left the control plane running until gardenlet has stopped the kube-apiserver.
func fallsAsleep(object *extensionsv1alpha1.ControlPlane) bool { return statusOf(object).FallingAsleep }

// kubeAPIServerSleeps reports whether it has.
func kubeAPIServerSleeps(ctx context.Context, reader client.Reader, object *extensionsv1alpha1.ControlPlane) (bool, error) {
	runs, err := kubeAPIServerRuns(ctx, reader, object.Namespace)
	return !runs, err
}
