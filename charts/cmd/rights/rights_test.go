package main

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/trellis-garden/trellis/charts"
)

func TestPage_UpToDate(t *testing.T) {
	want, err := page()
	require.NoError(t, err)
	got, err := os.ReadFile("../../../docs/reference/rights.md")
	require.NoError(t, err)
	assert.Equal(t, want, string(got), "write it anew: cd charts && go generate ./cmd/rights")
}

// TestPage_Statements holds what the page says in words against the charts.
func TestPage_Statements(t *testing.T) {
	for _, name := range charts.Names() {
		one, err := rightsOf(name)
		require.NoError(t, err)
		assert.NotEmpty(t, one.inNamespace, name)
		for _, rule := range append(one.clusterWide, one.inNamespace...) {
			for _, words := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs} {
				assert.NotContains(t, words, "*", "%s has a wildcard", name)
			}
			assert.Empty(t, rule.NonResourceURLs, name)
		}
		may := func(verb, resource string) bool {
			for _, rule := range one.clusterWide {
				if slices.Contains(rule.Verbs, verb) && slices.Contains(rule.Resources, resource) {
					return true
				}
			}
			return false
		}
		assert.True(t, may("get", "secrets"), name)
		assert.Equal(t, name == "controlplane-controller" || name == "network-controller", may("create", "managedresources"), name)
		assert.Equal(t, name == "controlplane-controller" || name == "worker-controller", may("create", "mutatingwebhookconfigurations"), name)
		assert.Equal(t, name == "worker-controller", may("create", "machines"), name)
		assert.Equal(t, name != "infrastructure-controller", may("list", "secrets"), name)
	}
}

// TestPage_BoundNames makes sure that what has a name beforehand can be touched under this name alone. What is created has none then, and what is listed
// may have any.
func TestPage_BoundNames(t *testing.T) {
	const (
		manager, calico = "machine-controller-manager", "extension-networking-calico-"
		controlPlane    = "extension-controlplane-"
		gardenet        = "extension-networking-gardenet-"
	)
	networks := []string{calico + "config", calico + "seed", gardenet + "config", gardenet + "seed"}
	controlPlanes := []string{
		controlPlane + "seed", controlPlane + "shoot", controlPlane + "shoot-crds", controlPlane + "storageclasses",
		controlPlane + "configuration-seed", controlPlane + "shoot-webhooks",
	}
	for what, want := range map[struct{ controller, resource, verb string }][]string{
		{"worker-controller", "deployments", "get"}:               {manager},
		{"worker-controller", "deployments/scale", "patch"}:       {manager},
		{"network-controller", "configmaps", "delete"}:            {"calico-monitoring-config"},
		{"network-controller", "scrapeconfigs", "delete"}:         {"shoot-calico-typha", "shoot-calico-bird", "shoot-calico-bird-exporter"},
		{"network-controller", "managedresources", "get"}:         networks,
		{"network-controller", "managedresources", "patch"}:       networks,
		{"network-controller", "managedresources", "delete"}:      networks,
		{"network-controller", "managedresources", "watch"}:       networks,
		{"network-controller", "managedresources", "create"}:      nil,
		{"controlplane-controller", "managedresources", "get"}:    controlPlanes,
		{"controlplane-controller", "managedresources", "patch"}:  controlPlanes,
		{"controlplane-controller", "managedresources", "delete"}: controlPlanes,
		{"controlplane-controller", "managedresources", "watch"}:  controlPlanes[:4],
		{"controlplane-controller", "managedresources", "create"}: nil,
	} {
		one, err := rightsOf(what.controller)
		require.NoError(t, err)
		given := 0
		for _, rule := range one.clusterWide {
			if slices.Contains(rule.Resources, what.resource) && slices.Contains(rule.Verbs, what.verb) {
				given++
				assert.Equal(t, want, rule.ResourceNames, "%v", what)
			}
		}
		assert.Equal(t, 1, given, "%v", what)
	}
}

