package openstack

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// namespacedProfile adds a version to an image of cloudProfile, and has another one expire.
const namespacedProfile = `{"metadata":{"name":"p"},"spec":{"parent":{"kind":"CloudProfile","name":"parent"},` +
	`"machineImages":[{"name":"coreos","versions":[{"version":"2135.6.0","expirationDate":"2027-01-01T00:00:00Z"},{"version":"2200.0.0"}]}],` +
	`"providerConfig":{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"CloudProfileConfig",` +
	`"machineImages":[{"name":"coreos","versions":[{"version":"2200.0.0","image":"mine"}]}]}}}`

// patchedProfile returns what becomes of an object by an answer.
func patchedProfile(t testing.TB, object string, response ctrladmission.Response) string {
	t.Helper()
	if len(response.Patch) == 0 {
		return object
	}
	stored := &unstructured.Unstructured{}
	require.NoError(t, json.Unmarshal([]byte(object), &stored.Object))
	stored.SetAPIVersion("v1")
	stored.SetKind("Thing")
	store := fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(stored).Build()
	require.NoError(t, store.Patch(t.Context(), stored, client.RawPatch(types.JSONPatchType, response.Patch)), "%s", response.Patch)
	patched, err := json.Marshal(stored.Object)
	require.NoError(t, err)
	return string(patched)
}

func TestValidateNamespacedCloudProfile(t *testing.T) {
	const config = "spec.providerConfig"
	invalid := replaceInDocument(t, namespacedProfile, `"machineImages":[{"name":"coreos","versions":[{"version":"2200.0.0","image"`,
		`"keystoneURL":"https://mine","machineImages":[{"name":"coreos","versions":[{"version":"2200.0.0","image"`)
	for sentence, test := range map[string]struct {
		object, old string
		parent      string // or cloudProfile
		fields      []string
		looks       int
	}{
		"a fine one":    {object: namespacedProfile, looks: 1},
		"one that adds": {object: replaceInDocument(t, namespacedProfile, `,"image":"mine"`, ``), fields: []string{config + ".machineImages"}, looks: 1},
		"one that adds without a config": {
			object: replaceInDocument(t, namespacedProfile, `providerConfig`, `providedConfig`), fields: []string{config + ".machineImages"}, looks: 1,
		},
		"one that says what its parent says":    {object: invalid, fields: []string{config + ".keystoneURL"}, looks: 1},
		"one of a field that there is not":      {object: replaceInDocument(t, invalid, `keystoneURL`, `keystone`), fields: []string{config}, looks: 1},
		"one that cannot be read":               {object: replaceInDocument(t, namespacedProfile, `"mine"`, `1`), fields: []string{config}, looks: 1},
		"one of a parent of another cloud":      {object: invalid, parent: replaceInDocument(t, cloudProfile, `"openstack","regions"`, `"aws","regions"`), looks: 1},
		"one of a parent that there is not":     {object: replaceInDocument(t, invalid, `"name":"parent"`, `"name":"nobody"`), looks: 1},
		"one of a parent of another kind":       {object: replaceInDocument(t, invalid, `"kind":"CloudProfile"`, `"kind":"Shoot"`)},
		"one of a parent that cannot be read":   {object: namespacedProfile, parent: replaceInDocument(t, cloudProfile, `"60s"`, `60`), looks: 1},
		"one that adds nothing to the machines": {object: `{"spec":{"parent":{"kind":"CloudProfile","name":"parent"}}}`},
		"Gardener's finalizer on one with errors": {
			object: replaceInDocument(t, invalid, `"name":"p"`, `"name":"p","finalizers":["gardener"]`), old: invalid,
		},
		"another limit in one with errors": {object: replaceInDocument(t, invalid, `"parent":`, `"limits":{"maxNodesTotal":1},"parent":`), old: invalid},
		"a version more in one with errors": {
			object: replaceInDocument(t, invalid, `{"version":"2200.0.0"}`, `{"version":"2201.0.0"},{"version":"2200.0.0"}`,
				`{"version":"2200.0.0","image"`, `{"version":"2201.0.0","image":"b"},{"version":"2200.0.0","image"`), old: invalid, looks: 1,
		},
		"a version that the parent has by now": {
			object: replaceInDocument(t, namespacedProfile, `2027`, `2028`), old: namespacedProfile,
			parent: replaceInDocument(t, cloudProfile, `[{"version":"2135.6.0","architectures"`, `[{"version":"2200.0.0"},{"version":"2135.6.0","architectures"`), looks: 1,
		},
		"an error more": {
			object: replaceInDocument(t, invalid, `"keystoneURL"`, `"useSNAT":false,"keystoneURL"`), old: invalid, fields: []string{config + ".useSNAT"}, looks: 1,
		},
		"what is being deleted": {object: replaceInDocument(t, invalid, `"name":"p"`, `"name":"p","deletionTimestamp":"2026-11-20T12:00:00Z"`)},
	} {
		t.Run(sentence, func(t *testing.T) {
			garden := &profileGarden{parent: cloudProfile}
			if test.parent != "" {
				garden.parent = test.parent
			}
			response := callProfileWebhook(t, garden, "namespacedcloudprofile.openstack", "NamespacedCloudProfile", test.object, test.old)
			assert.Equal(t, test.fields, refusedFields(response), "%v", response.Result)
			assert.Equal(t, test.looks, garden.requests)
		})
	}
}

