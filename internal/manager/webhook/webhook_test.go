package webhook

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func selectorOf(key, value string) metav1.LabelSelector {
	return metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

func allow(context.Context, admission.Request) admission.Response { return admission.Allowed("") }

// configMapWebhook is a webhook for ConfigMaps with the label admit=<name>, in namespaces with the label test=webhooks.
func configMapWebhook(name string, handler admission.HandlerFunc) Webhook {
	return Webhook{
		Name: name,
		Kind: Mutating,
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"},
			},
		}},
		NamespaceSelector: selectorOf("test", "webhooks"),
		ObjectSelector:    selectorOf("admit", name),
		Handler:           handler,
	}
}

func TestComplete_Defaults(t *testing.T) {
	completed, err := complete([]Webhook{configMapWebhook("controlplane", allow)}, []string{"controlplane", "cloudprovider"})
	require.NoError(t, err)
	require.Len(t, completed, 1)
	assert.Equal(t, "/controlplane", completed[0].Path)
	assert.Equal(t, admissionregistrationv1.Fail, completed[0].FailurePolicy)
	assert.Equal(t, 10*time.Second, completed[0].Timeout)
	assert.Equal(t, new(admissionregistrationv1.AllScopes), completed[0].Rules[0].Scope)
}

func TestComplete_InputUnchanged(t *testing.T) {
	webhook := configMapWebhook("controlplane", allow)
	_, err := complete([]Webhook{webhook}, []string{"controlplane"})
	require.NoError(t, err)
	assert.Nil(t, webhook.Rules[0].Scope)
}

func TestComplete_Invalid(t *testing.T) {
	tests := map[string]struct {
		change func(*Webhook)
		want   string
	}{
		"a webhook without a namespace selector": {
			change: func(w *Webhook) { w.NamespaceSelector = metav1.LabelSelector{} },
			want:   `webhook "a" has a wrong namespace selector: it selects everything`,
		},
		"a webhook without an object selector": {
			change: func(w *Webhook) { w.ObjectSelector = metav1.LabelSelector{} },
			want:   `webhook "a" has a wrong object selector: it selects everything`,
		},
		"a selector that makes no sense": {
			change: func(w *Webhook) {
				w.ObjectSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Is", Values: []string{"b"}}}
			},
			want: `webhook "a" has a wrong object selector: "Is" is not a valid label selector operator`,
		},
		"a webhook that is neither mutating nor validating": {
			change: func(w *Webhook) { w.Kind = "" },
			want:   `webhook "a" is neither mutating nor validating but ""`,
		},
		"a path that is none": {
			change: func(w *Webhook) { w.Path = "a" },
			want:   `webhook "a" has the path "a", which does not begin with a slash`,
		},
		"a webhook that would never be called": {
			change: func(w *Webhook) { w.Rules = nil },
			want:   `webhook "a" has no rules: it would never be called`,
		},
		"a failure policy that does not exist": {
			change: func(w *Webhook) { w.FailurePolicy = "Pass" },
			want:   `webhook "a" has the failure policy "Pass"`,
		},
		"a timeout that API servers refuse": {
			change: func(w *Webhook) { w.Timeout = time.Minute },
			want:   `webhook "a" has a timeout of 1m0s: allowed are whole seconds from 1 to 30`,
		},
		"a timeout that API servers can't be told": {
			change: func(w *Webhook) { w.Timeout = 1500 * time.Millisecond },
			want:   `webhook "a" has a timeout of 1.5s: allowed are whole seconds from 1 to 30`,
		},
		"a webhook for shoots that is registered elsewhere, too": {
			change: func(w *Webhook) { w.Shoots = true },
			want:   `webhook "a" is for shoots: it must be mutating, not for the garden, and have no rules`,
		},
		"a validating webhook for shoots": {
			change: func(w *Webhook) { w.Shoots, w.Rules, w.Kind = true, nil, Validating },
			want:   `webhook "a" is for shoots: it must be mutating, not for the garden, and have no rules`,
		},
		"a webhook for shoots and the garden": {
			change: func(w *Webhook) { w.Shoots, w.Rules, w.Garden = true, nil, true },
			want:   `webhook "a" is for shoots: it must be mutating, not for the garden, and have no rules`,
		},
		"a webhook without a handler": {
			change: func(w *Webhook) { w.Handler = nil },
			want:   `webhook "a" has no handler`,
		},
		"a webhook that --disable-webhooks can't name": {
			change: func(w *Webhook) { w.Name = "c" },
			want:   `webhook "c" is none of the binary's: ["a" "b"]`,
		},
		"two webhooks with one name": {
			change: func(w *Webhook) { w.Name, w.Path = "b", "/a" },
			want:   `webhook "b" exists twice`,
		},
		"two webhooks with one path": {
			change: func(w *Webhook) { w.Path = "/b" },
			want:   `webhook "b" has the path "/b" of another one`,
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			webhook := configMapWebhook("a", allow)
			test.change(&webhook)
			_, err := complete([]Webhook{webhook, configMapWebhook("b", allow)}, []string{"a", "b"})
			assert.EqualError(t, err, test.want)
		})
	}
}

