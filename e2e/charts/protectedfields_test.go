package charts

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/charts"
)

// protectedField is a field of an object that only some may change.
type protectedField struct {
	path []string
	// value returns another value for each number.
	value func(n int) any
	// owner is in the message to those who may not change it; empty for the field that everyone may change who has the right.
	owner string
}

func (f protectedField) inStatus() bool { return f.path[0] == "status" }

// document returns the field alone.
func (f protectedField) document(t *testing.T, n int) map[string]any {
	t.Helper()
	document := map[string]any{}
	require.NoError(t, unstructured.SetNestedField(document, f.value(n), f.path...))
	return document
}

// protectedFields are the fields of a kind, by name.
func (g guarded) protectedFields() map[string]protectedField {
	text := func(n int) any { return fmt.Sprint("value-", n) }
	annotation := func(name string) protectedField {
		return protectedField{[]string{"metadata", "annotations", name}, text, "the annotation " + name + ", which is Gardener's"}
	}
	controller := g.account()
	status := fmt.Sprintf("Only %s and Gardener may change the status of this %s", controller, g.kind)
	spec := map[string]string{"Network": "podCIDR"}[g.kind]
	if spec == "" {
		spec = "region"
	}
	return map[string]protectedField{
		"spec":         {[]string{"spec", spec}, text, "spec, which is Gardener's"},
		"finalizers":   {[]string{"metadata", "finalizers"}, func(n int) any { return []any{fmt.Sprint("example.org/n", n)} }, "metadata.finalizers, which are those of " + controller},
		"operation":    annotation("gardener.cloud/operation"),
		"timestamp":    annotation("gardener.cloud/timestamp"),
		"confirmation": annotation("confirmation.gardener.cloud/deletion"),
		"lastOperation": {[]string{"status", "lastOperation"}, func(n int) any {
			changed := operation("Failed")
			changed["description"] = text(n)
			return changed
		}, status},
		"lastError":          {[]string{"status", "lastError"}, func(n int) any { return map[string]any{"description": text(n)} }, status},
		"observedGeneration": {[]string{"status", "observedGeneration"}, func(n int) any { return int64(n) }, status},
		"providerStatus":     {[]string{"status", "providerStatus"}, func(n int) any { return map[string]any{"deep": text(n)} }, status},
		"state":              {[]string{"status", "state"}, func(n int) any { return map[string]any{"data": text(n)} }, status},
		"conditions": {[]string{"status", "conditions"}, func(n int) any {
			changed := condition("True")
			changed["message"] = text(n)
			return []any{changed}
		}, ""},
	}
}

// writer is a user that writes fields.
type writer struct {
	name   string
	client client.Client
	// guarded is true if the policies concern the user.
	guarded bool
	// statusPatchOnly is true if RBAC permits patches of the status, and no other writes.
	statusPatchOnly bool
}

// write gives a field of an object the value of a number.
type write func(t *testing.T, c client.Client, object *unstructured.Unstructured, field protectedField, n int) error

// methods are the ways to write an object.
func (g guarded) methods() map[string]write {
	patch := func(patchType types.PatchType, encode func(*testing.T, *unstructured.Unstructured, protectedField, int) any) write {
		return func(t *testing.T, c client.Client, object *unstructured.Unstructured, field protectedField, n int) error {
			t.Helper()
			content, err := json.Marshal(encode(t, object, field, n))
			require.NoError(t, err)
			options := client.PatchOptions{}
			if patchType == types.ApplyPatchType {
				// An owner of several fields would remove those that it does not apply.
				options.FieldManager, options.Force = field.path[len(field.path)-1], new(true)
			}
			if field.inStatus() {
				return c.Status().Patch(t.Context(), object.DeepCopy(), client.RawPatch(patchType, content), &client.SubResourcePatchOptions{PatchOptions: options})
			}
			return c.Patch(t.Context(), object.DeepCopy(), client.RawPatch(patchType, content), &options)
		}
	}
	return map[string]write{
		"PUT": func(t *testing.T, c client.Client, object *unstructured.Unstructured, field protectedField, n int) error {
			t.Helper()
			current := object.DeepCopy()
			require.NoError(t, g.Client.Get(t.Context(), client.ObjectKeyFromObject(object), current))
			require.NoError(t, unstructured.SetNestedField(current.Object, field.value(n), field.path...))
			if field.inStatus() {
				return c.Status().Update(t.Context(), current)
			}
			return c.Update(t.Context(), current)
		},
		"JSON patch": patch(types.JSONPatchType, func(_ *testing.T, _ *unstructured.Unstructured, field protectedField, n int) any {
			var path strings.Builder
			for _, part := range field.path {
				path.WriteString("/" + strings.ReplaceAll(part, "/", "~1"))
			}
			return []any{map[string]any{"op": "add", "path": path.String(), "value": field.value(n)}}
		}),
		"merge patch": patch(types.MergePatchType, func(t *testing.T, _ *unstructured.Unstructured, field protectedField, n int) any {
			t.Helper()
			return field.document(t, n)
		}),
		"server-side apply": patch(types.ApplyPatchType, func(t *testing.T, object *unstructured.Unstructured, field protectedField, n int) any {
			t.Helper()
			document := &unstructured.Unstructured{Object: field.document(t, n)}
			document.SetGroupVersionKind(object.GroupVersionKind())
			document.SetName(object.GetName())
			document.SetNamespace(object.GetNamespace())
			return document.Object
		}),
	}
}

