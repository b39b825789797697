package openstack

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
)

// FuzzCloudProfile sends any config and any spec through the webhooks of profiles. None panics; each says the same each time; what does not change
// passes without a look; and no status is refused. Most texts are no JSON, so edits change what is.
func FuzzCloudProfile(f *testing.F) {
	config, spec := splitProfile(f, cloudProfile)
	capableConfig, capableSpec := splitProfile(f, profileWithCapabilities(f, `,"capabilityFlavors":[{"architecture":["amd64"]}]`))
	own, ownSpec := splitProfile(f, namespacedProfile)
	f.Add(config, own, spec, []byte{})
	f.Add(capableConfig, config, capableSpec, []byte{0, 5, 1, 1, 9, 3})
	f.Add(own, capableConfig, capableSpec, []byte{2, 3, 6, 1, 7, 7})
	f.Add(own, config, ownSpec, []byte{2, 3, 8})
	f.Fuzz(func(t *testing.T, config, own, spec string, edits []byte) {
		documents := make([]any, 3)
		for i, text := range []string{config, own, spec} {
			if json.Unmarshal([]byte(text), &documents[i]) != nil {
				return
			}
		}
		applyEdits(documents, edits)
		object, old := composeProfile(t, documents[0], documents[2]), composeProfile(t, documents[1], documents[2])
		for _, webhook := range []struct{ name, kind string }{
			{"cloudprofile.openstack", "CloudProfile"},
			{"cloudprofiledefaults.openstack", "CloudProfile"},
			{"namespacedcloudprofile.openstack", "NamespacedCloudProfile"},
			{"namespacedcloudprofiledefaults.openstack", "NamespacedCloudProfile"},
			{"namespacedcloudprofilestatus.openstack", "NamespacedCloudProfile"},
		} {
			garden := &profileGarden{parent: parentOrNone(old)}
			for _, before := range []string{"", old} {
				first := callProfileWebhook(t, garden, webhook.name, webhook.kind, object, before)
				again := callProfileWebhook(t, garden, webhook.name, webhook.kind, object, before)
				require.Equal(t, first, again)
				require.True(t, first.Allowed || first.Result != nil)
				if webhook.name == "namespacedcloudprofilestatus.openstack" {
					require.True(t, first.Allowed || first.Result.Code == http.StatusBadRequest, "%v", first.Result)
				}
			}
			garden.requests = 0
			unchanged := callProfileWebhook(t, garden, webhook.name, webhook.kind, object, object)
			require.True(t, unchanged.Allowed || unchanged.Result.Code == http.StatusBadRequest, "%v", unchanged.Result)
			require.Zero(t, garden.requests)
		}
	})
}

// parentOrNone leaves out what no garden holds: objects of another shape.
func parentOrNone(document string) string {
	if json.Unmarshal([]byte(document), &gardencorev1beta1.CloudProfile{}) != nil {
		return ""
	}
	return document
}

// applyEdits replaces values in documents. An edit is three numbers: the document, the value in it, and what takes its place.
func applyEdits(documents []any, edits []byte) {
	for edits = edits[:min(len(edits), 24)]; len(edits) >= 3; edits = edits[3:] { // each may double a document
		var replace []func(any)
		var values []any
		walk(documents[int(edits[0])%len(documents)], func(value any, put func(any)) { values, replace = append(values, value), append(replace, put) })
		if len(values) == 0 {
			continue
		}
		others := []any{nil, "", "a", -1.0, 1e30, true, []any{}, map[string]any{}, []any{nil}, map[string]any{"": nil}, "*", "~(", "amd64", "https://a/v3", profileGlanceID}
		others = append(others, values...)
		replace[int(edits[1])%len(replace)](deepCopyValue(others[int(edits[2])%len(others)]))
	}
}

// walk visits all values in a document, in one order.
func walk(document any, visit func(value any, put func(any))) {
	switch document := document.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(document)) {
			visit(document[key], func(value any) { document[key] = value })
			walk(document[key], visit)
		}
	case []any:
		for i := range document {
			visit(document[i], func(value any) { document[i] = value })
			walk(document[i], visit)
		}
	}
}

// deepCopyValue keeps a value from being part of itself.
func deepCopyValue(value any) any {
	return runtime.DeepCopyJSONValue(value)
}

// splitProfile takes a profile apart: its config, and the rest of its spec.
func splitProfile(f *testing.F, profile string) (config, rest string) {
	f.Helper()
	var document struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	require.NoError(f, json.Unmarshal([]byte(profile), &document))
	config = string(document.Spec["providerConfig"])
	delete(document.Spec, "providerConfig")
	encoded, err := json.Marshal(document.Spec)
	require.NoError(f, err)
	return config, string(encoded)
}

// composeProfile returns a document that is a CloudProfile and a NamespacedCloudProfile with a status, of the same spec.
func composeProfile(t *testing.T, config, spec any) string {
	t.Helper()
	fields := map[string]any{}
	if specFields, ok := spec.(map[string]any); ok {
		maps.Copy(fields, specFields)
	}
	fields["type"], fields["providerConfig"] = Type, config
	own := maps.Clone(fields)
	own["parent"] = map[string]any{"kind": "CloudProfile", "name": "parent"}
	document, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"name": "p", "generation": 1}, "spec": own,
		"status": map[string]any{"observedGeneration": 1, "cloudProfileSpec": fields},
	})
	require.NoError(t, err)
	return string(document)
}
