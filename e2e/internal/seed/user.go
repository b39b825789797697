package seed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/trellis-garden/trellis/e2e/internal/account"
)

// controllerGroup is the group of all users of AddController; the audit policy selects it.
const controllerGroup = "trellis:controllers"

// Role has the rights of a controller: cluster-wide, and further ones in its own namespace.
type Role struct {
	Cluster, Namespace []rbacv1.PolicyRule
	// Policies deny requests that the rules permit. They name the user of AddController.
	Policies []*unstructured.Unstructured
}

// AddController creates a user with the given rights, and a namespace of the same name for the controller's own objects. It returns the path of
// the user's kubeconfig.
func (s *Seed) AddController(ctx context.Context, name string, role Role) (string, error) {
	user, err := s.environment.AddUser(envtest.User{Name: name, Groups: []string{controllerGroup}}, &rest.Config{})
	if err != nil {
		return "", fmt.Errorf("adding user %s: %w", name, err)
	}
	content, err := user.KubeConfig()
	if err != nil {
		return "", fmt.Errorf("encoding the kubeconfig of %s: %w", name, err)
	}
	path := filepath.Join(s.dir, name+".kubeconfig")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return "", fmt.Errorf("writing the kubeconfig of %s: %w", name, err)
	}
	objects := role.objects(name)
	for _, policy := range role.Policies {
		objects = append(objects, policy.DeepCopy())
	}
	for _, object := range objects {
		if err := s.Client.Create(ctx, object); err != nil {
			return "", fmt.Errorf("granting %s its rights: %w", name, err)
		}
	}
	return path, nil
}

// KubeconfigOf returns the path of a kubeconfig with a token of a ServiceAccount, as a kubelet gives it to its pods.
func (s *Seed) KubeconfigOf(ctx context.Context, namespace, serviceAccount string) (string, error) {
	return account.Kubeconfig(ctx, s.Client, s.Config, s.dir, namespace, serviceAccount)
}

func (r Role) objects(name string) []client.Object {
	global := metav1.ObjectMeta{Name: name}
	local := metav1.ObjectMeta{Name: name, Namespace: name}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}
	return []client.Object{
		&corev1.Namespace{ObjectMeta: global},
		&rbacv1.ClusterRole{ObjectMeta: global, Rules: r.Cluster},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: global, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		},
		&rbacv1.Role{ObjectMeta: local, Rules: r.Namespace},
		&rbacv1.RoleBinding{
			ObjectMeta: local, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		},
	}
}
