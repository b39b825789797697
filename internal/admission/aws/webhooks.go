package aws

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/admission"
)

// Type is the provider type of this package.
const Type = "aws"

// Options are the admin's settings.
type Options struct {
	// NodeLocalDNSWithoutTCP makes the node-local DNS of shoots query upstream servers by UDP by default. Existing shoots get it with their
	// next change.
	NodeLocalDNSWithoutTCP bool
}

// Webhooks returns all webhooks of this package.
func Webhooks(garden admission.Garden, options Options) []admission.Webhook {
	return slices.Concat(shootWebhooks(garden, options), cloudProfileWebhooks(garden), credentialsWebhooks(garden))
}
