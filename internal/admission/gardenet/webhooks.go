package gardenet

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"

	"github.com/trellis-garden/trellis/internal/admission"
	"github.com/trellis-garden/trellis/internal/mutation"
)

// Type is the network type of this package.
const Type = "gardenet"

// Webhooks returns all webhooks of this package. They need nothing but the request.
func Webhooks() []admission.Webhook {
	shoots := admission.CreationsAndUpdates(gardencorev1beta1.GroupName, gardencorev1beta1.SchemeGroupVersion.Version, "shoots")
	selected := admission.Labelled(v1beta1constants.LabelExtensionNetworkingTypePrefix, Type)
	return []admission.Webhook{
		{
			Name: "shootdefaults." + Type, Mutates: true, Rules: shoots, ObjectSelector: selected,
			Handler: mutation.Handler(admission.ShootKind(), setDefaults),
		},
		{
			Name: "shoot." + Type, Rules: shoots, ObjectSelector: selected,
			Handler: admission.Validate(admission.ShootKind(), validate),
		},
	}
}
