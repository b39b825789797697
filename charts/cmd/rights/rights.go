package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/charts/registration"
)

// namespace stands for that of an installation, whose name nobody knows beforehand.
const namespace = "NAMESPACE"

// rights are those of one controller, or of what works for the garden in one cluster: in all namespaces, and beyond that in its own.
type rights struct {
	subject                  string
	clusterWide, inNamespace []rbacv1.PolicyRule
	// otherNamespaces are those in other namespaces, by their names.
	otherNamespaces map[string][]rbacv1.PolicyRule
	// bound are the names of roles that no chart describes.
	bound []string
}

// rightsOf renders a controller's chart as gardenlet does, with the types that it is registered for, and reads its roles.
func rightsOf(controller string) (rights, error) {
	entry, err := registrationOf(controller)
	if err != nil {
		return rights{}, err
	}
	return rightsOfEntry(entry)
}

// rightsOfSecondaries are those of all secondaries in the catalogue, by the names of their registrations.
func rightsOfSecondaries() ([]rights, error) {
	catalogue, err := registration.Read(charts.Catalogue())
	if err != nil {
		return nil, fmt.Errorf("reading the catalogue: %w", err)
	}
	var all []rights
	for _, entry := range catalogue.Registrations {
		if entry.Role != registration.RoleSecondary {
			continue
		}
		one, err := rightsOfEntry(entry)
		if err != nil {
			return nil, err
		}
		one.subject = entry.Name
		all = append(all, one)
	}
	return all, nil
}

func rightsOfEntry(entry registration.Entry) (rights, error) {
	values := map[string]any{"types": entry.Types, "role": entry.Role}
	one, err := rightsIn(entry.Chart, charts.Release{Name: entry.Name, Namespace: namespace}, values)
	if err != nil {
		return one, err
	}
	return one, one.rejectOtherNamespaces()
}

// withTypes returns the values of a chart without a role.
func withTypes(types ...string) map[string]any { return map[string]any{"types": types} }

// registrationOf returns the first registration of a controller in the catalogue, with the types of all its registrations.
func registrationOf(controller string) (registration.Entry, error) {
	catalogue, err := registration.Read(charts.Catalogue())
	if err != nil {
		return registration.Entry{}, fmt.Errorf("reading the catalogue: %w", err)
	}
	var found registration.Entry
	for _, entry := range catalogue.Registrations {
		if entry.Chart == controller && entry.Role == registration.RolePrimary {
			found.Name, found.Chart, found.Role = cmp.Or(found.Name, entry.Name), entry.Chart, entry.Role
			found.Types = append(found.Types, entry.Types...)
		}
	}
	if found.Name == "" {
		return found, fmt.Errorf("the catalogue has no registration of %s", controller)
	}
	return found, nil
}

// rejectOtherNamespaces keeps the page from being silent about rights that it has no place for.
func (r *rights) rejectOtherNamespaces() error {
	for name := range r.otherNamespaces {
		return fmt.Errorf("chart %s: namespace %s is neither all nor its own", r.subject, name)
	}
	if len(r.bound) > 0 {
		return fmt.Errorf("chart %s: nobody knows what may be done by %s", r.subject, strings.Join(r.bound, ", "))
	}
	return nil
}

// rightsOfInstaller are those of the operator that installs, where it works for many seeds: in the virtual garden everywhere, and in single namespaces of
// the runtime cluster and of the virtual garden, as gardener-operator gives them.
func rightsOfInstaller() (garden rights, namespaces []rights, err error) {
	runtimeHalf, err := rightsIn(charts.InstallationRuntime, charts.Release{Name: "controllerinstallation-garden", Namespace: "garden"}, withTypes("trellis"))
	if err != nil {
		return garden, nil, err
	}
	if err := runtimeHalf.rejectOtherNamespaces(); err != nil {
		return garden, nil, err
	}
	if len(runtimeHalf.clusterWide) > 0 {
		return garden, nil, fmt.Errorf("chart %s: the page has no place for rights in all namespaces of the runtime cluster", charts.InstallationRuntime)
	}
	garden, err = rightsIn(charts.InstallationApplication,
		charts.Release{Name: "controllerinstallation-garden", Namespace: "extension-controllerinstallation-garden"}, withTypes("trellis"))
	if err != nil {
		return garden, nil, err
	}
	garden.subject = "virtual garden"
	namespaces = []rights{{subject: "`garden` of the runtime cluster", inNamespace: runtimeHalf.inNamespace}}
	for _, name := range slices.Sorted(maps.Keys(garden.otherNamespaces)) {
		namespaces = append(namespaces, rights{subject: "`" + name + "` of the virtual garden", inNamespace: garden.otherNamespaces[name]})
	}
	return garden, namespaces, nil
}

