package webhook

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var errSelectsEverything = errors.New("it selects everything")

// checkSelection returns why the webhook would be called for more than it may be.
func (w Webhook) checkSelection() []error {
	var wrong []error
	namespaces, objects := checkSelector(w.NamespaceSelector), checkSelector(w.ObjectSelector)
	if w.Everywhere {
		return w.checkEverywhere(namespaces, objects)
	}
	if namespaces != nil {
		wrong = append(wrong, fmt.Errorf("has a wrong namespace selector: %w", namespaces))
	}
	if objects != nil {
		wrong = append(wrong, fmt.Errorf("has a wrong object selector: %w", objects))
	}
	return wrong
}

func (w Webhook) checkEverywhere(namespaces, objects error) []error {
	var wrong []error
	if !errors.Is(namespaces, errSelectsEverything) {
		wrong = append(wrong, errors.New("is everywhere, but has a namespace selector"))
	}
	narrowed := objects == nil && asksForLabels(w.ObjectSelector)
	if objects != nil && !errors.Is(objects, errSelectsEverything) {
		wrong = append(wrong, fmt.Errorf("has a wrong object selector: %w", objects))
	}
	for _, rule := range w.Rules {
		for _, group := range rule.APIGroups {
			if group == "*" || !narrowed && ofKubernetes(group) {
				wrong = append(wrong, fmt.Errorf("is everywhere, but about the group %q: clusters need it to live", group))
			}
		}
		if i := slices.IndexFunc(rule.Resources, func(r string) bool { return strings.Contains(r, "*") }); i >= 0 {
			wrong = append(wrong, fmt.Errorf("is everywhere, but about the resources %q instead of those that it means", rule.Resources[i]))
		}
	}
	return wrong
}

// asksForLabels reports whether a selector selects only what has a label. Others may be about nearly everything.
func asksForLabels(selector metav1.LabelSelector) bool {
	return len(selector.MatchLabels) > 0 || slices.ContainsFunc(selector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
		return r.Operator == metav1.LabelSelectorOpIn || r.Operator == metav1.LabelSelectorOpExists
	})
}

// ofKubernetes reports whether the API group is one of Kubernetes itself: those are reserved names or have none with a dot
// (https://github.com/kubernetes/enhancements/pull/1111).
func ofKubernetes(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, "k8s.io") || strings.HasSuffix(group, "kubernetes.io")
}

func checkSelector(selector metav1.LabelSelector) error {
	parsed, err := metav1.LabelSelectorAsSelector(&selector)
	if err == nil && parsed.Empty() {
		return errSelectsEverything
	}
	return err
}