func TestSetCapabilityFlavors_NamespacedCloudProfile(t *testing.T) {
	parent := profileWithCapabilities(t, `,"capabilityFlavors":[{"architecture":["amd64"]},{"architecture":["arm64"]}]`)
	mapped := replaceInDocument(t, namespacedProfile, `"image":"mine"`, `"capabilityFlavors":[{"image":"mine","capabilities":{"architecture":["arm64"]}}]`)
	for sentence, test := range map[string]struct {
		object, old, parent string
		filled              bool
		looks               int
	}{
		"a version of one's own":                   {object: mapped, parent: parent, filled: true, looks: 1},
		"a version that the parent has":            {object: replaceInDocument(t, mapped, `{"version":"2200.0.0"}`, ``, `Z"},`, `Z"}`, `[{"version":"2200.0.0"`, `[{"version":"2135.6.0"`), parent: parent, looks: 1},
		"a parent that works without capabilities": {object: mapped, parent: cloudProfile, looks: 1},
		"a mapping by name":                        {object: namespacedProfile, parent: parent},
		"what does not change":                     {object: replaceInDocument(t, mapped, `"name":"p"`, `"name":"p","labels":{"a":"b"}`), old: mapped, parent: parent},
		"no config":                                {object: replaceInDocument(t, mapped, `providerConfig`, `providedConfig`), parent: parent},
	} {
		t.Run(sentence, func(t *testing.T) {
			garden := &profileGarden{parent: test.parent}
			response := callProfileWebhook(t, garden, "namespacedcloudprofiledefaults.openstack", "NamespacedCloudProfile", test.object, test.old)
			require.True(t, response.Allowed)
			assert.Equal(t, test.looks, garden.requests)
			if !test.filled {
				assert.Empty(t, response.Patch)
				return
			}
			patched := patchedProfile(t, test.object, response)
			assert.Contains(t, patched, `"capabilityFlavors":[{"architecture":["arm64"]}]`)
			assert.Empty(t, refusedFields(callProfileWebhook(t, garden, "namespacedcloudprofile.openstack", "NamespacedCloudProfile", patched, "")))
		})
	}
}

// statusOfProfile is namespacedProfile when Gardener has looked at it: the parent's spec is in its status.
func statusOfProfile(t testing.TB) string {
	t.Helper()
	var parent struct {
		Spec json.RawMessage `json:"spec"`
	}
	require.NoError(t, json.Unmarshal([]byte(cloudProfile), &parent))
	object := replaceInDocument(t, namespacedProfile, `"name":"p"`, `"name":"p","generation":7`)
	return object[:len(object)-1] + `,"status":{"observedGeneration":7,"cloudProfileSpec":` + string(parent.Spec) + `}}`
}

func TestMergeIntoStatus(t *testing.T) {
	const (
		config = `"path":"/status/cloudProfileSpec/providerConfig/machineImages/0/versions/1"`
		added  = `[{"op":"add",` + config + `,"value":{"image":"mine","version":"2200.0.0"}}]`
	)
	status := statusOfProfile(t)
	for sentence, test := range map[string]struct{ object, patch string }{
		"what Gardener has just written": {object: status, patch: added},
		"fields that nobody knows stay": {
			object: replaceInDocument(t, status, `"mine"}]}]`, `"mine"}]}],"own":1`, `"machineImages":[{"name":"coreos","versions":[{"version":"2135.6.0","image"`,
				`"new":{"a":1},"machineImages":[{"new":2,"name":"coreos","versions":[{"new":3,"version":"2135.6.0","image"`),
			patch: added,
		},
		"a spec that Gardener has not looked at yet": {object: replaceInDocument(t, status, `"generation":7`, `"generation":8`)},
		"no images of one's own":                     {object: replaceInDocument(t, status, `"providerConfig"`, `"providedConfig"`)},
		"a parent without a config":                  {object: replaceInDocument(t, status, `"providerConfig"`, `"provider"`, `"providerConfig"`, `"providedConfig"`, `"provider"`, `"providerConfig"`)},
		"a parent of another cloud":                  {object: replaceInDocument(t, status, `"type":"openstack"`, `"type":"aws"`)},
		"own images that cannot be read":             {object: replaceInDocument(t, status, `"mine"`, `1`)},
		"own images of another cloud":                {object: replaceInDocument(t, status, `openstack.provider`, `aws.provider`)},
		"a parent that cannot be read":               {object: replaceInDocument(t, status, `"60s"`, `60`)},
		"what is being deleted":                      {object: replaceInDocument(t, status, `"name":"p"`, `"name":"p","deletionTimestamp":"2026-11-20T12:00:00Z"`)},
	} {
		t.Run(sentence, func(t *testing.T) {
			review := func(object string) ctrladmission.Response {
				garden := &profileGarden{}
				response := callProfileWebhook(t, garden, "namespacedcloudprofilestatus.openstack", "NamespacedCloudProfile", object, object)
				require.True(t, response.Allowed, "a status is never refused")
				require.Zero(t, garden.requests)
				return response
			}
			response := review(test.object)
			if test.patch == "" {
				assert.Empty(t, response.Patch)
				return
			}
			assert.JSONEq(t, test.patch, string(response.Patch))
			assert.Empty(t, review(patchedProfile(t, test.object, response)).Patch, "once more")
		})
	}
}

func TestMergeIntoStatus_Deterministic(t *testing.T) {
	object := replaceInDocument(t, statusOfProfile(t), `"machineImages":[{"name":"coreos","versions":[{"version":"2200.0.0","image"`,
		`"machineImages":[{"name":"z","versions":[{"version":"1","image":"z"}]},{"name":"a","versions":[{"version":"2"},{"version":"1"}]},`+
			`{"name":"coreos","versions":[{"version":"2200.0.0","image"`)
	var first string
	for range 100 {
		patch := string(callProfileWebhook(t, &profileGarden{}, "namespacedcloudprofilestatus.openstack", "NamespacedCloudProfile", object, object).Patch)
		if first == "" {
			first = patch
		}
		require.Equal(t, first, patch)
	}
}
