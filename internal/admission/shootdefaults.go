package admission

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// takesDefaults reports whether a write may set defaults in a Shoot: it creates it, or changes its spec, and its control plane is not moving to another
// seed. Writes during that time are not the user's.
func takesDefaults(shoot, old *gardencorev1beta1.Shoot) bool {
	return !isMigrating(shoot) && (old == nil || !equality.Semantic.DeepEqual(shoot.Spec, old.Spec))
}

func isMigrating(shoot *gardencorev1beta1.Shoot) bool {
	if desired, actual := shoot.Spec.SeedName, shoot.Status.SeedName; desired != nil && actual != nil && *desired != *actual {
		return true
	}
	operation := shoot.Status.LastOperation
	return operation != nil && (operation.Type == gardencorev1beta1.LastOperationTypeMigrate ||
		operation.Type == gardencorev1beta1.LastOperationTypeRestore && operation.State != gardencorev1beta1.LastOperationStateSucceeded)
}

// SetNodeLocalDNSWithoutTCP makes the DNS cache on the nodes query the cloud's DNS servers by UDP, if the shoot has a cache and does not configure the
// protocol. Gardener's own default is TCP. Upstream's extensions do the same, for the same shoots.
func SetNodeLocalDNSWithoutTCP(shoot *gardencorev1beta1.Shoot) {
	components := shoot.Spec.SystemComponents
	if components == nil || components.NodeLocalDNS == nil {
		return
	}
	if cache := components.NodeLocalDNS; cache.Enabled && cache.ForceTCPToUpstreamDNS == nil {
		cache.ForceTCPToUpstreamDNS = new(false)
	}
}
