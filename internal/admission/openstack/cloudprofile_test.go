package openstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/admission"
)

// profileGarden is a garden with one CloudProfile at most. It counts who looks.
type profileGarden struct {
	client.Reader
	parent   string // as JSON
	err      error
	requests int
}

func (g *profileGarden) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	g.requests++
	if g.err != nil {
		return g.err
	}
	if _, isProfile := into.(*gardencorev1beta1.CloudProfile); !isProfile || g.parent == "" || key != (client.ObjectKey{Name: "parent"}) {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	return json.Unmarshal([]byte(g.parent), into)
}

// callProfileWebhook sends an object, or its subresource, through one of the webhooks of profiles. It is created when old is empty.
func callProfileWebhook(t testing.TB, garden *profileGarden, name, kind, object, old string) ctrladmission.Response {
	t.Helper()
	request := ctrladmission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Kind: metav1.GroupVersionKind{Group: "core.gardener.cloud", Version: "v1beta1", Kind: kind}, Name: "p",
	}}
	request.Object.Raw = []byte(object)
	if old != "" {
		request.Operation, request.OldObject.Raw = admissionv1.Update, []byte(old)
	}
	if strings.HasPrefix(name, "namespacedcloudprofilestatus") {
		request.SubResource = "status"
	}
	for _, webhook := range cloudProfileWebhooks(admission.Garden{Reader: garden}) {
		if webhook.Name == name {
			return webhook.Handler.Handle(t.Context(), request)
		}
	}
	require.FailNow(t, "no such webhook", name)
	return ctrladmission.Response{}
}

const profileGlanceID = "42345678-abcd-4eef-88af-0123456789ab"

// replaceInDocument replaces texts in a document, in pairs, each of which must be there.
func replaceInDocument(t testing.TB, document string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(t, document, pairs[i])
		document = strings.Replace(document, pairs[i], pairs[i+1], 1)
	}
	return document
}

// cloudProfile is as upstream's documentation has it.
const cloudProfile = `{"metadata":{"name":"p"},"spec":{"type":"openstack","regions":[{"name":"europe"},{"name":"asia"}],` +
	`"machineImages":[{"name":"coreos","versions":[{"version":"2135.6.0","architectures":["amd64"]}]}],` +
	`"providerConfig":{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"CloudProfileConfig",` +
	`"machineImages":[{"name":"coreos","versions":[{"version":"2135.6.0","image":"coreos-2135.6.0"}]}],` +
	`"keystoneURL":"https://keystone.example.com/v3/","dnsServers":["10.10.10.11","10.10.10.12"],"requestTimeout":"60s",` +
	`"constraints":{"floatingPools":[{"name":"fp-pool-1"},{"name":"fp-pool-*","region":"europe"}],"loadBalancerProviders":[{"name":"haproxy"}]}}}}`

// refusedFields lists the fields that a refusal names, and "" where it is not about fields.
func refusedFields(response ctrladmission.Response) []string {
	if response.Allowed {
		return nil
	}
	if response.Result.Details == nil {
		return []string{""}
	}
	var fields []string
	for _, cause := range response.Result.Details.Causes {
		fields = append(fields, cause.Field)
	}
	return fields
}

