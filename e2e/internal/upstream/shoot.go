package upstream

import (
	"context"
	"fmt"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// Shoot is a shoot that upstream's extensions have created. Its methods create their objects, in gardenlet's order, so that gardenlet accepts them.
type Shoot struct {
	*gardenlet.Shoot
	Gardenlet *gardenlet.Gardenlet
	Account   *openstack.Account
	Cloud     *openstack.Cloud
}

// markSucceeded writes a finalizer and a status of success, without an operation annotation.
func (s *Shoot) markSucceeded(ctx context.Context, object client.Object, status *extensionsv1alpha1.DefaultStatus, what string, more func()) error {
	patch := client.MergeFrom(object.DeepCopyObject().(client.Object)) //nolint:forcetypeassert // it is one
	object.SetFinalizers([]string{"extensions.gardener.cloud/" + what})
	annotations := object.GetAnnotations()
	delete(annotations, v1beta1constants.GardenerOperation)
	object.SetAnnotations(annotations)
	if err := s.Gardenlet.Seed.Patch(ctx, object, patch); err != nil {
		return fmt.Errorf("fulfilling the %s: %w", what, err)
	}
	patch = client.MergeFrom(object.DeepCopyObject().(client.Object)) //nolint:forcetypeassert // it is one
	status.ObservedGeneration = object.GetGeneration()
	status.LastOperation = &gardencorev1beta1.LastOperation{
		Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStateSucceeded, Progress: 100,
		Description: "Successfully reconciled " + what, LastUpdateTime: metav1.NewTime(time.Now()),
	}
	more()
	if err := s.Gardenlet.Seed.Status().Patch(ctx, object, patch); err != nil {
		return fmt.Errorf("fulfilling the %s: %w", what, err)
	}
	return nil
}
