package openstack

import (
	"context"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/mutation"
)

// shootDefaults makes the DNS cache on the nodes query the cloud's DNS servers by UDP, if the shoot has a cache and does not configure the protocol.
// Gardener's own default is TCP. The upstream extension does the same, for the same shoots.
func shootDefaults() ctrladmission.Handler {
	return mutation.Handler(shootKind(), func(_ context.Context, shoot, old *gardencorev1beta1.Shoot) error {
		if shoot.Spec.Provider.Type != Type || len(shoot.Spec.Provider.Workers) == 0 || shoot.Spec.SystemComponents == nil {
			return nil
		}
		cache := shoot.Spec.SystemComponents.NodeLocalDNS
		if cache == nil || !cache.Enabled || cache.ForceTCPToUpstreamDNS != nil {
			return nil
		}
		if isMigrating(shoot) || old != nil && equality.Semantic.DeepEqual(shoot.Spec, old.Spec) {
			return nil
		}
		cache.ForceTCPToUpstreamDNS = new(false)
		return nil
	})
}

// isMigrating reports whether the shoot's control plane is being migrated from one seed to another. Writes during that time are not the
// user's.
func isMigrating(shoot *gardencorev1beta1.Shoot) bool {
	if desired, actual := shoot.Spec.SeedName, shoot.Status.SeedName; desired != nil && actual != nil && *desired != *actual {
		return true
	}
	operation := shoot.Status.LastOperation
	return operation != nil && (operation.Type == gardencorev1beta1.LastOperationTypeMigrate ||
		operation.Type == gardencorev1beta1.LastOperationTypeRestore && operation.State != gardencorev1beta1.LastOperationStateSucceeded)
}
