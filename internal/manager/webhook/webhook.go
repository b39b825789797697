package webhook

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Kind is the kind of a webhook.
type Kind string

const (
	// Mutating webhooks change or reject objects.
	Mutating Kind = "mutating"
	// Validating webhooks reject objects.
	Validating Kind = "validating"
)

// Webhook is an admission webhook that a binary serves.
type Webhook struct {
	// Name is one of manager.Binary.Webhooks. The API server knows the webhook as <name>.<binary>.extensions.gardener.cloud.
	Name string
	// Kind is required.
	Kind Kind
	// Garden is true for a webhook that the garden's API server calls, in a garden binary. The others are called by the API server of the process's
	// own cluster.
	Garden bool
	// Shoots is true for a mutating webhook that kube-apiservers of shoots call, on a port of its own. Others register it there (ShootRegistrations), with the
	// failure policy Ignore, so it has neither rules nor selectors here. It never denies a request: what its handler denies is logged, counted, and allowed.
	Shoots bool
	// Path of the endpoint. Defaults to "/" and the name.
	Path string
	// Rules select the operations and resources that the webhook is called for. A rule without scope selects objects with and without a namespace.
	Rules []admissionregistrationv1.RuleWithOperations
	// NamespaceSelector and ObjectSelector are required and must not select everything: without a selector, a failing webhook blocks the whole
	// cluster. Cluster-scoped objects match any NamespaceSelector.
	NamespaceSelector, ObjectSelector metav1.LabelSelector
	// AllNamespaces is true for a webhook without a NamespaceSelector. It needs no ObjectSelector either if its rules name groups and resources, and
	// none of Kubernetes itself: the cluster works without them, so a failing webhook does not block it.
	AllNamespaces bool
	// FailurePolicy applies when the webhook cannot be called. Defaults to Fail.
	FailurePolicy admissionregistrationv1.FailurePolicyType
	// Reinvoked is true for a mutating webhook that is called again if a later one, possibly of another binary, changes the object: what it sets depends on
	// what others set. It changes nothing when it is called again otherwise.
	Reinvoked bool
	// Timeout is how long the webhook may take, in whole seconds up to 30. Defaults to 10 seconds.
	Timeout time.Duration
	// Handler handles the requests. Its context ends with the Timeout, not with the process.
	Handler admission.Handler
}

const (
	defaultTimeout = 10 * time.Second
	maxTimeout     = 30 * time.Second // the API server takes no more
)

// completed returns the webhook with its defaults.
func (w Webhook) completed() Webhook {
	w.Path = cmp.Or(w.Path, "/"+w.Name)
	w.FailurePolicy = cmp.Or(w.FailurePolicy, admissionregistrationv1.Fail)
	w.Timeout = cmp.Or(w.Timeout, defaultTimeout)
	rules := make([]admissionregistrationv1.RuleWithOperations, 0, len(w.Rules))
	for _, rule := range w.Rules {
		if rule.Scope == nil {
			rule.Scope = new(admissionregistrationv1.AllScopes)
		}
		rules = append(rules, rule)
	}
	w.Rules = rules
	return w
}

// check returns all errors of a completed webhook.
func (w Webhook) check() error {
	var errs []error
	addf := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("webhook %q "+format, append([]any{w.Name}, args...)...))
	}
	if w.Kind != Mutating && w.Kind != Validating {
		addf("is neither mutating nor validating but %q", w.Kind)
	}
	if !strings.HasPrefix(w.Path, "/") {
		addf("has the path %q, which does not begin with a slash", w.Path)
	}
	for _, err := range w.checkRegistration() {
		addf("%w", err)
	}
	if w.FailurePolicy != admissionregistrationv1.Fail && w.FailurePolicy != admissionregistrationv1.Ignore {
		addf("has the failure policy %q", w.FailurePolicy)
	}
	if w.Timeout < time.Second || w.Timeout > maxTimeout || w.Timeout%time.Second != 0 {
		addf("has a timeout of %v: allowed are whole seconds from 1 to 30", w.Timeout)
	}
	if w.Handler == nil {
		addf("has no handler")
	}
	return errors.Join(errs...)
}

// checkRegistration returns what is wrong with what the API server is told of a webhook.
func (w Webhook) checkRegistration() []error {
	switch {
	case w.Shoots && (w.Garden || w.Kind != Mutating || len(w.Rules) > 0):
		return []error{errors.New("is for shoots: it must be mutating, not for the garden, and have no rules")}
	case w.Shoots:
		return nil
	case len(w.Rules) == 0:
		return append(w.checkSelection(), errors.New("has no rules: it would never be called"))
	default:
		return w.checkSelection()
	}
}

// complete returns the webhooks with their defaults. Its error names all invalid fields.
func complete(webhooks []Webhook, compiled []string) ([]Webhook, error) {
	completed := make([]Webhook, 0, len(webhooks))
	known, names, paths := sets.New(compiled...), sets.New[string](), sets.New[string]()
	var errs []error
	for _, w := range webhooks {
		w = w.completed()
		if !known.Has(w.Name) {
			errs = append(errs, fmt.Errorf("webhook %q is none of the binary's: %q", w.Name, compiled))
		}
		if names.Has(w.Name) {
			errs = append(errs, fmt.Errorf("webhook %q exists twice", w.Name))
		}
		if paths.Has(w.Path) {
			errs = append(errs, fmt.Errorf("webhook %q has the path %q of another one", w.Name, w.Path))
		}
		names.Insert(w.Name)
		paths.Insert(w.Path)
		if err := w.check(); err != nil {
			errs = append(errs, err)
		}
		completed = append(completed, w)
	}
	return completed, errors.Join(errs...)
}
