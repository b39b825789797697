package worker

import (
	"context"
	"fmt"

	"github.com/gardener/gardener/pkg/utils/kubernetes"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// managerReplicas is the desired number of machine-controller-manager's replicas. gardenlet deploys it; it is zero without a Deployment.
func (s store) managerReplicas(ctx context.Context) (int32, error) {
	deployment := &appsv1.Deployment{}
	err := s.client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: nameManager}, deployment)
	switch {
	case apierrors.IsNotFound(err):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("reading the Deployment of machine-controller-manager: %w", err)
	case deployment.Spec.Replicas == nil:
		return 1, nil
	default:
		return *deployment.Spec.Replicas, nil
	}
}

// scaleManager starts or stops machine-controller-manager. gardenlet leaves that to this controller, which knows whether all machines of a
// migrated shoot are restored, or all machines of a hibernated one are gone.
func (s store) scaleManager(ctx context.Context, replicas int32) error {
	now, err := s.managerReplicas(ctx)
	if err != nil || now == replicas {
		return err
	}
	key := client.ObjectKey{Namespace: s.namespace, Name: nameManager}
	if err := kubernetes.ScaleDeployment(ctx, s.client, key, replicas); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("scaling machine-controller-manager to %d: %w", replicas, err)
	}
	return nil
}
