package installations

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

const (
	// account is the name of an operator's ServiceAccount in the garden, in a namespace of its own.
	account = "extension-operator"
	// servedBy is the label of Seeds that names the operator in the garden that serves them.
	servedBy = "operator"
	// often is the shortest permitted sync period, with which unnecessary work is found. seldom is for operators with many installations, which react to
	// events.
	often, seldom = "--sync-period=1s", "--sync-period=10s"

	manySeeds, oneSeed = "operator-of-many", "operator-of-one"
)

// operator is a process with an identity in the garden.
type operator struct {
	*controller.Controller
	namespace string // of its ServiceAccount
	options   controller.ControllerInstallationOptions
}

func (o *operator) user() string { return audit.UserOf(o.namespace, account) }

// startOperators starts one that serves many seeds and one for the inner seed; and two for failing installations. Each has exactly its charts' rights
// in the garden.
func (env *environment) startOperators(t *testing.T) {
	t.Helper()
	for _, object := range rights() {
		require.NoError(t, env.Client.Create(t.Context(), object))
	}
	env.startOperator(t, byGarden, manySeeds, "garden", controller.ControllerInstallationOptions{
		Args: []string{"--seed-selector=" + servedBy + "=garden", often},
	})
	env.startOperator(t, bySeed, oneSeed, "seed-"+env.inner.name, controller.ControllerInstallationOptions{
		Own: env.inner.Kubeconfig, SeedName: env.inner.name, Args: []string{often},
	})
	env.startOperator(t, broken, manySeeds, "seed-"+broken, controller.ControllerInstallationOptions{
		Args: []string{"--seed-selector=" + servedBy + "=" + broken, seldom},
	})
	env.startOperator(t, enclosed, oneSeed, "seed-"+enclosed, controller.ControllerInstallationOptions{
		Own: env.bare.Kubeconfig, SeedName: enclosed, Args: []string{seldom},
	})
}

// startOperator starts one as a ServiceAccount with a role in the garden. Its own cluster is the garden if none is given.
func (env *environment) startOperator(t *testing.T, name, role, namespace string, options controller.ControllerInstallationOptions) {
	t.Helper()
	kubeconfig := env.addAccount(t, namespace, name, role)
	if options.Own == "" {
		options.Own = kubeconfig
	} else {
		options.Garden = kubeconfig
	}
	options.Path, options.Output, options.Namespace = env.path, filepath.Join(env.dir, "operator-"+name+".log"), "garden"
	env.operators[name] = &operator{namespace: namespace, options: options}
	env.start(t, name)
	t.Cleanup(func() {
		env.end(t, name)
		tail(t, options.Output)
	})
}

// start starts an operator, again if it has run before.
func (env *environment) start(t *testing.T, name string) {
	t.Helper()
	running, err := controller.ControllerInstallation().StartControllerInstallation(t.Context(), env.operators[name].options)
	require.NoError(t, err)
	env.operators[name].Controller = running
}

func (env *environment) end(t *testing.T, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
	defer cancel()
	env.operators[name].End(ctx)
}

// addAccount creates a ServiceAccount with the rights of its role, and returns its kubeconfig.
func (env *environment) addAccount(t *testing.T, namespace, name, role string) string {
	t.Helper()
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: namespace}}
	refTo := func(role string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
	}
	objects := []client.Object{
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account, Namespace: namespace}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: subjects, RoleRef: refTo(role)},
	}
	in := map[string]bool{"garden": true, "kube-system": true, "default": true, namespace: true}
	for namespace := range in {
		objects = append(objects, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Subjects: subjects, RoleRef: refTo(role + inNamespaces),
		})
	}
	for _, object := range objects {
		require.NoError(t, env.Client.Create(t.Context(), object))
	}
	kubeconfig, err := env.KubeconfigOf(t.Context(), namespace, account)
	require.NoError(t, err)
	return kubeconfig
}

// inNamespaces is the suffix of the names of ClusterRoles that are bound in few namespaces: in those of objects that registrations refer to, of the
// garden's identity, of Events of cluster-scoped objects, and, for an operator in a seed, in that of its seed.
const inNamespaces = "-in-namespaces"

// rights are the rights of each of the two in the garden. That of one seed has no more rights than Gardener's SeedAuthorizer gives to extensions
// there (gardener/pkg/admissioncontroller/webhook/auth/seed), as far as RBAC can express it, except deleting a ServiceAccount.
func rights() []client.Object {
	const core = gardencorev1.GroupName
	rule := func(group, resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
	}
	role := func(name string, rules ...rbacv1.PolicyRule) client.Object {
		return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	}
	everywhere := []rbacv1.PolicyRule{
		rule(core, "controllerinstallations", "get", "list", "watch", "patch"),
		rule(core, "controllerinstallations/status", "patch"),
		rule(core, "controllerregistrations", "get"),
	}
	inBoth := []rbacv1.PolicyRule{
		rule("", "configmaps", "get"),
		rule("", "secrets", "get"),
		rule("events.k8s.io", "events", "create", "patch"),
	}
	return []client.Object{
		role(oneSeed, append([]rbacv1.PolicyRule{rule(core, "controllerdeployments", "get"), rule(core, "seeds", "get")}, everywhere...)...),
		role(oneSeed+inNamespaces, append([]rbacv1.PolicyRule{rule("", "serviceaccounts", "delete")}, inBoth...)...),
		role(manySeeds, append([]rbacv1.PolicyRule{
			rule(core, "controllerdeployments", "get", "list", "watch", "patch"),
			rule(core, "seeds", "get", "list", "watch"),
			rule("", "serviceaccounts", "delete"),
		}, everywhere...)...),
		role(manySeeds+inNamespaces, append([]rbacv1.PolicyRule{
			rule("apps", "controllerrevisions", "get", "list", "create", "patch", "delete"),
			rule("seedmanagement.gardener.cloud", "managedseeds", "get"),
			rule(core, "shoots", "get"),
			rule(core, "shoots/adminkubeconfig", "create"),
		}, inBoth...)...),
	}
}
