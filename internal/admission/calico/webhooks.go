package calico

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"

	"github.com/trellis-garden/trellis/internal/admission"
	"github.com/trellis-garden/trellis/internal/mutation"
)

// Type is the network type of this package.
const Type = "calico"

// Options are the admin's settings.
type Options struct {
	// OverlayOff are the types of infrastructure on which new shoots have no overlay by default. It is for clouds that then route to pods,
	// and let nodes send packets of pods.
	OverlayOff []string
	// PodRoutes are the types of infrastructure on which nodes by default distribute the routes to their pods if the overlay is off.
	PodRoutes []string
}

// Webhooks returns all webhooks of this package. They need nothing but the request.
func Webhooks(options Options) []admission.Webhook {
	shoots := admission.CreationsAndUpdates(gardencorev1beta1.GroupName, gardencorev1beta1.SchemeGroupVersion.Version, "shoots")
	selected := admission.Labelled(v1beta1constants.LabelExtensionNetworkingTypePrefix, Type)
	return []admission.Webhook{
		{
			Name: "shootdefaults." + Type, Mutates: true, Rules: shoots, ObjectSelector: selected,
			Handler: mutation.Handler(admission.ShootKind(), options.setDefaults),
		},
		{
			Name: "shoot." + Type, Rules: shoots, ObjectSelector: selected,
			Handler: admission.Validate(admission.ShootKind(), validate),
		},
	}
}
