package charts

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// guarded is a kind of extension objects, and the chart with its policy.
type guarded struct {
	*environment
	chart, kind, resource, provider string
}

const (
	gardenlet = "system:serviceaccount:garden:gardenlet"
	secondary = "system:serviceaccount:extension-observer:observer"
	// writersGroup is a group of those who may write all extension objects.
	writersGroup = "writers"
)

// testStatusGuard lets users write the status of guarded objects. All of them have the right; they differ in their identity.
func testStatusGuard(t *testing.T, env *environment) {
	for _, g := range []guarded{
		{env, "infrastructure-controller", "Infrastructure", "infrastructures", "openstack"},
		{env, "controlplane-controller", "ControlPlane", "controlplanes", "openstack"},
		{env, "network-controller", "Network", "networks", "calico"},
		{env, "worker-controller", "Worker", "workers", "openstack"},
	} {
		t.Run(g.kind, func(t *testing.T) {
			for _, object := range render(t, g.chart, nil) {
				if strings.HasPrefix(object.GetKind(), "ValidatingAdmissionPolicy") && !strings.HasPrefix(object.GetName(), "secrets.") {
					require.NoError(t, env.Client.Create(t.Context(), object))
				}
			}
			g.waitForStatusGuard(t)
			g.waitForObjectGuard(t)
			g.assertOthersReportConditionsOnly(t)
			g.assertSizeDoesNotMatter(t)
			g.assertWriters(t)
			g.assertNothingElseIsGuarded(t)
			g.assertProtectedFields(t)
			g.assertNoWarnings(t, release(g.chart).Name+".trellis.extensions.gardener.cloud")
			g.assertNoWarnings(t, "objects."+release(g.chart).Name+".trellis.extensions.gardener.cloud")
		})
	}
}

// waitForStatusGuard waits until the policy takes effect.
func (g guarded) waitForStatusGuard(t *testing.T) {
	t.Helper()
	object := g.create(t, "probe", g.provider, nil)
	for end := time.Now().Add(timeout); ; time.Sleep(interval) {
		err := g.patch(t, secondary, object, map[string]any{"observedGeneration": time.Now().UnixMilli()})
		if apierrors.IsForbidden(err) {
			return
		}
		require.NoError(t, err)
		require.True(t, time.Now().Before(end), "the policy is not heeded")
	}
}

func (g guarded) assertOthersReportConditionsOnly(t *testing.T) {
	t.Helper()
	object := g.create(t, "observed", g.provider, fullStatus())
	require.NoError(t, g.patch(t, secondary, object, map[string]any{"conditions": []any{condition("True")}}))
	require.NoError(t, g.patch(t, secondary, object, map[string]any{"conditions": []any{condition("False")}}))
	for sentence, test := range map[string]struct {
		status map[string]any
		names  string
	}{
		"an operation":                    {map[string]any{"lastOperation": operation("Failed")}, "status.lastOperation"},
		"a part of an operation":          {map[string]any{"lastOperation": map[string]any{"progress": 99}}, "status.lastOperation"},
		"a field that was not there":      {map[string]any{"lastError": map[string]any{"description": "no"}}, "status.lastError"},
		"a field that is taken away":      {map[string]any{"observedGeneration": nil}, "status.observedGeneration"},
		"the provider's":                  {map[string]any{"providerStatus": map[string]any{"deep": map[string]any{"inside": "changed"}}}, "status.providerStatus"},
		"the state":                       {map[string]any{"state": map[string]any{"data": "other"}}, "status.state"},
		"a condition and something else":  {map[string]any{"conditions": []any{condition("True")}, "observedGeneration": 7}, "status.observedGeneration"},
		"everything":                      {nil, "status.lastOperation"},
		"resources that gardenlet stores": {map[string]any{"resources": []any{}}, "status.resources"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := g.patch(t, secondary, object, test.status)
			require.True(t, apierrors.IsForbidden(err), "%v", err)
			assert.ErrorContains(t, err, test.names)
			assert.ErrorContains(t, err, fmt.Sprintf("Only system:serviceaccount:%s:gardener-extension-%s and Gardener may change the status of this %s",
				release(g.chart).Namespace, release(g.chart).Name, g.kind))
		})
	}
	assert.Equal(t, fullStatus()["state"], g.status(t, object)["state"])
}

// assertSizeDoesNotMatter asserts that comparing the status of a large shoot does not exceed the API server's cost limit for expressions.
func (g guarded) assertSizeDoesNotMatter(t *testing.T) {
	t.Helper()
	status := fullStatus()
	machines := make([]any, 5000)
	for i := range machines {
		machines[i] = map[string]any{"name": fmt.Sprintf("machine-%d", i), "labels": map[string]any{"zone": "eu-1a"}}
	}
	status["state"] = map[string]any{"text": strings.Repeat("x", 500_000), "machines": machines}
	large := g.create(t, "large", g.provider, status)
	require.NoError(t, g.patch(t, secondary, large, map[string]any{"conditions": []any{condition("True")}}))
	machines[4999] = "another"
	err := g.patch(t, secondary, large, map[string]any{"state": map[string]any{"machines": machines}})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.ErrorContains(t, err, "not status.state")
}

