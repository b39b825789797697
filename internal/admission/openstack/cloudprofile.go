package openstack

import "github.com/trellis-garden/trellis/internal/admission"

func cloudProfileWebhooks(admission.Garden) []admission.Webhook { return nil }
