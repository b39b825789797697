package registration

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/charts"
)

func TestCheck_SharedManagedResource(t *testing.T) {
	catalogue := Catalogue{Registrations: []Entry{
		{Name: "network", Kind: "Network", Types: []string{"calico"}, Role: RolePrimary},
		{Name: "network-cilium", Kind: "Network", Types: []string{"cilium"}, Role: RolePrimary},
		{Name: "controlplane", Kind: "ControlPlane", Types: []string{"openstack"}, Role: RolePrimary},
	}}
	var problems FieldErrors
	catalogue.checkManagedResources(func(string, string) []string { return []string{"extension-both"} }, &problems)
	assert.EqualError(t, problems, "registrations[2].kind: ControlPlane/openstack and registrations[0] (network) both write the "+
		"ManagedResource extension-both into a shoot's namespace; rename it in one of the controllers")
}

// What the controllers write and what is checked for clashes are two lists in two modules.
func TestManagedResources_Complete(t *testing.T) {
	var known []string
	for _, chart := range []string{"infrastructure-controller", "controlplane-controller", "network-controller", "worker-controller"} {
		known = append(known, managedResources(kindOfChart(chart), "<type>")...)
	}
	slices.Sort(known)
	assert.Equal(t, managedResourcesInSources(t, "../../internal"), known)
}

// What the controllers write is what they may change, and nothing else of that kind.
func TestManagedResources_RBAC(t *testing.T) {
	for _, chart := range charts.Names() {
		types := []string{"openstack"}
		if chart == "network-controller" {
			types = []string{"calico"}
		}
		var want []string
		for _, typ := range types {
			want = append(want, managedResources(kindOfChart(chart), typ)...)
		}
		slices.Sort(want)
		archive, err := charts.Archive(chart, "v0.1.0")
		require.NoError(t, err)
		objects, err := charts.Render(archive, charts.Release{Name: chart, Namespace: "extension-" + chart}, map[string]any{"types": types})
		require.NoError(t, err)
		for _, object := range objects {
			if object.GetKind() != "ClusterRole" {
				continue
			}
			var role rbacv1.ClusterRole
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role))
			var may []string
			for _, rule := range role.Rules {
				if !slices.Contains(rule.Resources, "managedresources") || slices.Equal(rule.Verbs, []string{"create"}) {
					continue
				}
				assert.NotContains(t, rule.Verbs, "create", "%s: a name cannot be asked for then", chart)
				may = append(may, rule.ResourceNames...)
			}
			slices.Sort(may)
			assert.Equal(t, slices.Compact(want), slices.Compact(may), chart)
		}
	}
}

// managedResourcesInSources finds the names by what upstream has them all begin with. "<type>" stands for what a name is made with.
func managedResourcesInSources(t *testing.T, root string) []string {
	t.Helper()
	name := regexp.MustCompile(`"(extension-(?:controlplane|networking|worker|infrastructure)-[a-z-]*)"(?: \+ networkType \+ "(-[a-z-]+)")?`)
	var found []string
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test/") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, match := range name.FindAllStringSubmatch(string(content), -1) {
			if match[2] != "" {
				match[1] += "<type>" + match[2]
			}
			found = append(found, match[1])
		}
		return err
	}))
	slices.Sort(found)
	return slices.Compact(found)
}
