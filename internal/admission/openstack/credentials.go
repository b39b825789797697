package openstack

import "github.com/trellis-garden/trellis/internal/admission"

func credentialsWebhooks(admission.Garden) []admission.Webhook { return nil }