func TestValidateCloudProfile(t *testing.T) {
	const config = "spec.providerConfig"
	invalid := replaceInDocument(t, cloudProfile, `"10.10.10.11"`, `"ten"`, `"coreos-2135.6.0"`, `"","regions":[{"name":"asia","id":"coreos"}]`)
	outdated := replaceInDocument(t, cloudProfile, `"dnsServers"`, `"useOctavia":true,"dnsServers"`)
	unreadable := replaceInDocument(t, cloudProfile, `"60s"`, `"soon"`)
	const one = `"versions":[{"version":"2135.6.0","architectures"`
	for sentence, test := range map[string]struct {
		object, old string
		fields      []string
	}{
		"a fine one":                   {object: cloudProfile},
		"one of another cloud":         {object: replaceInDocument(t, cloudProfile, `"openstack","regions"`, `"aws","regions"`, `"kind":`, `"king":`)},
		"one with errors":              {object: invalid, fields: []string{config + ".dnsServers[0]", config + ".machineImages[0].versions[0].regions[0].id"}},
		"one without a config":         {object: `{"spec":{"type":"openstack"}}`, fields: []string{config}},
		"one with null for a config":   {object: `{"spec":{"type":"openstack","providerConfig":null}}`, fields: []string{config}},
		"one of another kind":          {object: replaceInDocument(t, cloudProfile, `CloudProfileConfig`, `WorkerConfig`), fields: []string{config}},
		"one with a field that is not": {object: outdated, fields: []string{config}},
		"one that cannot be read":      {object: unreadable, fields: []string{config}},
		"both kinds of errors": {
			object: replaceInDocument(t, outdated, `"10.10.10.11"`, `"ten"`), fields: []string{config, config + ".dnsServers[0]"},
		},
		"Gardener's finalizer on one with errors": {object: replaceInDocument(t, invalid, `"name":"p"`, `"name":"p","finalizers":["gardener"]`), old: invalid},
		"another version of Kubernetes in one that cannot be read": {
			object: replaceInDocument(t, unreadable, `"regions"`, `"kubernetes":{"versions":[{"version":"1.36.0"}]},"regions"`), old: unreadable,
		},
		"a version more, in front, in one with errors": {
			object: replaceInDocument(t, invalid, one, `"versions":[{"version":"2200.0.0"},{"version":"2135.6.0","architectures"`,
				`"versions":[{"version":"2135.6.0","image"`, `"versions":[{"version":"2200.0.0","image":"a"},{"version":"2135.6.0","image"`),
			old: invalid,
		},
		"a version more that is not mapped, in one with errors": {
			object: replaceInDocument(t, invalid, one, `"versions":[{"version":"2200.0.0"},{"version":"2135.6.0","architectures"`),
			old:    invalid, fields: []string{config + ".machineImages"},
		},
		"the same error once more": {
			object: replaceInDocument(t, invalid, `"ten",`, `"ten","ten",`), old: invalid, fields: []string{config + ".dnsServers[1]"},
		},
		"another error in a field that had one": {
			object: replaceInDocument(t, invalid, `"ten"`, `"eleven"`), old: invalid, fields: []string{config + ".dnsServers[0]"},
		},
		"an error in one with a field that is not": {
			object: replaceInDocument(t, outdated, `"10.10.10.11"`, `"ten"`), old: outdated, fields: []string{config + ".dnsServers[0]"},
		},
		"a mapping is lost": {
			object: replaceInDocument(t, cloudProfile, `"version":"2135.6.0","image"`, `"version":"2135.6.1","image"`), old: cloudProfile,
			fields: []string{config + ".machineImages"},
		},
		"a region is lost, with the only image": {
			object: replaceInDocument(t, cloudProfile, `,{"name":"asia"}`, ``, `"image":"coreos-2135.6.0"`, `"regions":[{"name":"asia","id":"`+profileGlanceID+`"}]`),
			old:    replaceInDocument(t, cloudProfile, `"image":"coreos-2135.6.0"`, `"regions":[{"name":"asia","id":"`+profileGlanceID+`"}]`),
			fields: []string{config + ".machineImages"},
		},
		"the config is lost": {
			object: replaceInDocument(t, cloudProfile, `"providerConfig"`, `"providedConfig"`), old: cloudProfile, fields: []string{config},
		},
		"an error is mended":     {object: cloudProfile, old: invalid},
		"what is being deleted":  {object: replaceInDocument(t, invalid, `"name":"p"`, `"name":"p","deletionTimestamp":"2026-11-20T12:00:00Z"`)},
		"the cloud becomes ours": {object: invalid, old: replaceInDocument(t, invalid, `"openstack","regions"`, `"aws","regions"`), fields: []string{config + ".dnsServers[0]", config + ".machineImages[0].versions[0].regions[0].id"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			garden := &profileGarden{}
			response := callProfileWebhook(t, garden, "cloudprofile.openstack", "CloudProfile", test.object, test.old)
			assert.Equal(t, test.fields, refusedFields(response), "%v", response.Result)
			assert.Zero(t, garden.requests, "all that is validated is in the object")
		})
	}
}

func TestValidateCloudProfile_Warnings(t *testing.T) {
	distant := replaceInDocument(t, cloudProfile, `"region":"europe"`, `"region":"mars"`)
	response := callProfileWebhook(t, &profileGarden{}, "cloudprofile.openstack", "CloudProfile", distant, "")
	require.True(t, response.Allowed)
	assert.Equal(t, []string{`spec.providerConfig.constraints.floatingPools[1].region: the CloudProfile has no region "mars"`}, response.Warnings)

	response = callProfileWebhook(t, &profileGarden{}, "cloudprofile.openstack", "CloudProfile", replaceInDocument(t, distant, `"60s"`, `"61s"`), distant)
	require.True(t, response.Allowed)
	assert.Empty(t, response.Warnings)

	pools := ""
	for name := range 13 {
		pools += fmt.Sprintf(`{"name":"b%d","region":"mars"},`, name)
	}
	response = callProfileWebhook(t, &profileGarden{}, "cloudprofile.openstack", "CloudProfile", replaceInDocument(t, cloudProfile, `{"name":"fp-pool-1"}`, pools+`{"name":"fp-pool-1"}`), "")
	require.True(t, response.Allowed)
	require.Len(t, response.Warnings, 11)
	assert.Equal(t, "spec.providerConfig: 3 warnings more", response.Warnings[10])
}

