package gardenet

import "github.com/trellis-garden/trellis/internal/admission"

// Type is the network type of this package.
const Type = "gardenet"

// Webhooks returns all webhooks of this package. They need nothing but the request.
func Webhooks() []admission.Webhook {
	return admission.NetworkShoots{Type: Type, SetDefaults: setDefaults, Validate: validate}.Webhooks()
}