// TestPage_AdmissionStatements holds what the page says in words on admission against its charts.
func TestPage_AdmissionStatements(t *testing.T) {
	for kind, of := range map[string][]string{
		"secrets": {"openstack", "aws"}, "internalsecrets": {"openstack", "aws"}, "cloudprofiles": {"openstack", "aws"},
		"shoots": {"openstack"}, "secretbindings": {"openstack"}, "credentialsbindings": {"openstack"}, "workloadidentities": {"aws"},
		"controllerregistrations": {"registrations"}, "extensions": {"registrations"},
	} {
		for _, given := range admissionTypes() {
			both, err := rightsOfAdmission(given)
			require.NoError(t, err)
			var may []string
			for _, one := range both {
				for _, rule := range one.clusterWide {
					may = append(may, rule.Resources...)
				}
			}
			assert.Equal(t, slices.Contains(of, given), slices.Contains(may, kind), "%s for type %s", kind, given)
		}
	}
	both, err := rightsOfAdmission(admissionTypes()...)
	require.NoError(t, err)
	for _, one := range both {
		for _, rule := range append(one.clusterWide, one.inNamespace...) {
			for _, words := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs} {
				assert.NotContains(t, words, "*", "%s: a wildcard", one.subject)
			}
			if slices.Contains(rule.Resources, "secrets") && one.subject == "virtual garden" {
				assert.Equal(t, []string{"get"}, rule.Verbs, "no list of Secrets in the garden")
			}
			for _, verb := range []string{"watch", "patch", "update"} {
				if slices.Contains(rule.Verbs, verb) && one.subject == "virtual garden" {
					assert.Equal(t, []string{"gardener-extension-admission"}, rule.ResourceNames, "what it validates, it only reads")
				}
			}
		}
	}
	assert.NotEmpty(t, both[0].inNamespace)
	assert.Empty(t, both[1].inNamespace)
}

// TestPage_InstallerStatements holds what the page says in words on the operator against its charts.
func TestPage_InstallerStatements(t *testing.T) {
	bound, err := boundInSeed()
	require.NoError(t, err)
	assert.Equal(t, []string{"cluster-admin"}, bound)

	garden, namespaces, err := rightsOfInstaller()
	require.NoError(t, err)
	assert.Empty(t, garden.inNamespace, "nothing in the namespace of the release")
	assert.Empty(t, garden.bound)
	all := append([]rights{{subject: "everywhere", inNamespace: garden.clusterWide}}, namespaces...)
	may := func(verb, resource string) (where []string) {
		for _, one := range all {
			for _, rule := range one.inNamespace {
				if slices.Contains(rule.Verbs, verb) && slices.Contains(rule.Resources, resource) {
					where = append(where, one.subject)
				}
			}
		}
		return where
	}
	for _, one := range all {
		for _, rule := range one.inNamespace {
			for _, words := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs} {
				assert.NotContains(t, words, "*", "%s: a wildcard", one.subject)
			}
		}
	}
	const inGarden = "`garden` of the virtual garden"
	assert.Equal(t, []string{inGarden}, may("get", "secrets"))
	assert.Empty(t, may("list", "secrets"))
	assert.Equal(t, []string{inGarden}, may("create", "shoots/adminkubeconfig"))
	assert.Equal(t, []string{inGarden, "`kube-system` of the virtual garden"}, may("get", "configmaps"))
	assert.Equal(t, []string{inGarden}, may("get", "managedseeds"))
	assert.Equal(t, []string{inGarden}, may("create", "controllerrevisions"))
	assert.Equal(t, []string{"everywhere"}, may("patch", "controllerdeployments"))
	assert.Equal(t, []string{"everywhere"}, may("delete", "serviceaccounts"))
	for _, resource := range []string{"controllerregistrations", "seeds", "managedseeds"} {
		for _, verb := range []string{"create", "update", "patch", "delete"} {
			assert.Empty(t, may(verb, resource), "%s %s", verb, resource)
		}
	}
}

func TestTable(t *testing.T) {
	all := []rights{
		{subject: "one", clusterWide: []rbacv1.PolicyRule{
			{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get"}},
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "delete"}},
		}},
		{subject: "two", clusterWide: []rbacv1.PolicyRule{
			{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"create"}},
			{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, ResourceNames: []string{"a"}, Verbs: []string{"get"}},
		}},
	}
	assert.Equal(t, "| | one | two |\n|---|---|---|\n"+
		"| `pods` | list, delete |  |\n"+
		"| `deployments` (apps) | get | create; get of `a` |\n", table(all, func(r rights) []rbacv1.PolicyRule { return r.clusterWide }))
}
