package worker

import (
	"context"
	"fmt"
	"slices"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"

	"github.com/trellis-garden/trellis/internal/mutation"
)

// The names of the webhooks, unique among the contracts.
const (
	webhookManager    = "machinecontrollermanager"
	webhookManagerVPA = "machinecontrollermanagervpa"
)

// roleManager is the value of the label role of machine-controller-manager's objects.
const roleManager = "machine-controller-manager"

// WebhookNames returns the names of all webhooks for some types.
func WebhookNames(types []string) []string {
	var names []string
	for _, providerType := range types {
		names = append(names, webhookManager+"."+providerType, webhookManagerVPA+"."+providerType)
	}
	return names
}

// WebhookOptions says how the webhooks add machine controllers.
type WebhookOptions struct {
	// Image finds the machine controller's image by its name, which is also the container's.
	Image func(name string) (string, error)
	// MemoryLimit is the container's limit, zero for none.
	MemoryLimit resource.Quantity
	// WorkloadIdentities lists the types whose clouds know workload identities: their machine controllers get a file with the token of one.
	WorkloadIdentities []string
}

// Webhooks returns the webhooks of some types: they add the machine controller of the shoot's type to the
// machine-controller-manager that gardenlet deploys.
//
// They make no requests: the objects themselves have all inputs.
func Webhooks(types []string, options WebhookOptions) ([]mutation.Webhook, error) {
	var webhooks []mutation.Webhook
	for _, providerType := range types {
		image, err := options.Image(sidecarName(providerType))
		if err != nil {
			return nil, fmt.Errorf("finding the machine controller for type %q: %w", providerType, err)
		}
		webhooks = append(webhooks, managerWebhook(sidecar{
			providerType: providerType, image: image, memoryLimit: options.MemoryLimit,
			workloadIdentity: slices.Contains(options.WorkloadIdentities, providerType),
		}), managerVPAWebhook(providerType))
	}
	return webhooks, nil
}

func managerWebhook(added sidecar) mutation.Webhook {
	version := appsv1.SchemeGroupVersion
	webhook := mutation.Webhook{
		Name:  webhookManager,
		Rules: mutation.CreateAndUpdateRules(version.Group, version.Version, "deployments"),
		ObjectSelector: metav1.LabelSelector{MatchLabels: map[string]string{
			v1beta1constants.LabelExtensionProviderMutatedByControlplaneWebhook: "true",
			v1beta1constants.LabelRole: roleManager,
		}},
		Handler: mutation.Handler(version.WithKind("Deployment"), func(_ context.Context, deployment, _ *appsv1.Deployment) error {
			if deployment.Name != nameManager {
				return nil
			}
			if err := added.addTo(deployment); err != nil {
				return fmt.Errorf("completing Deployment %s/%s: %w", deployment.Namespace, deployment.Name, err)
			}
			return nil
		}),
	}
	webhook.SetProviderType(v1beta1constants.LabelShootProvider, added.providerType)
	return webhook
}

func managerVPAWebhook(providerType string) mutation.Webhook {
	version := vpaautoscalingv1.SchemeGroupVersion
	webhook := mutation.Webhook{
		Name:  webhookManagerVPA,
		Rules: mutation.CreateAndUpdateRules(version.Group, version.Version, "verticalpodautoscalers"),
		ObjectSelector: metav1.LabelSelector{MatchLabels: map[string]string{
			v1beta1constants.LabelExtensionProviderMutatedByControlplaneWebhook: "true",
		}},
		Handler: mutation.Handler(version.WithKind("VerticalPodAutoscaler"),
			func(_ context.Context, vpa, _ *vpaautoscalingv1.VerticalPodAutoscaler) error {
				if vpa.Name == nameManagerVPA {
					addSidecarPolicy(vpa, providerType)
				}
				return nil
			}),
	}
	webhook.SetProviderType(v1beta1constants.LabelShootProvider, providerType)
	return webhook
}
