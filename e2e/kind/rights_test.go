//go:build kind

package kind

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// right is a verb of a rule for one resource, with the object's name if the rule has names.
type right struct{ Verb, Group, Resource, Name string }

func (r right) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Verb, r.Group, r.Resource, r.Name))
}

// keys are its possible keys in rarelyUsed.
func (r right) keys() []string {
	return []string{r.Verb + " " + r.Resource, r.Verb + " " + r.Resource + " " + r.Name}
}

// rarelyUsed are rights that are not used by a shoot that is made, changed, put to sleep, woken up and deleted: by "verb resource", or "verb resource name" for
// one of several names, with the reason. The suites of the contracts, which run with the same roles, see nearly all of them used.
func rarelyUsed(binary string) map[string]string {
	const (
		fallback  = "a cache lists where an API server cannot begin a watch with what there is"
		events    = "an Event that happens again within minutes is counted up"
		renewal   = "certificates of webhooks are renewed after weeks"
		off       = "webhooks that are switched off are taken back"
		upstream  = "upstream's extension leaves them; the test of a move from there has them"
		restore   = "machines come along when a control plane moves to another seed"
		left      = "machines that nobody else deletes, when a shoot is deleted by force or was never whole"
		stuck     = "machine-controller-manager that is stuck gets a new pod"
		diagnosis = "pods are looked at where a component is ill, which it may never be when somebody looks"
		classes   = "machine classes are named by what they say; only labels and credentials ever change"
		gardenet  = "for shoots of another network type than the one here"
		versions  = "what is in them changes with versions, and they are let go of when a control plane moves to another seed"
	)
	webhooks := map[string]string{
		"update mutatingwebhookconfigurations": renewal, "delete mutatingwebhookconfigurations": off,
		"get validatingwebhookconfigurations": off, "delete validatingwebhookconfigurations": off,
	}
	reasons := map[string]map[string]string{
		"infrastructure-controller": {"list infrastructures": fallback},
		"controlplane-controller": {
			"list controlplanes": fallback, "list managedresources": fallback, "list pods": diagnosis,
			"patch managedresources extension-controlplane-shoot":               versions,
			"patch managedresources extension-controlplane-shoot-crds":          versions,
			"patch managedresources extension-controlplane-storageclasses":      versions,
			"patch managedresources extension-controlplane-configuration-seed":  upstream,
			"delete managedresources extension-controlplane-configuration-seed": upstream,
			"patch managedresources extension-controlplane-shoot-webhooks":      upstream,
			"delete managedresources extension-controlplane-shoot-webhooks":     upstream,
		},
		"network-controller": {
			"list networks": fallback, "list managedresources": fallback, "delete configmaps": upstream, "delete scrapeconfigs": upstream,
			"patch managedresources extension-networking-calico-seed": versions,
		},
		"worker-controller": {
			"list workers": fallback, "create machinesets": restore, "create machines": restore, "delete machinesets": left, "delete machines": left,
			"list pods": stuck, "delete pods": stuck, "patch machineclasses": classes,
		},
	}[binary]
	reasons["patch events"] = events
	if binary == "network-controller" {
		for _, verb := range []string{"get", "patch", "delete"} {
			reasons[verb+" managedresources extension-networking-gardenet-config"] = gardenet
			reasons[verb+" managedresources extension-networking-gardenet-seed"] = gardenet
		}
	}
	if binary == "controlplane-controller" || binary == "worker-controller" {
		maps.Copy(reasons, webhooks)
	}
	return reasons
}

// TestRights leads a shoot through its life, sleep and changes included, and looks at the API server's log of this and of all that was done before: no controller has asked for anything
// that it may not, and there is no right that none of its pods has used.
func TestRights(t *testing.T) {
	env := getEnvironment(t)
	shoot := env.newShoot(t, "rights")
	require.NoError(t, shoot.Create(t.Context()))
	shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
	shoot.NetworkConfig = &calicov1alpha1.NetworkConfig{
		TypeMeta: metav1.TypeMeta{APIVersion: calicov1alpha1.GroupVersion().String(), Kind: "NetworkConfig"}, VethMTU: new("1430"),
	}
	config := openstack.ControlPlaneConfig()
	config.LoadBalancerClasses = []openstackv1alpha1.LoadBalancerClass{{Name: "public", FloatingSubnetName: new("*")}}
	shoot.ControlPlaneConfig = config
	for _, hibernated := range []bool{true, false} {
		gardenlet.AwaitNextSecond(time.Now())
		shoot.Hibernated = hibernated
		require.NoError(t, shoot.ReconcileControlPlane(t.Context()))
		require.NoError(t, shoot.RequestNetwork(t.Context()))
		require.NoError(t, shoot.ReconcileWorker(t.Context()))
		require.NoError(t, shoot.AwaitNetwork(t.Context()))
		shoot.IsHibernated = hibernated
	}
	require.NoError(t, shoot.Delete(t.Context()))
	for _, binary := range controllers() {
		env.renewPods(t, binary) // watches are in the log when they have ended
	}
	for _, binary := range controllers() {
		t.Run(binary, func(t *testing.T) {
			asked := env.auditedRequests(t, binary)
			require.NotEmpty(t, asked)
			rights, reasons := env.rights(t, binary), rarelyUsed(binary)
			for _, r := range rights {
				if !slices.ContainsFunc(r.keys(), func(key string) bool { return reasons[key] != "" }) && !used(asked, r) {
					t.Errorf("nobody needs the right to %s", r)
				}
			}
			for what := range reasons {
				assert.True(t, slices.ContainsFunc(rights, func(r right) bool { return slices.Contains(r.keys(), what) }), "there is no right to %s", what)
			}
		})
	}
}

