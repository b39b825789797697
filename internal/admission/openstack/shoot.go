package openstack

import "github.com/trellis-garden/trellis/internal/admission"

func shootWebhooks(admission.Garden, Options) []admission.Webhook { return nil }
