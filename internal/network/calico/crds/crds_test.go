package crds_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/network/calico/crds"
)

func TestCalico_Kinds(t *testing.T) {
	objects, err := crds.Calico()
	require.NoError(t, err)
	assert.Equal(t, []string{
		"adminnetworkpolicies.policy.networking.k8s.io",
		"baselineadminnetworkpolicies.policy.networking.k8s.io",
		"bgpconfigurations.crd.projectcalico.org",
		"bgpfilters.crd.projectcalico.org",
		"bgppeers.crd.projectcalico.org",
		"blockaffinities.crd.projectcalico.org",
		"caliconodestatuses.crd.projectcalico.org",
		"clusterinformations.crd.projectcalico.org",
		"clusternetworkpolicies.policy.networking.k8s.io",
		"felixconfigurations.crd.projectcalico.org",
		"globalnetworkpolicies.crd.projectcalico.org",
		"globalnetworksets.crd.projectcalico.org",
		"hostendpoints.crd.projectcalico.org",
		"ipamblocks.crd.projectcalico.org",
		"ipamconfigs.crd.projectcalico.org",
		"ipamhandles.crd.projectcalico.org",
		"ippools.crd.projectcalico.org",
		"ipreservations.crd.projectcalico.org",
		"kubecontrollersconfigurations.crd.projectcalico.org",
		"networkpolicies.crd.projectcalico.org",
		"networksets.crd.projectcalico.org",
		"stagedglobalnetworkpolicies.crd.projectcalico.org",
		"stagedkubernetesnetworkpolicies.crd.projectcalico.org",
		"stagednetworkpolicies.crd.projectcalico.org",
		"tiers.crd.projectcalico.org",
	}, names(objects))

	objects, err = crds.Multus()
	require.NoError(t, err)
	assert.Equal(t, []string{"network-attachment-definitions.k8s.cni.cncf.io"}, names(objects))
}

func TestCalico_ReturnsCopies(t *testing.T) {
	first, err := crds.Calico()
	require.NoError(t, err)
	for _, object := range first {
		object.SetLabels(map[string]string{"changed": "true"})
	}
	second, err := crds.Calico()
	require.NoError(t, err)
	for _, object := range second {
		assert.Empty(t, object.GetLabels(), object.GetName())
	}
}

// One Secret carries all that a shoot gets, and holds 1 MiB at most.
func TestCalico_Size(t *testing.T) {
	objects, err := crds.Calico()
	require.NoError(t, err)
	size := 0
	for _, object := range objects {
		content, err := json.Marshal(object)
		require.NoError(t, err)
		size += len(content)
	}
	t.Logf("%d definitions take %d KiB", len(objects), size/1024)
	assert.Less(t, size, 500*1024)
}

func TestFiles_Source(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 18)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Regexp(t, `^# Written by generate\.sh from libcalico-go/config/crd/crd\.projectcalico\.org_`+file+
			` of github\.com/projectcalico/calico v[0-9.]+ \(v[0-9a-z.-]+\), Apache License 2\.0\. Do not edit\.\n`, string(content))
	}
}

func TestCalico_UnknownFieldsPreserved(t *testing.T) {
	server := contracttest.StartAPIServer(t)
	calico, err := crds.Calico()
	require.NoError(t, err)
	multus, err := crds.Multus()
	require.NoError(t, err)
	definitions := slices.Concat(calico, multus)
	for _, definition := range definitions {
		require.NoError(t, server.Client.Create(t.Context(), definition), definition.GetName())
	}
	for _, definition := range definitions {
		waitUntilServed(t, server.Client, definition)
	}

	for _, definition := range definitions {
		t.Run(definition.GetName(), func(t *testing.T) { testUnknownFieldsPreserved(t, server.Client, definition) })
	}
	t.Run("in a block's attributes", func(t *testing.T) {
		block := requiredSpecs()["ipamblocks"]
		block["attributes"] = []any{map[string]any{"handle_id": "here", "fromTheFuture": "kept"}}
		created := create(t, server.Client, object("crd.projectcalico.org/v1", "IPAMBlock", "", block))
		attributes, _, err := unstructured.NestedSlice(created.Object, "spec", "attributes")
		require.NoError(t, err)
		assert.Equal(t, []any{map[string]any{"handle_id": "here", "fromTheFuture": "kept"}}, attributes)
	})
	t.Run("in a policy's rule", func(t *testing.T) {
		created := create(t, server.Client, object("crd.projectcalico.org/v1", "NetworkPolicy", "default", map[string]any{
			"tier":    "kube-admin",
			"ingress": []any{map[string]any{"action": "Allow", "metadata": map[string]any{"fromTheFuture": "kept"}}},
		}))
		rules, _, err := unstructured.NestedSlice(created.Object, "spec", "ingress")
		require.NoError(t, err)
		assert.Equal(t, []any{map[string]any{"action": "Allow", "metadata": map[string]any{"fromTheFuture": "kept"}}}, rules)
		tier, _, _ := unstructured.NestedString(created.Object, "spec", "tier")
		assert.Equal(t, "kube-admin", tier)
	})
	t.Run("what a release knew is still checked", func(t *testing.T) {
		peer := object("crd.projectcalico.org/v1", "BGPPeer", "", map[string]any{"asNumber": "not a number"})
		assert.ErrorContains(t, server.Client.Create(t.Context(), peer), "asNumber")
	})
	t.Run("the running configuration of kube-controllers is a status", func(t *testing.T) {
		created := create(t, server.Client, object("crd.projectcalico.org/v1", "KubeControllersConfiguration", "", map[string]any{"controllers": map[string]any{}}))
		require.NoError(t, unstructured.SetNestedField(created.Object, "kept", "status", "runningConfig", "controllers", "migration", "fromTheFuture"))
		require.NoError(t, server.Client.Status().Update(t.Context(), created))
		require.NoError(t, server.Client.Get(t.Context(), client.ObjectKeyFromObject(created), created))
		kept, _, err := unstructured.NestedString(created.Object, "status", "runningConfig", "controllers", "migration", "fromTheFuture")
		require.NoError(t, err)
		assert.Equal(t, "kept", kept)
	})
}

