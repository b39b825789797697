package openstack

import (
	"github.com/trellis-garden/trellis/apis/openstack/validation"
	"github.com/trellis-garden/trellis/internal/admission"
)

func credentialsWebhooks(garden admission.Garden) []admission.Webhook {
	return admission.Credentials{
		Type: Type, Garden: garden,
		Validate: validation.ValidateCredentials,
		Warnings: validation.CredentialsWarnings,
		// A shoot would lose its project.
		ValidateUsed: validation.ValidateCredentialsUpdate,
		InsteadOfIdentity: "OpenStack knows no workload identities: " +
			"refer to a Secret with a user's name and password, or with an application credential",
	}.Webhooks()
}