func TestComplete_AllNamespaces(t *testing.T) {
	rule := func(group string, resources ...string) admissionregistrationv1.RuleWithOperations {
		return admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: resources},
		}
	}
	labelled := selectorOf("admit", "a")
	tests := map[string]struct {
		rule                admissionregistrationv1.RuleWithOperations
		namespaces, objects metav1.LabelSelector
		want                string
	}{
		"labelled objects of Kubernetes": {rule: rule("", "secrets"), objects: labelled},
		"labelled objects of others":     {rule: rule("core.gardener.cloud", "shoots", "namespacedcloudprofiles/status"), objects: labelled},
		"all objects of others":          {rule: rule("core.gardener.cloud", "controllerregistrations")},
		"but not those without a label, which are nearly all": {
			rule: rule("", "secrets"), want: `is everywhere, but about the group "": clusters need it to live`,
			objects: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpDoesNotExist}}},
		},
		"but not all of the core": {
			rule: rule("", "secrets"), want: `is everywhere, but about the group "": clusters need it to live`,
		},
		"nor all of another old group of Kubernetes": {
			rule: rule("apps", "deployments"), want: `is everywhere, but about the group "apps": clusters need it to live`,
		},
		"nor all of a newer one": {
			rule: rule("coordination.k8s.io", "leases"), want: `is everywhere, but about the group "coordination.k8s.io": clusters need it to live`,
		},
		"nor all groups, labelled or not": {
			rule: rule("*", "secrets"), objects: labelled, want: `is everywhere, but about the group "*": clusters need it to live`,
		},
		"nor all resources": {
			rule: rule("core.gardener.cloud", "shoots", "*"), want: `is everywhere, but about the resources "*" instead of those that it means`,
		},
		"nor all subresources": {
			rule: rule("core.gardener.cloud", "shoots/*"), objects: labelled,
			want: `is everywhere, but about the resources "shoots/*" instead of those that it means`,
		},
		"nor everywhere in some namespaces": {
			rule: rule("core.gardener.cloud", "shoots"), namespaces: labelled, want: `is everywhere, but has a namespace selector`,
		},
		"nor by a selector that makes no sense": {
			rule:    rule("core.gardener.cloud", "shoots"),
			objects: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Is", Values: []string{"b"}}}},
			want:    `has a wrong object selector: "Is" is not a valid label selector operator`,
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			webhook := configMapWebhook("a", allow)
			webhook.AllNamespaces = true
			webhook.Rules = []admissionregistrationv1.RuleWithOperations{test.rule}
			webhook.NamespaceSelector, webhook.ObjectSelector = test.namespaces, test.objects
			_, err := complete([]Webhook{webhook}, []string{"a"})
			if test.want == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, `webhook "a" `+test.want)
			}
		})
	}
}

func TestComplete_AllErrors(t *testing.T) {
	webhook := configMapWebhook("a", allow)
	webhook.Kind, webhook.Handler = "", nil
	_, err := complete([]Webhook{webhook, configMapWebhook("c", allow)}, []string{"a"})
	assert.EqualError(t, err, `webhook "a" is neither mutating nor validating but ""
webhook "a" has no handler
webhook "c" is none of the binary's: ["a"]`)
}