// boundInSeed are the names of the roles that the operator has in a seed.
func boundInSeed() ([]string, error) {
	one, err := rightsIn(charts.InstallationSeed, charts.Release{Name: "controllerinstallation", Namespace: namespace}, withTypes("trellis"))
	return one.bound, err
}

// rightsOfAdmission are those in the runtime cluster and in the virtual garden, as gardener-operator gives them.
func rightsOfAdmission(types ...string) ([]rights, error) {
	var both []rights
	for _, half := range []struct{ cluster, chart, namespace string }{
		{"runtime cluster", charts.AdmissionRuntime, "garden"},
		{"virtual garden", charts.AdmissionApplication, "extension-admission"},
	} {
		one, err := rightsIn(half.chart, charts.Release{Name: "admission", Namespace: half.namespace}, withTypes(types...))
		if err != nil {
			return nil, err
		}
		if err := one.rejectOtherNamespaces(); err != nil {
			return nil, err
		}
		one.subject = half.cluster
		both = append(both, one)
	}
	return both, nil
}

func rightsIn(chart string, release charts.Release, values map[string]any) (rights, error) {
	r := rights{subject: chart, otherNamespaces: map[string][]rbacv1.PolicyRule{}}
	archive, err := charts.Archive(chart, "v0.0.0")
	if err != nil {
		return r, fmt.Errorf("packing chart %s: %w", chart, err)
	}
	objects, err := charts.Render(archive, release, values)
	if err != nil {
		return r, fmt.Errorf("rendering chart %s: %w", chart, err)
	}
	for _, object := range objects {
		if err := r.add(object, release.Namespace, objects); err != nil {
			return r, fmt.Errorf("reading %s %s of chart %s: %w", object.GetKind(), object.GetName(), chart, err)
		}
	}
	return r, nil
}

// add takes what an object of a chart with these objects gives.
func (r *rights) add(object *unstructured.Unstructured, own string, all []*unstructured.Unstructured) error {
	switch kind := object.GetKind(); {
	case kind == "ClusterRole":
		return appendRules(&r.clusterWide, object)
	case kind == "Role" && object.GetNamespace() == own:
		return appendRules(&r.inNamespace, object)
	case kind == "Role":
		rules := r.otherNamespaces[object.GetNamespace()]
		err := appendRules(&rules, object)
		r.otherNamespaces[object.GetNamespace()] = rules
		return err
	case kind == "ClusterRoleBinding" || kind == "RoleBinding":
		role, _, err := unstructured.NestedStringMap(object.Object, "roleRef")
		if err == nil && !slices.ContainsFunc(all, func(o *unstructured.Unstructured) bool {
			return o.GetKind() == role["kind"] && o.GetName() == role["name"]
		}) {
			r.bound = append(r.bound, role["name"])
		}
		return err
	}
	return nil
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
				cells[resource][one.subject] = append(cells[resource][one.subject], cell(rule))
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
		fmt.Fprintf(&text, " %s |", one.subject)
	}
	text.WriteString("\n|---|" + strings.Repeat("---|", len(all)) + "\n")
	for _, row := range rows {
		fmt.Fprintf(&text, "| %s |", row)
		for _, one := range all {
			fmt.Fprintf(&text, " %s |", strings.Join(cells[row][one.subject], "; "))
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
