package controller

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// withRole gives a binary the rights of its chart in a seed. Its namespace and its release have the binary's name.
//
// It panics if the chart in this checkout cannot be rendered; the charts' tests say why.
func withRole(b Binary) Binary {
	archive, err := charts.Archive(b.command(), "v0.0.0")
	if err == nil {
		b, err = WithRole(b, archive)
	}
	if err != nil {
		panic(err)
	}
	return b
}

// WithRole gives a binary the rights of a chart in a seed. Its namespace and its release have the binary's name.
func WithRole(b Binary, chart []byte) (Binary, error) {
	var err error
	b.Role, err = roleOf(b, chart)
	return b, err
}

func roleOf(b Binary, archive []byte) (seed.Role, error) {
	values := map[string]any{"types": b.Types}
	if slices.Contains(b.Args, asSecondary) {
		values["role"] = "secondary"
	}
	objects, err := charts.Render(archive, charts.Release{Name: b.Name, Namespace: b.Name}, values)
	if err != nil {
		return seed.Role{}, fmt.Errorf("rendering chart %s: %w", b.Name, err)
	}
	var role seed.Role
	for _, object := range objects {
		switch object.GetKind() {
		case "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
			// The policy for the status concerns all other users, and tests write a status as any user.
			if strings.HasPrefix(object.GetName(), "secrets.") {
				role.Policies = append(role.Policies, policyForUser(object, b.Name))
			}
		case "ClusterRole":
			err = appendRules(&role.Cluster, object)
		case "Role":
			if object.GetNamespace() != b.Name {
				return seed.Role{}, fmt.Errorf("chart %s has a Role in namespace %s, of which no test knows", b.Name, object.GetNamespace())
			}
			err = appendRules(&role.Namespace, object)
		}
		if err != nil {
			return seed.Role{}, fmt.Errorf("reading %s %s of chart %s: %w", object.GetKind(), object.GetName(), b.Name, err)
		}
	}
	return role, nil
}

// policyForUser turns a policy for the ServiceAccount of a chart into one for the tests' user.
func policyForUser(policy *unstructured.Unstructured, name string) *unstructured.Unstructured {
	account := fmt.Sprintf("system:serviceaccount:%s:gardener-extension-%s", name, name)
	conditions, found, err := unstructured.NestedSlice(policy.Object, "spec", "matchConditions")
	if err != nil || !found {
		return policy
	}
	for _, condition := range conditions {
		if fields, is := condition.(map[string]any); is {
			expression, _, _ := unstructured.NestedString(fields, "expression")
			fields["expression"] = strings.ReplaceAll(expression, account, name)
		}
	}
	policy = policy.DeepCopy()
	if err := unstructured.SetNestedSlice(policy.Object, conditions, "spec", "matchConditions"); err != nil {
		panic(err)
	}
	return policy
}

// appendRules adds the rules of a ClusterRole or a Role, which have the same fields.
func appendRules(rules *[]rbacv1.PolicyRule, object *unstructured.Unstructured) error {
	var role rbacv1.Role
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role); err != nil {
		return err
	}
	*rules = append(*rules, role.Rules...)
	return nil
}
