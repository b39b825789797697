package main

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/charts"
)

// namespace stands for that of an installation, whose name nobody knows beforehand.
const namespace = "NAMESPACE"

// rights are those of one controller, or of admission in one cluster: in all namespaces, and beyond that in its own.
type rights struct {
	who            string
	everywhere, at []rbacv1.PolicyRule
}

// rightsOf renders a controller's chart as gardenlet does, and reads its roles.
func rightsOf(controller string) (rights, error) {
	return rightsIn(controller, charts.Release{Name: controller, Namespace: namespace}, []string{"type"})
}

// rightsOfAdmission are those in the runtime cluster and in the virtual garden, as gardener-operator gives them.
func rightsOfAdmission(types ...string) ([]rights, error) {
	var both []rights
	for _, half := range []struct{ cluster, chart, namespace string }{
		{"runtime cluster", charts.AdmissionRuntime, "garden"},
		{"virtual garden", charts.AdmissionApplication, "extension-admission"},
	} {
		one, err := rightsIn(half.chart, charts.Release{Name: "admission", Namespace: half.namespace}, types)
		if err != nil {
			return nil, err
		}
		one.who = half.cluster
		both = append(both, one)
	}
	return both, nil
}

func rightsIn(chart string, release charts.Release, types []string) (rights, error) {
	r := rights{who: chart}
	archive, err := charts.Archive(chart, "v0.0.0")
	if err != nil {
		return r, fmt.Errorf("packing chart %s: %w", chart, err)
	}
	objects, err := charts.Render(archive, release, map[string]any{"types": types})
	if err != nil {
		return r, fmt.Errorf("rendering chart %s: %w", chart, err)
	}
	for _, object := range objects {
		switch kind := object.GetKind(); {
		case kind == "ClusterRole":
			err = appendRules(&r.everywhere, object)
		case kind == "Role" && object.GetNamespace() == release.Namespace:
			err = appendRules(&r.at, object)
		case kind == "Role":
			err = fmt.Errorf("namespace %s is neither all nor its own", object.GetNamespace())
		}
		if err != nil {
			return r, fmt.Errorf("reading %s %s of chart %s: %w", object.GetKind(), object.GetName(), chart, err)
		}
	}
	return r, nil
}

// appendRules adds the rules of a ClusterRole or a Role, which have the same form.
func appendRules(rules *[]rbacv1.PolicyRule, object *unstructured.Unstructured) error {
	var role rbacv1.Role
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role); err != nil {
		return err
	}
	*rules = append(*rules, role.Rules...)
	return nil
}

// table has a row for each resource and a column for each controller, or cluster; in between verbs, with the names that they are bound to.
func table(all []rights, pick func(rights) []rbacv1.PolicyRule) string {
	cells := map[string]map[string][]string{} // by resource and column
	for _, one := range all {
		for _, rule := range pick(one) {
			for _, resource := range resources(rule) {
				if cells[resource] == nil {
					cells[resource] = map[string][]string{}
				}
				cells[resource][one.who] = append(cells[resource][one.who], cell(rule))
			}
		}
	}
	var rows []string
	for resource := range cells {
		rows = append(rows, resource)
	}
	slices.SortFunc(rows, byGroup)
	var text strings.Builder
	text.WriteString("| |")
	for _, one := range all {
		fmt.Fprintf(&text, " %s |", one.who)
	}
	text.WriteString("\n|---|" + strings.Repeat("---|", len(all)) + "\n")
	for _, row := range rows {
		fmt.Fprintf(&text, "| %s |", row)
		for _, one := range all {
			fmt.Fprintf(&text, " %s |", strings.Join(cells[row][one.who], "; "))
		}
		text.WriteString("\n")
	}
	return text.String()
}

// resources names what a rule is about, e.g. `deployments/scale` (apps).
func resources(rule rbacv1.PolicyRule) []string {
	var names []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			name := "`" + resource + "`"
			if group != "" {
				name += " (" + group + ")"
			}
			names = append(names, name)
		}
	}
	return names
}

// byGroup puts resources of one group side by side, Kubernetes' own first.
func byGroup(a, b string) int {
	group := func(s string) string {
		_, group, _ := strings.Cut(s, " (")
		return group
	}
	if order := strings.Compare(group(a), group(b)); order != 0 {
		return order
	}
	return strings.Compare(a, b)
}

func cell(rule rbacv1.PolicyRule) string {
	text := strings.Join(rule.Verbs, ", ")
	if len(rule.ResourceNames) > 0 {
		text += " of `" + strings.Join(rule.ResourceNames, "`, `") + "`"
	}
	return text
}