// assertWriters asserts that the intended writers can write.
func (g guarded) assertWriters(t *testing.T) {
	t.Helper()
	object := g.create(t, "fulfilled", g.provider, fullStatus())
	controller := g.account()
	require.NoError(t, g.patch(t, controller, object, map[string]any{"lastOperation": operation("Processing"), "observedGeneration": 4}))
	require.NoError(t, g.patch(t, controller, object, map[string]any{"providerStatus": nil}))
	// gardenlet restores a state, and clears what it has stored elsewhere.
	require.NoError(t, g.patch(t, gardenlet, object, map[string]any{"state": nil, "resources": nil}))
	require.NoError(t, g.patch(t, "system:serviceaccount:kube-system:gardenlet", object, map[string]any{"state": map[string]any{"data": "restored"}}))
	// An administrator must be able to repair objects.
	require.NoError(t, g.patch(t, "admin", object, map[string]any{"lastError": nil, "observedGeneration": 9}, "system:masters"))
	require.NoError(t, g.patch(t, "admin of a managed seed", object, map[string]any{"observedGeneration": 10}, "gardener.cloud:system:admins"))
	// The account of another controller in the same namespace must not write.
	err := g.patch(t, strings.Replace(controller, "gardener-extension-", "", 1), object, map[string]any{"observedGeneration": 5})
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
}

func (g guarded) assertNothingElseIsGuarded(t *testing.T) {
	t.Helper()
	another := g.create(t, "another-type", "other", fullStatus())
	require.NoError(t, g.patch(t, secondary, another, map[string]any{"observedGeneration": 5}))
	seeds := g.create(t, "another-class", g.provider, fullStatus(), "seed")
	require.NoError(t, g.patch(t, secondary, seeds, map[string]any{"observedGeneration": 5}))
	annotated := g.create(t, "annotated", g.provider, fullStatus(), "shoot")
	err := g.patch(t, secondary, annotated, map[string]any{"observedGeneration": 5})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	// The policies do not concern other parts of the object.
	before := annotated.DeepCopy()
	annotated.SetAnnotations(map[string]string{"seen": "yes"})
	require.NoError(t, g.asWriter(t, secondary).Patch(t.Context(), annotated, client.MergeFrom(before)))
}

// create creates an object with a status, as an administrator, whom the policy permits.
func (g guarded) create(t *testing.T, name, provider string, status map[string]any, class ...string) *unstructured.Unstructured {
	t.Helper()
	spec := map[string]any{
		"Infrastructure": map[string]any{"region": "eu-1", "secretRef": secretRef()},
		"ControlPlane":   map[string]any{"region": "eu-1", "secretRef": secretRef()},
		"Network":        map[string]any{"podCIDR": "100.96.0.0/11", "serviceCIDR": "100.64.0.0/13"},
		"Worker":         map[string]any{"region": "eu-1", "secretRef": secretRef(), "pools": []any{}},
	}[g.kind]
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetAPIVersion("extensions.gardener.cloud/v1alpha1")
	object.SetKind(g.kind)
	object.SetName(name)
	object.SetNamespace("shoot--local--guarded")
	fields := object.Object["spec"].(map[string]any)
	fields["type"] = provider
	if len(class) > 0 {
		fields["class"] = class[0]
	}
	require.NoError(t, g.Client.Create(t.Context(), object))
	if status != nil {
		require.NoError(t, g.patch(t, "admin", object, status, "system:masters"))
	}
	return object
}

// patch merges fields into the status as a user; nil removes the status. The object in memory is not changed.
func (g guarded) patch(t *testing.T, user string, object *unstructured.Unstructured, status map[string]any, groups ...string) error {
	t.Helper()
	document, err := json.Marshal(map[string]any{"status": status})
	require.NoError(t, err)
	return g.asWriter(t, user, groups...).Status().Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType, document))
}

// asWriter returns a client of a user who may write all extension objects, as far as RBAC is concerned.
func (g guarded) asWriter(t *testing.T, user string, groups ...string) client.Client {
	t.Helper()
	return g.as(t, user, append(groups, writersGroup)...)
}

// as returns a client of a user.
func (env *environment) as(t *testing.T, user string, groups ...string) client.Client {
	t.Helper()
	config := rest.CopyConfig(env.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	c, err := client.New(config, client.Options{})
	require.NoError(t, err)
	return c
}

func (g guarded) status(t *testing.T, object *unstructured.Unstructured) map[string]any {
	t.Helper()
	read := object.DeepCopy()
	require.NoError(t, g.Client.Get(t.Context(), client.ObjectKeyFromObject(object), read))
	status, _, err := unstructured.NestedMap(read.Object, "status")
	require.NoError(t, err)
	return status
}

// writers may write the status of all extension objects.
func writers() *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "writers"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"extensions.gardener.cloud"}, Resources: []string{"*"}, Verbs: []string{"get", "patch", "update"},
		}},
	}
}

func writersBinding() *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "writers"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "writers"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: writersGroup}},
	}
}

// fullStatus is the status of an existing shoot.
func fullStatus() map[string]any {
	return map[string]any{
		"conditions":         []any{condition("Unknown")},
		"lastOperation":      operation("Succeeded"),
		"observedGeneration": int64(3),
		"providerStatus":     map[string]any{"deep": map[string]any{"inside": "value", "list": []any{int64(1), 1.5, true}}},
		"state":              map[string]any{"data": "value"},
		"resources":          []any{map[string]any{"name": "one", "resourceRef": map[string]any{"apiVersion": "v1", "kind": "Secret", "name": "one"}}},
	}
}

func operation(state string) map[string]any {
	return map[string]any{
		"description": "done", "lastUpdateTime": "2026-01-02T03:04:05Z", "progress": int64(100), "state": state, "type": "Reconcile",
	}
}

func condition(status string) map[string]any {
	const at = "2026-01-02T03:04:05Z"
	return map[string]any{
		"type": "Observed", "status": status, "reason": "Seen", "message": "seen", "lastTransitionTime": at, "lastUpdateTime": at,
	}
}

func secretRef() map[string]any {
	return map[string]any{"name": "cloudprovider", "namespace": "shoot--local--guarded"}
}
