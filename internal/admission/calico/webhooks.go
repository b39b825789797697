package calico

import "github.com/trellis-garden/trellis/internal/admission"

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
	return admission.NetworkShoots{Type: Type, SetDefaults: options.setDefaults, Validate: validate}.Webhooks()
}