func used(asked []audit.Request, r right) bool {
	return slices.ContainsFunc(asked, func(request audit.Request) bool {
		return request.Verb == r.Verb && request.Group == r.Group && request.Resource == r.Resource && (r.Name == "" || request.Name == r.Name)
	})
}

// auditedRequests is all that pods of a controller have ever asked for, also in installations that are gone. None of it was forbidden, but for pods that end
// while their installation goes, whose rights may go first.
func (env *environment) auditedRequests(t *testing.T, binary string) []audit.Request {
	t.Helper()
	users, err := env.Audit().Users()
	require.NoError(t, err)
	var all []audit.Request
	installed := audit.UserOf(env.namespace(t, binary), kindseed.ObjectName(binary))
	for _, user := range users {
		if !strings.HasSuffix(user, ":"+kindseed.ObjectName(binary)) {
			continue
		}
		some, err := env.Audit().Requests(user)
		require.NoError(t, err)
		for _, request := range some {
			assert.False(t, request.Code == http.StatusForbidden && user == installed, "%v", request)
		}
		all = append(all, some...)
	}
	return all
}

// rights are those of an installed controller.
func (env *environment) rights(t *testing.T, binary string) []right {
	t.Helper()
	ofCluster := &rbacv1.ClusterRole{}
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKey{Name: "extensions.gardener.cloud:trellis:" + kindseed.RegistrationName(binary)}, ofCluster))
	ofNamespace := &rbacv1.Role{}
	key := client.ObjectKey{Namespace: env.namespace(t, binary), Name: kindseed.ObjectName(binary)}
	require.NoError(t, env.Client.Get(t.Context(), key, ofNamespace))
	var rights []right
	for _, rule := range slices.Concat(ofCluster.Rules, ofNamespace.Rules) {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						rights = append(rights, right{verb, group, resource, name})
					}
				}
			}
		}
	}
	return rights
}

// renewPods deletes all pods of a controller and waits for others.
func (env *environment) renewPods(t *testing.T, binary string) {
	t.Helper()
	old := env.readyPods(t, binary)
	for _, pod := range old {
		require.NoError(t, env.Client.Delete(t.Context(), &pod))
	}
	eventually(t, "other pods of "+binary+" are ready, and the old ones gone", func() bool {
		now, err := env.Pods(t.Context(), binary)
		require.NoError(t, err)
		return len(env.readyPods(t, binary)) == len(old) && !slices.ContainsFunc(now, func(pod corev1.Pod) bool {
			return slices.ContainsFunc(old, func(before corev1.Pod) bool { return pod.UID == before.UID })
		})
	})
}

// Groups of the API.
const (
	machines, ext, admission = "machine.sapcloud.io", "extensions.gardener.cloud", "admissionregistration.k8s.io"
	rbac, resources          = "rbac.authorization.k8s.io", "resources.gardener.cloud"
)

// requiredRights are rights that each controller must have.
func requiredRights() map[string][]right {
	return map[string][]right{
		"infrastructure-controller": {{"patch", ext, "infrastructures/status", "any"}, {"get", "", "secrets", "cloudprovider"}},
		"controlplane-controller": {
			{"patch", ext, "controlplanes/status", "any"},
			{"create", resources, "managedresources", ""},
			{"delete", resources, "managedresources", "extension-controlplane-seed"},
		},
		"network-controller": {
			{"patch", ext, "networks/status", "any"},
			{"create", resources, "managedresources", ""},
			{"delete", resources, "managedresources", "extension-networking-calico-config"},
			{"delete", "", "configmaps", "calico-monitoring-config"},
		},
		"worker-controller": {
			{"patch", ext, "workers/status", "any"},
			{"create", machines, "machinedeployments", ""},
			{"patch", "apps", "deployments/scale", "machine-controller-manager"},
		},
	}
}