func TestCloudProfileWebhooks(t *testing.T) {
	var names []string
	for _, webhook := range cloudProfileWebhooks(admission.Garden{}) {
		names = append(names, webhook.Name)
		assert.Equal(t, map[string]string{"provider.extensions.gardener.cloud/openstack": "true"}, webhook.ObjectSelector.MatchLabels)
		require.Len(t, webhook.Rules, 1)
		assert.Equal(t, []string{"core.gardener.cloud"}, webhook.Rules[0].APIGroups)
		isStatus := webhook.Name == "namespacedcloudprofilestatus.openstack"
		assert.Equal(t, isStatus, webhook.Rules[0].Resources[0] == "namespacedcloudprofiles/status")
		if isStatus {
			assert.Equal(t, []admissionregistrationv1.OperationType{admissionregistrationv1.Update}, webhook.Rules[0].Operations)
		}
		assert.Equal(t, webhook.Mutates, strings.Contains(webhook.Name, "defaults") || isStatus)
	}
	assert.Equal(t, []string{
		"cloudprofiledefaults.openstack", "cloudprofile.openstack", "namespacedcloudprofiledefaults.openstack", "namespacedcloudprofile.openstack",
		"namespacedcloudprofilestatus.openstack",
	}, names)
}

// profileWithCapabilities is a CloudProfile that works with capabilities, and maps by them.
func profileWithCapabilities(t testing.TB, capabilityFlavors string) string {
	t.Helper()
	return replaceInDocument(t, cloudProfile, `"regions":`, `"machineCapabilities":[{"name":"architecture","values":["amd64","arm64"]}],"regions":`,
		`,"architectures":["amd64"]`, capabilityFlavors, `"image":"coreos-2135.6.0"`,
		`"capabilityFlavors":[{"image":"a","capabilities":{"architecture":["amd64"]}},{"image":"b","capabilities":{"architecture":["arm64"]}}]`)
}

func TestSetCapabilityFlavors_CloudProfile(t *testing.T) {
	const amd64 = `{"architecture":["amd64"]}`
	followed := profileWithCapabilities(t, `,"capabilityFlavors":[`+amd64+`,{"architecture":["arm64"]}]`)
	fewer := replaceInDocument(t, followed, `,{"image":"b","capabilities":{"architecture":["arm64"]}}`, ``)
	for sentence, test := range map[string]struct {
		object, old string
		flavors     string // of the patch, or none
	}{
		"a version without flavors has those of its mapping": {object: profileWithCapabilities(t, ``), flavors: `[` + amd64 + `,{"architecture":["arm64"]}]`},
		"what an admin wrote stays":                          {object: profileWithCapabilities(t, `,"capabilityFlavors":[`+amd64+`]`)},
		"what an admin writes otherwise stays":               {object: profileWithCapabilities(t, `,"capabilityFlavors":[`+amd64+`]`), old: followed},
		"what followed goes on following":                    {object: fewer, old: followed, flavors: `[` + amd64 + `]`},
		"what is as it is mapped":                            {object: followed},
		"what does not change":                               {object: profileWithCapabilities(t, ``), old: profileWithCapabilities(t, ``)},
		"what works without capabilities":                    {object: replaceInDocument(t, profileWithCapabilities(t, ``), `machineCapabilities`, `machineAbilities`)},
		"what is mapped by name": {
			object: replaceInDocument(t, cloudProfile, `"regions":`, `"machineCapabilities":[{"name":"architecture","values":["amd64"]}],"regions":`),
		},
		"what is of another cloud":  {object: replaceInDocument(t, profileWithCapabilities(t, ``), `"openstack","machine`, `"aws","machine`)},
		"what cannot be read":       {object: replaceInDocument(t, profileWithCapabilities(t, ``), `"60s"`, `60`)},
		"what has no config at all": {object: `{"spec":{"type":"openstack","machineCapabilities":[{"name":"architecture"}],"machineImages":[{"name":"a","versions":[{}]}]}}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			response := callProfileWebhook(t, &profileGarden{}, "cloudprofiledefaults.openstack", "CloudProfile", test.object, test.old)
			require.True(t, response.Allowed)
			if test.flavors == "" {
				assert.Empty(t, response.Patch)
				return
			}
			patched := patchedProfile(t, test.object, response)
			profile := &gardencorev1beta1.CloudProfile{}
			require.NoError(t, json.Unmarshal([]byte(patched), profile))
			flavors, err := json.Marshal(profile.Spec.MachineImages[0].Versions[0].CapabilityFlavors)
			require.NoError(t, err)
			assert.JSONEq(t, test.flavors, string(flavors))
			assert.Empty(t, refusedFields(callProfileWebhook(t, &profileGarden{}, "cloudprofile.openstack", "CloudProfile", patched, test.old)), "what it makes is fine")
		})
	}
}

func TestCloudProfileWebhooks_GardenUnavailable(t *testing.T) {
	for _, name := range []string{"namespacedcloudprofile.openstack", "namespacedcloudprofiledefaults.openstack"} {
		garden := &profileGarden{err: errors.New("connection refused")}
		object := replaceInDocument(t, namespacedProfile, `"image":"mine"`, `"capabilityFlavors":[{"image":"mine"}]`)
		response := callProfileWebhook(t, garden, name, "NamespacedCloudProfile", object, "")
		require.False(t, response.Allowed, name)
		assert.EqualValues(t, http.StatusInternalServerError, response.Result.Code)
		assert.Contains(t, response.Result.Message, `reading *v1beta1.CloudProfile "parent": connection refused`)
	}
}
