package controlplane

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	druidcorev1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
)

// WebhookOptions say which webhooks there are.
type WebhookOptions struct {
	// Types are the provider types to serve.
	Types []string
	// EtcdStorage is what a seed of one of these types gives to the etcds of its shoots, of whatever type these are.
	EtcdStorage tuning.EtcdStorage
}

// Webhook describes a mutating webhook in the seed to whoever serves it and declares it to the API server.
type Webhook struct {
	// Name is unique, and in upstream's order: what, then the type. "controlplane.openstack"
	Name string
	// Path is where the server calls Handler. "/controlplane/openstack"
	Path string
	// Rules, NamespaceSelector and ObjectSelector say which requests are meant. Handler lets all others pass.
	Rules                             []admissionregistrationv1.RuleWithOperations
	NamespaceSelector, ObjectSelector metav1.LabelSelector
	Handler                           admission.Handler
}

// Webhooks returns the webhooks of some types. drivers holds a driver for each. Of what gardenlet marks for extensions in a
// shoot's namespace, the machine-controller-manager is left to the Worker contract.
//
// reader reads the Cluster resource of the namespace that a request is about. It should not cache: a Cluster is large, and few
// requests need it.
func Webhooks(drivers map[string]Driver, reader client.Reader, options WebhookOptions) ([]Webhook, error) {
	var webhooks []Webhook
	for _, name := range options.Types {
		driver := drivers[name]
		if driver == nil {
			return nil, fmt.Errorf("no control plane driver for type %q; there are: %s", name, strings.Join(slices.Sorted(maps.Keys(drivers)), ", "))
		}
		webhooks = append(webhooks, shootWebhooks(name, &tuner{driver: driver, reader: reader})...)
		webhooks = append(webhooks, etcdWebhook(name, options.EtcdStorage))
	}
	return webhooks, nil
}

func shootWebhooks(providerType string, t *tuner) []Webhook {
	marked := map[string]string{v1beta1constants.LabelExtensionProviderMutatedByControlplaneWebhook: "true"}
	webhooks := []Webhook{
		{
			Name:           "controlplane",
			Rules:          creationsAndUpdates("apps", "v1", "deployments"),
			ObjectSelector: metav1.LabelSelector{MatchLabels: marked},
			Handler:        mutating(appsv1.SchemeGroupVersion.WithKind("Deployment"), t.tuneDeployment),
		},
		{
			Name:           "operatingsystemconfig",
			Rules:          creationsAndUpdates(extensionsv1alpha1.SchemeGroupVersion.Group, extensionsv1alpha1.SchemeGroupVersion.Version, "operatingsystemconfigs"),
			ObjectSelector: metav1.LabelSelector{MatchLabels: marked},
			Handler:        mutating(extensionsv1alpha1.SchemeGroupVersion.WithKind("OperatingSystemConfig"), t.tuneOperatingSystemConfig),
		},
		{
			Name:  "cloudprovider",
			Rules: creationsAndUpdates("", "v1", "secrets"),
			ObjectSelector: metav1.LabelSelector{MatchLabels: map[string]string{
				v1beta1constants.GardenerPurpose: v1beta1constants.SecretNameCloudProvider,
			}},
			Handler: mutating(corev1.SchemeGroupVersion.WithKind("Secret"), t.completeCredentials),
		},
	}
	for i := range webhooks {
		webhooks[i].addressTo(v1beta1constants.LabelShootProvider, providerType)
	}
	return webhooks
}

// etcdWebhook goes by the type of the seed, not of the shoot: it is about the seed's disks.
func etcdWebhook(providerType string, storage tuning.EtcdStorage) Webhook {
	version := druidcorev1alpha1.SchemeGroupVersion
	webhook := Webhook{
		Name:  "etcd",
		Rules: creationsAndUpdates(version.Group, version.Version, "etcds"),
		ObjectSelector: metav1.LabelSelector{
			MatchLabels: map[string]string{v1beta1constants.GardenRole: v1beta1constants.GardenRoleControlPlane},
			MatchExpressions: []metav1.LabelSelectorRequirement{{
				Key: v1beta1constants.LabelRole, Operator: metav1.LabelSelectorOpIn,
				Values: []string{v1beta1constants.ETCDRoleMain, v1beta1constants.ETCDRoleEvents},
			}},
		},
		Handler: mutating(version.WithKind("Etcd"), func(_ context.Context, etcd, old *druidcorev1alpha1.Etcd) error {
			tuning.TuneEtcd(etcd, old, storage)
			return nil
		}),
	}
	webhook.addressTo(v1beta1constants.LabelSeedProvider, providerType)
	return webhook
}

// addressTo finishes a webhook that is the same for all types.
func (w *Webhook) addressTo(namespaceLabel, providerType string) {
	w.Path = "/" + w.Name + "/" + providerType
	w.Name += "." + providerType
	w.NamespaceSelector = metav1.LabelSelector{MatchLabels: map[string]string{namespaceLabel: providerType}}
}

func creationsAndUpdates(group, version, resource string) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource},
			Scope: new(admissionregistrationv1.NamespacedScope),
		},
	}}
}
