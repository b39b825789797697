package webhook

import (
	"fmt"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// webhookName follows upstream: gardener/extensions/pkg/webhook/registration.go.
func webhookName(name, binary string) string {
	return fmt.Sprintf("%s.%s.extensions.gardener.cloud", name, binary)
}

// configuration is a MutatingWebhookConfiguration or a ValidatingWebhookConfiguration.
type configuration interface {
	// object is the object as last read or written.
	object() client.Object
	// wanted reports whether the binary has webhooks for the object.
	wanted() bool
	// bundles returns the CA bundles in the object, one per webhook.
	bundles() [][]byte
	// overwrite replaces the webhooks in the object by those of the binary.
	overwrite(caBundle []byte)
}

// configurations returns the desired configurations of both kinds. They have the same name.
func configurations(name, binary string, webhooks []Webhook, address address) []configuration {
	desired := map[Kind][]admissionregistrationv1.MutatingWebhook{}
	for _, w := range webhooks {
		desired[w.Kind] = append(desired[w.Kind], w.registration(binary, address))
	}
	m := &mutating{desired: desired[Mutating]}
	v := &validating{}
	for _, w := range desired[Validating] {
		v.desired = append(v.desired, asValidating(w))
	}
	m.Name, v.Name = name, name
	return []configuration{m, v}
}

// setDesired sets the desired labels, annotations and owner of an object. Labels and annotations of others stay.
func setDesired(c configuration, owner metav1.OwnerReference, caBundle []byte) {
	c.overwrite(caBundle)
	object := c.object()
	// Otherwise Gardener would change timeouts and failure policies that it considers risky.
	ours := labels.Set{v1beta1constants.LabelExcludeWebhookFromRemediation: "true"}
	object.SetLabels(labels.Merge(object.GetLabels(), ours))
	object.SetOwnerReferences([]metav1.OwnerReference{owner})
}

// registration is a webhook of a configuration without its CA bundle. Every field has a value, also if the API server has a default, so that the
// actual and the desired object can be compared.
func (w Webhook) registration(binary string, address address) admissionregistrationv1.MutatingWebhook {
	reinvocation := admissionregistrationv1.NeverReinvocationPolicy
	if w.Reinvoked {
		reinvocation = admissionregistrationv1.IfNeededReinvocationPolicy
	}
	return admissionregistrationv1.MutatingWebhook{
		Name:              webhookName(w.Name, binary),
		ClientConfig:      address.clientConfig(w.Path, nil),
		Rules:             w.Rules,
		FailurePolicy:     &w.FailurePolicy,
		NamespaceSelector: &w.NamespaceSelector,
		ObjectSelector:    &w.ObjectSelector,
		// A write in another API version calls the webhook too.
		MatchPolicy:             new(admissionregistrationv1.Equivalent),
		SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds:          new(int32(w.Timeout / time.Second)),
		AdmissionReviewVersions: []string{"v1"},
		ReinvocationPolicy:      &reinvocation,
	}
}

func asValidating(w admissionregistrationv1.MutatingWebhook) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{
		Name:                    w.Name,
		ClientConfig:            w.ClientConfig,
		Rules:                   w.Rules,
		FailurePolicy:           w.FailurePolicy,
		NamespaceSelector:       w.NamespaceSelector,
		ObjectSelector:          w.ObjectSelector,
		MatchPolicy:             w.MatchPolicy,
		SideEffects:             w.SideEffects,
		TimeoutSeconds:          w.TimeoutSeconds,
		AdmissionReviewVersions: w.AdmissionReviewVersions,
	}
}

type mutating struct {
	admissionregistrationv1.MutatingWebhookConfiguration
	desired []admissionregistrationv1.MutatingWebhook
}

var _ configuration = (*mutating)(nil)

func (m *mutating) object() client.Object { return &m.MutatingWebhookConfiguration }

func (m *mutating) wanted() bool { return len(m.desired) > 0 }

func (m *mutating) bundles() [][]byte {
	bundles := make([][]byte, 0, len(m.Webhooks))
	for _, w := range m.Webhooks {
		bundles = append(bundles, w.ClientConfig.CABundle)
	}
	return bundles
}

func (m *mutating) overwrite(caBundle []byte) {
	m.Webhooks = make([]admissionregistrationv1.MutatingWebhook, 0, len(m.desired))
	for _, w := range m.desired {
		w.ClientConfig.CABundle = caBundle
		m.Webhooks = append(m.Webhooks, *w.DeepCopy()) // answers of the API server are decoded into it
	}
}

type validating struct {
	admissionregistrationv1.ValidatingWebhookConfiguration
	desired []admissionregistrationv1.ValidatingWebhook
}

var _ configuration = (*validating)(nil)

func (v *validating) object() client.Object { return &v.ValidatingWebhookConfiguration }

func (v *validating) wanted() bool { return len(v.desired) > 0 }

func (v *validating) bundles() [][]byte {
	bundles := make([][]byte, 0, len(v.Webhooks))
	for _, w := range v.Webhooks {
		bundles = append(bundles, w.ClientConfig.CABundle)
	}
	return bundles
}

func (v *validating) overwrite(caBundle []byte) {
	v.Webhooks = make([]admissionregistrationv1.ValidatingWebhook, 0, len(v.desired))
	for _, w := range v.desired {
		w.ClientConfig.CABundle = caBundle
		v.Webhooks = append(v.Webhooks, *w.DeepCopy())
	}
}
