package calico

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/trellis-garden/trellis/internal/admission"
	"github.com/trellis-garden/trellis/internal/mutation"
)

// Type is the network type that the room is about.
const Type = "calico"

// Options are what an admin decides.
type Options struct {
	// OverlayOff are the types of infrastructure on which new shoots have no overlay, unless they say otherwise. It is for clouds that make
	// routes to pods then, and nodes that may send packets of pods.
	OverlayOff []string
	// PodRoutes are the types of infrastructure on which nodes tell each other the ways to their pods where the overlay is off, unless the
	// shoot says otherwise.
	PodRoutes []string
}

// Webhooks are all of the room's. Whoever calls them needs nothing of the garden but the request.
func Webhooks(options Options) []admission.Webhook {
	shoots := admission.CreationsAndUpdates(gardencorev1beta1.GroupName, gardencorev1beta1.SchemeGroupVersion.Version, "shoots")
	selected := admission.Labelled(v1beta1constants.LabelExtensionNetworkingTypePrefix, Type)
	return []admission.Webhook{
		{
			Name: "shootdefaults." + Type, Mutates: true, Rules: shoots, ObjectSelector: selected,
			Handler: mutation.Handler(shootKind(), options.setDefaults),
		},
		{
			Name: "shoot." + Type, Rules: shoots, ObjectSelector: selected,
			Handler: admission.Validate(shootKind(), validate),
		},
	}
}

func shootKind() schema.GroupVersionKind {
	return gardencorev1beta1.SchemeGroupVersion.WithKind("Shoot")
}