// neverGranted are rights that none may have.
func neverGranted() []right {
	return []right{
		{"create", "", "pods", ""},
		{"create", "", "pods/exec", "any"},
		{"list", "", "nodes", ""},
		{"delete", "", "namespaces", "any"},
		{"create", "", "serviceaccounts/token", "any"},
		{"impersonate", "", "users", "any"},
		{"create", rbac, "clusterrolebindings", ""},
		{"bind", rbac, "clusterroles", "cluster-admin"},
		{"escalate", rbac, "clusterroles", "any"},
		{"update", admission, "mutatingwebhookconfigurations", "gardener-resource-manager"},
		{"delete", admission, "mutatingwebhookconfigurations", "gardener-extension-provider-openstack"},
		{"create", admission, "validatingwebhookconfigurations", ""},
		{"create", admission, "validatingadmissionpolicies", ""},
		{"create", ext, "clusters", ""},
		{"patch", ext, "clusters", "any"},
		{"list", ext, "clusters", ""},
		{"create", ext, "infrastructures", ""},
		{"delete", ext, "workers", "any"},
		{"get", "", "secrets/anything", "any"},
		{"update", "apps", "deployments", "any"},
		{"create", "apps", "deployments", ""},
	}
}

// rightsOfOthers are rights of other programs that a controller must not have.
func rightsOfOthers() map[string][]right {
	return map[string][]right{
		"infrastructure-controller": {
			{"list", "", "secrets", ""},
			{"watch", "", "secrets", ""},
			{"create", "", "secrets", ""},
			{"patch", "", "secrets", "any"},
			{"create", resources, "managedresources", ""},
			{"list", "", "pods", ""},
			{"create", machines, "machines", ""},
			{"create", admission, "mutatingwebhookconfigurations", ""},
			{"patch", ext, "workers/status", "any"},
			{"get", ext, "networks", "any"},
		},
		"controlplane-controller": {
			{"watch", "", "secrets", ""},
			{"create", machines, "machines", ""},
			{"patch", ext, "infrastructures/status", "any"},
			{"get", ext, "workers", "any"},
			{"update", admission, "mutatingwebhookconfigurations", "gardener-extension-worker"},
			{"patch", "apps", "deployments/scale", "any"},
			{"delete", "", "pods", "any"},
			{"list", resources, "managedresources", ""},
			{"get", resources, "managedresources", "any"},
			{"patch", resources, "managedresources", "extension-networking-calico-config"},
			{"delete", resources, "managedresources", "shoot-core"},
		},
		"network-controller": {
			{"create", machines, "machines", ""},
			{"patch", machines, "machinedeployments", "any"},
			{"list", machines, "machines", ""},
			{"create", admission, "mutatingwebhookconfigurations", ""},
			{"patch", ext, "controlplanes/status", "any"},
			{"get", ext, "infrastructures", "any"},
			{"patch", "", "secrets", "any"},
			{"list", "", "pods", ""},
			{"get", "", "configmaps", "any"},
			{"delete", "", "configmaps", "any"},
			{"delete", "monitoring.coreos.com", "scrapeconfigs", "any"},
			{"list", resources, "managedresources", ""},
			{"get", resources, "managedresources", "any"},
			{"patch", resources, "managedresources", "extension-controlplane-shoot"},
			{"delete", resources, "managedresources", "any"},
		},
		"worker-controller": {
			{"watch", "", "secrets", ""},
			{"patch", machines, "machinesets", "any"},
			{"create", resources, "managedresources", ""},
			{"patch", ext, "networks/status", "any"},
			{"get", ext, "infrastructures", "any"},
			{"update", admission, "mutatingwebhookconfigurations", "gardener-extension-controlplane"},
			{"get", "apps", "deployments", "kube-apiserver"},
			{"patch", "apps", "deployments/scale", "any"},
		},
	}
}

// TestRights_NoOthers checks the rights of each controller's pods by requests to the API server. RBAC is additive: rights that others grant to all
// users would be found.
func TestRights_NoOthers(t *testing.T) {
	env := getEnvironment(t)
	for _, binary := range controllers() {
		t.Run(binary, func(t *testing.T) {
			own := env.as(t, binary)
			for _, r := range requiredRights()[binary] {
				assert.True(t, allowed(t, own, r), "it needs to %s", r)
			}
			for _, r := range slices.Concat(neverGranted(), rightsOfOthers()[binary]) {
				assert.False(t, allowed(t, own, r), "it has no business to %s", r)
			}
		})
	}
}

// as returns a client with a token of a controller's ServiceAccount.
func (env *environment) as(t *testing.T, binary string) kubernetes.Interface {
	t.Helper()
	admin, err := kubernetes.NewForConfig(env.Config)
	require.NoError(t, err)
	token, err := admin.CoreV1().ServiceAccounts(env.namespace(t, binary)).CreateToken(
		t.Context(), kindseed.ObjectName(binary), &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	config := rest.AnonymousClientConfig(env.Config)
	config.BearerToken = token.Status.Token
	own, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return own
}

// allowed reports whether a user has a right in all namespaces.
func allowed(t *testing.T, own kubernetes.Interface, r right) bool {
	t.Helper()
	resource, subresource, _ := strings.Cut(r.Resource, "/")
	review, err := own.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: r.Verb, Group: r.Group, Resource: resource, Subresource: subresource, Name: r.Name,
		}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Empty(t, review.Status.EvaluationError)
	return review.Status.Allowed
}
