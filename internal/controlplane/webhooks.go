package controlplane

import (
	"context"

	druidcorev1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
	"github.com/trellis-garden/trellis/internal/mutation"
)

// WebhookOptions configure the webhooks.
type WebhookOptions struct {
	// Types are the provider types to serve.
	Types []string
	// EtcdStorage is for the etcds in a seed of one of these types, whatever the types of their shoots.
	EtcdStorage tuning.EtcdStorage
	// Images are those that drivers may need on nodes.
	Images Images
}

// Webhooks returns the webhooks of some types. drivers has a driver for each. Of the objects that gardenlet marks for extensions in a shoot's namespace,
// machine-controller-manager belongs to the Worker contract.
//
// reader reads the Cluster and the ControlPlane of the namespace that a request is about. It should not cache: a Cluster is large, and
// few requests need it.
func Webhooks(drivers map[string]Driver, reader client.Reader, options WebhookOptions) ([]mutation.Webhook, error) {
	if err := contract.RequireDrivers("control plane", drivers, options.Types); err != nil {
		return nil, err
	}
	var webhooks []mutation.Webhook
	for _, name := range options.Types {
		webhooks = append(webhooks, shootWebhooks(name, &tuner{driver: drivers[name], reader: reader, images: options.Images[name]})...)
		webhooks = append(webhooks, etcdWebhook(name, options.EtcdStorage))
	}
	return webhooks, nil
}

func shootWebhooks(providerType string, t *tuner) []mutation.Webhook {
	marked := map[string]string{v1beta1constants.LabelExtensionProviderMutatedByControlplaneWebhook: "true"}
	webhooks := []mutation.Webhook{
		{
			Name:           "controlplane",
			Rules:          mutation.CreateAndUpdateRules("apps", "v1", "deployments"),
			ObjectSelector: metav1.LabelSelector{MatchLabels: marked},
			Handler:        mutation.Handler(appsv1.SchemeGroupVersion.WithKind("Deployment"), t.tuneDeployment),
		},
		{
			Name:           "operatingsystemconfig",
			Rules:          mutation.CreateAndUpdateRules(extensionsv1alpha1.SchemeGroupVersion.Group, extensionsv1alpha1.SchemeGroupVersion.Version, "operatingsystemconfigs"),
			ObjectSelector: metav1.LabelSelector{MatchLabels: marked},
			Handler:        mutation.Handler(extensionsv1alpha1.SchemeGroupVersion.WithKind("OperatingSystemConfig"), t.tuneOperatingSystemConfig),
		},
		{
			Name:  "cloudprovider",
			Rules: mutation.CreateAndUpdateRules("", "v1", "secrets"),
			ObjectSelector: metav1.LabelSelector{MatchLabels: map[string]string{
				v1beta1constants.GardenerPurpose: v1beta1constants.SecretNameCloudProvider,
			}},
			Handler: mutation.Handler(corev1.SchemeGroupVersion.WithKind("Secret"), t.completeCredentials),
		},
	}
	for i := range webhooks {
		webhooks[i].SetProviderType(v1beta1constants.LabelShootProvider, providerType)
	}
	return webhooks
}

// etcdWebhook selects by the type of the seed, not of the shoot: it concerns the seed's disks.
func etcdWebhook(providerType string, storage tuning.EtcdStorage) mutation.Webhook {
	version := druidcorev1alpha1.SchemeGroupVersion
	webhook := mutation.Webhook{
		Name:  "etcd",
		Rules: mutation.CreateAndUpdateRules(version.Group, version.Version, "etcds"),
		ObjectSelector: metav1.LabelSelector{
			MatchLabels: map[string]string{v1beta1constants.GardenRole: v1beta1constants.GardenRoleControlPlane},
			MatchExpressions: []metav1.LabelSelectorRequirement{{
				Key: v1beta1constants.LabelRole, Operator: metav1.LabelSelectorOpIn,
				Values: []string{v1beta1constants.ETCDRoleMain, v1beta1constants.ETCDRoleEvents},
			}},
		},
		Handler: mutation.Handler(version.WithKind("Etcd"), func(_ context.Context, etcd, old *druidcorev1alpha1.Etcd) error {
			tuning.TuneEtcd(etcd, old, storage)
			return nil
		}),
	}
	webhook.SetProviderType(v1beta1constants.LabelSeedProvider, providerType)
	return webhook
}
