package aws

import (
	"github.com/trellis-garden/trellis/apis/aws/validation"
	"github.com/trellis-garden/trellis/internal/admission"
)

// credentialsWebhooks accept any other access key for credentials in use: a key does not say which account it is of.
func credentialsWebhooks(garden admission.Garden) []admission.Webhook {
	return admission.Credentials{
		Type: Type, Garden: garden,
		Validate:         validation.ValidateCredentials,
		ValidateIdentity: validation.ValidateWorkloadIdentity,
	}.Webhooks()
}
