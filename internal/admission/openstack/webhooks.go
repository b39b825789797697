package openstack

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/admission"
)

// Type is the provider type that the room is about.
const Type = "openstack"

// Options are what an admin decides.
type Options struct {
	// NodeLocalDNSWithoutTCP lets the node-local DNS of shoots ask upstream by UDP, unless the shoot says otherwise. Shoots from before follow
	// when they are changed the next time.
	NodeLocalDNSWithoutTCP bool
}

// Webhooks are all of the room's.
func Webhooks(garden admission.Garden, options Options) []admission.Webhook {
	return slices.Concat(shootWebhooks(garden, options), cloudProfileWebhooks(garden), credentialsWebhooks(garden))
}
