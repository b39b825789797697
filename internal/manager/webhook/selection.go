package webhook

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var errSelectsEverything = errors.New("it selects everything")

// checkSelection returns an error if the webhook's selectors select too much.
func (w Webhook) checkSelection() []error {
	var errs []error
	namespaces, objects := checkSelector(w.NamespaceSelector), checkSelector(w.ObjectSelector)
	if w.AllNamespaces {
		return w.checkAllNamespaces(namespaces, objects)
	}
	if namespaces != nil {
		errs = append(errs, fmt.Errorf("has a wrong namespace selector: %w", namespaces))
	}
	if objects != nil {
		errs = append(errs, fmt.Errorf("has a wrong object selector: %w", objects))
	}
	return errs
}

func (w Webhook) checkAllNamespaces(namespaces, objects error) []error {
	var errs []error
	if !errors.Is(namespaces, errSelectsEverything) {
		errs = append(errs, errors.New("is everywhere, but has a namespace selector"))
	}
	narrowed := objects == nil && requiresLabel(w.ObjectSelector)
	if objects != nil && !errors.Is(objects, errSelectsEverything) {
		errs = append(errs, fmt.Errorf("has a wrong object selector: %w", objects))
	}
	for _, rule := range w.Rules {
		for _, group := range rule.APIGroups {
			if group == "*" || !narrowed && isKubernetesGroup(group) {
				errs = append(errs, fmt.Errorf("is everywhere, but about the group %q: clusters need it to live", group))
			}
		}
		if i := slices.IndexFunc(rule.Resources, func(r string) bool { return strings.Contains(r, "*") }); i >= 0 {
			errs = append(errs, fmt.Errorf("is everywhere, but about the resources %q instead of those that it means", rule.Resources[i]))
		}
	}
	return errs
}

// requiresLabel reports whether a selector selects only objects with a certain label. Other selectors may select nearly everything.
func requiresLabel(selector metav1.LabelSelector) bool {
	return len(selector.MatchLabels) > 0 || slices.ContainsFunc(selector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
		return r.Operator == metav1.LabelSelectorOpIn || r.Operator == metav1.LabelSelectorOpExists
	})
}

// isKubernetesGroup reports whether the API group is one of Kubernetes itself: such a group has a reserved name or no dot in it
// (https://github.com/kubernetes/enhancements/pull/1111).
func isKubernetesGroup(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, "k8s.io") || strings.HasSuffix(group, "kubernetes.io")
}

func checkSelector(selector metav1.LabelSelector) error {
	parsed, err := metav1.LabelSelectorAsSelector(&selector)
	if err == nil && parsed.Empty() {
		return errSelectsEverything
	}
	return err
}
