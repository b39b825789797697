package admission

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Webhook describes a webhook for the code that serves and registers it.
type Webhook struct {
	// Name is unique: the object, then the type, e.g. "shoot.openstack".
	Name string
	// Mutates is true for a mutating webhook. The others only validate.
	Mutates bool
	// Reinvoked is true for a mutating webhook that is called again if another one changes the object after it, since what it sets depends on that.
	Reinvoked bool
	// Runtime is true for objects in the runtime cluster, where the process runs, instead of the garden.
	Runtime bool
	// Rules and ObjectSelector select the requests. A selector may select everything if the rules are narrow enough. Handler accepts
	// all others.
	Rules          []admissionregistrationv1.RuleWithOperations
	ObjectSelector metav1.LabelSelector
	Handler        admission.Handler
}

// Labelled selects objects by a label that Gardener itself sets on objects of a type
// (gardener/docs/extensions/admission.md), such as provider.extensions.gardener.cloud/openstack. prefix ends with the slash.
func Labelled(prefix, providerType string) metav1.LabelSelector {
	return metav1.LabelSelector{MatchLabels: map[string]string{prefix + providerType: "true"}}
}

// CreationsAndUpdates selects creations and updates of one resource, namespaced or not. A subresource is written "shoots/status".
func CreationsAndUpdates(group, version, resource string) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource},
			Scope: new(admissionregistrationv1.AllScopes),
		},
	}}
}
