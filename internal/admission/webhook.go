package admission

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Webhook describes a webhook to whoever serves it and declares it to an API server.
type Webhook struct {
	// Name is unique: what it is about, then the type of its room. "shoot.openstack"
	Name string
	// Mutates is true for one that changes objects. The others only judge.
	Mutates bool
	// Runtime is true when objects in the runtime cluster are meant, where the process runs, instead of the garden's.
	Runtime bool
	// Rules and ObjectSelector say which requests are meant. A selector that selects everything goes with rules that are narrow enough.
	// Handler lets all others pass.
	Rules          []admissionregistrationv1.RuleWithOperations
	ObjectSelector metav1.LabelSelector
	Handler        admission.Handler
}

// Labelled selects objects by a label that Gardener itself keeps on those that have to do with a type
// (gardener/docs/extensions/admission.md), such as provider.extensions.gardener.cloud/openstack. prefix ends with the slash.
func Labelled(prefix, providerType string) metav1.LabelSelector {
	return metav1.LabelSelector{MatchLabels: map[string]string{prefix + providerType: "true"}}
}

// CreationsAndUpdates means creations and updates of one resource, in or outside of namespaces. A subresource is "shoots/status".
func CreationsAndUpdates(group, version, resource string) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource},
			Scope: new(admissionregistrationv1.AllScopes),
		},
	}}
}
