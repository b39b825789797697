package controlplane

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/internal/mutation"
)

// ServiceTuner is implemented by a driver whose plans register a webhook for Services of the shoot, which this controller serves at ServiceWebhookPath.
type ServiceTuner interface {
	// TuneService changes a Service that is created or updated in a shoot with that webhook. old is nil for one that is created. It is pure, cannot fail, and
	// does not change what the user has chosen.
	TuneService(service, old *corev1.Service)
}

// ServiceWebhookName is the name of a type's webhook for Services of shoots.
func ServiceWebhookName(providerType string) string { return "shoot-services." + providerType }

// ServiceWebhookPath is where it is served.
func ServiceWebhookPath(providerType string) string { return "/shoot-services/" + providerType }

// ServiceWebhooks returns the webhooks for Services of shoots of some types. Their rules and selectors are in the plans.
func ServiceWebhooks(drivers map[string]Driver, types []string) []mutation.Webhook {
	var webhooks []mutation.Webhook
	for _, providerType := range types {
		tuner, is := drivers[providerType].(ServiceTuner)
		if !is {
			continue
		}
		webhooks = append(webhooks, mutation.Webhook{
			Name: ServiceWebhookName(providerType), Path: ServiceWebhookPath(providerType),
			Handler: mutation.Handler(corev1.SchemeGroupVersion.WithKind("Service"), func(_ context.Context, service, old *corev1.Service) error {
				tuner.TuneService(service, old)
				return nil
			}),
		})
	}
	return webhooks
}
