package mutation

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Webhook describes a mutating webhook to whoever serves it and declares it to the API server.
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

// SetProviderType finishes a webhook whose Name says only what it is about: it is for namespaces whose label names the type.
func (w *Webhook) SetProviderType(namespaceLabel, providerType string) {
	w.Path = "/" + w.Name + "/" + providerType
	w.Name += "." + providerType
	w.NamespaceSelector = metav1.LabelSelector{MatchLabels: map[string]string{namespaceLabel: providerType}}
}

// CreateAndUpdateRules means the creations and updates of one resource that lives in namespaces.
func CreateAndUpdateRules(group, version, resource string) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource},
			Scope: new(admissionregistrationv1.NamespacedScope),
		},
	}}
}