// assertProtectedFields writes each protected field in each way as each user, and compares what the API server lets pass with what it should.
func (g guarded) assertProtectedFields(t *testing.T) {
	t.Helper()
	object := g.create(t, "protected", g.provider, fullStatus())
	require.NoError(t, g.Client.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"seen":"yes"}}}`))))
	writers := []writer{
		{name: "a secondary with all rights", client: g.asWriter(t, secondary), guarded: true},
		{name: "a client with the rights of a secondary", client: g.installSecondary(t), guarded: true, statusPatchOnly: true},
		{name: "the primary", client: g.asWriter(t, g.account())},
		{name: "gardenlet", client: g.asWriter(t, gardenlet)},
		{name: "a person", client: g.asWriter(t, "admin", "system:masters")},
	}
	n := 100
	for name, field := range g.protectedFields() {
		for method, write := range g.methods() {
			for _, w := range writers {
				if g.kind != "Infrastructure" && g.kind != "Worker" && w.statusPatchOnly {
					continue // there is no secondary
				}
				n++
				sentence := fmt.Sprintf("%s by %s of %s", name, method, w.name)
				err := write(t, w.client, object, field, n)
				switch {
				case w.statusPatchOnly && (!field.inStatus() || method == "PUT"):
					require.True(t, apierrors.IsForbidden(err), "%s: %v", sentence, err)
					assert.NotContains(t, err.Error(), "ValidatingAdmissionPolicy", sentence)
				case w.guarded && field.owner != "":
					require.True(t, apierrors.IsForbidden(err), "%s: %v", sentence, err)
					assert.ErrorContains(t, err, field.owner, sentence)
				default:
					require.NoError(t, err, sentence)
				}
			}
		}
	}
	// What is removed is changed, too.
	for name, patch := range map[string]string{
		"the annotation gardener.cloud/timestamp, which is Gardener's": `{"metadata":{"annotations":{"gardener.cloud/timestamp":null}}}`,
		"metadata.finalizers, which are those of":                      `{"metadata":{"finalizers":null}}`,
		"spec, which is Gardener's":                                    `{"spec":{"type":"another"}}`,
	} {
		err := g.asWriter(t, secondary).Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)))
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		assert.ErrorContains(t, err, name)
	}
	// An admin permits another extension by its name.
	other := g.create(t, "other-type", "other", nil)
	require.NoError(t, g.asWriter(t, secondary).Patch(t.Context(), other, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":["example.org/other"]}}`))))
}

// installSecondary gives an account the rights of a secondary, and no others, and returns a client of it, or nil if the kind has no secondary.
func (g guarded) installSecondary(t *testing.T) client.Client {
	t.Helper()
	if g.kind != "Infrastructure" && g.kind != "Worker" {
		return nil
	}
	release := charts.Release{Name: "guarded-" + g.resource, Namespace: "extension-guarded-" + g.resource}
	for _, object := range renderAs(t, release, g.chart, map[string]any{"role": "secondary"}) {
		if strings.HasPrefix(object.GetKind(), "ClusterRole") {
			require.NoError(t, g.Client.Create(t.Context(), object))
		}
	}
	return g.as(t, "system:serviceaccount:"+release.Namespace+":gardener-extension-"+release.Name)
}

// waitForObjectGuard waits until the policy about the objects takes effect.
func (g guarded) waitForObjectGuard(t *testing.T) {
	t.Helper()
	object := g.create(t, "object-probe", g.provider, nil)
	for end := time.Now().Add(timeout); ; time.Sleep(interval) {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"gardener.cloud/timestamp":"%d"}}}`, time.Now().UnixNano())
		err := g.asWriter(t, secondary).Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)))
		if apierrors.IsForbidden(err) {
			return
		}
		require.NoError(t, err)
		require.True(t, time.Now().Before(end), "the policy is not heeded")
	}
}