func testUnknownFieldsPreserved(t *testing.T, c client.Client, definition *unstructured.Unstructured) {
	t.Helper()
	content := definition.Object
	plural, _, err := unstructured.NestedString(content, "spec", "names", "plural")
	require.NoError(t, err)
	spec := requiredSpecs()[plural]
	if spec == nil {
		spec = map[string]any{}
	}
	future := map[string]any{"of": []any{map[string]any{"the": "future"}}}
	spec["field"] = future
	group, _, _ := unstructured.NestedString(content, "spec", "group")
	kind, _, _ := unstructured.NestedString(content, "spec", "names", "kind")
	versions, _, _ := unstructured.NestedSlice(content, "spec", "versions")
	namespace := ""
	if scope, _, _ := unstructured.NestedString(content, "spec", "scope"); scope == "Namespaced" {
		namespace = "default"
	}
	created := create(t, c, object(group+"/"+versions[0].(map[string]any)["name"].(string), kind, namespace, spec))
	kept, found, err := unstructured.NestedMap(created.Object, "spec", "field")
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, future, kept)
}

// requiredSpecs are the least that kinds with required fields take.
func requiredSpecs() map[string]map[string]any {
	return map[string]map[string]any{
		"blockaffinities":               {"cidr": "100.64.0.0/26", "deleted": "false", "node": "node", "state": "confirmed"},
		"ipamblocks":                    {"cidr": "100.64.0.0/26", "allocations": []any{}, "attributes": []any{}, "strictAffinity": false, "unallocated": []any{}},
		"ipamconfigs":                   {"autoAllocateBlocks": true, "strictAffinity": false},
		"ipamhandles":                   {"block": map[string]any{}, "handleID": "handle"},
		"ippools":                       {"cidr": "100.64.0.0/12"},
		"kubecontrollersconfigurations": {"controllers": map[string]any{}},
	}
}

func object(apiVersion, kind, namespace string, spec map[string]any) *unstructured.Unstructured {
	metadata := map[string]any{"generateName": "newer-"}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "spec": spec}}
}

// create makes the object and reads what the API server stored of it.
func create(t *testing.T, c client.Client, made *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	require.NoError(t, c.Create(t.Context(), made))
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(made.GroupVersionKind())
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(made), stored))
	return stored
}

// waitUntilServed also looks whether the API server finds anything wrong with the schema: it takes a definition that is not
// structural and only says so in a condition.
func waitUntilServed(t *testing.T, c client.Client, definition *unstructured.Unstructured) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(definition), definition))
		states := conditions(t, definition)
		if states["Established"] == "True" && states["NamesAccepted"] == "True" {
			assert.NotContains(t, states, "NonStructuralSchema", definition.GetName())
			assert.NotEqual(t, "False", states["KubernetesAPIApprovalPolicyConformant"], definition.GetName())
			return
		}
		select {
		case <-ctx.Done():
			require.NoError(t, ctx.Err(), "%s: %v", definition.GetName(), states)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func conditions(t *testing.T, definition client.Object) map[string]string {
	t.Helper()
	list, _, err := unstructured.NestedSlice(definition.(*unstructured.Unstructured).Object, "status", "conditions")
	require.NoError(t, err)
	states := map[string]string{}
	for _, condition := range list {
		condition := condition.(map[string]any)
		states[condition["type"].(string)] = condition["status"].(string)
	}
	return states
}

func names(objects []*unstructured.Unstructured) []string {
	var names []string
	for _, object := range objects {
		names = append(names, object.GetName())
	}
	return names
}
