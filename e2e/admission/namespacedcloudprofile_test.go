package admission

import (
	"encoding/json"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// extension is a project's addition to its profile.
type extension func(*gardencorev1beta1.NamespacedCloudProfile)

func allExtensions(extensions ...extension) extension {
	return func(profile *gardencorev1beta1.NamespacedCloudProfile) {
		for _, extension := range extensions {
			extension(profile)
		}
	}
}

// ownImage is a machine image that is not in the parent.
func ownImage(name, version string) extension {
	return func(profile *gardencorev1beta1.NamespacedCloudProfile) {
		profile.Spec.MachineImages = append(profile.Spec.MachineImages, gardencorev1beta1.MachineImage{
			Name: name, UpdateStrategy: new(gardencorev1beta1.UpdateStrategyMajor),
			Versions: []gardencorev1beta1.MachineImageVersion{{
				ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: version},
				CRI:              []gardencorev1beta1.CRI{{Name: gardencorev1beta1.CRINameContainerD}},
				Architectures:    []string{v1beta1constants.ArchitectureAMD64},
			}},
		})
	}
}

func withProfileConfig(fields string) extension {
	return func(profile *gardencorev1beta1.NamespacedCloudProfile) {
		profile.Spec.ProviderConfig = merged(profile.Spec.ProviderConfig, openstackGroup, "CloudProfileConfig", fields)
	}
}

// extendedProfile is valid and kept: shoots refer to it.
func extendedProfile() *gardencorev1beta1.NamespacedCloudProfile {
	profile := newNamespacedCloudProfile("extended")
	allExtensions(ownImage("own", "1.0.0"), withProfileConfig(`{machineImages: [{name: own, versions: [{version: 1.0.0, image: own-1}]}]}`))(profile)
	return profile
}

// extendProfile creates it, and waits until gardener-controller-manager has merged it with its parent.
func (env *environment) extendProfile(t *testing.T) {
	t.Helper()
	profile := extendedProfile()
	env.store(t, profile)
	var last error
	eventually(t, "the profile has a status", func() bool {
		last = env.Client.Get(t.Context(), client.ObjectKeyFromObject(profile), profile)
		return last == nil && profile.Status.ObservedGeneration == profile.Generation
	}, &last)
}

func testNamespacedCloudProfiles(t *testing.T, env *environment) {
	const images = inProfile + ".machineImages"
	mapped := withProfileConfig(`{machineImages: [{name: suse, versions: [{version: 1.0.0, image: s}]}]}`)
	for sentence, tt := range map[string]struct {
		change     extension
		wantErrors []expectedCause
	}{
		"nothing of its own":                    {allExtensions(), nil},
		"an image that it says where to find":   {allExtensions(ownImage("suse", "1.0.0"), mapped), nil},
		"an image that nobody finds":            {ownImage("suse", "1.0.0"), []expectedCause{{images, "suse 1.0.0"}}},
		"another version that nobody finds":     {allExtensions(ownImage("suse", "1.1.0"), mapped), []expectedCause{{images + "[0].versions[0]", "add it there, or remove it here"}, {images, "suse 1.1.0"}}},
		"a field that there is not":             {withProfileConfig(`{machineImage: []}`), []expectedCause{{inProfile, "correct the name or remove the field"}}},
		"another group":                         {withProfileConfig(`{apiVersion: aws.provider.extensions.gardener.cloud/v1alpha1}`), []expectedCause{{inProfile, "set apiVersion to openstack"}}},
		"pools of its own":                      {allExtensions(ownImage("suse", "1.0.0"), mapped, withProfileConfig(`{constraints: {floatingPools: [{name: a}]}}`)), []expectedCause{{inProfile + ".constraints", "remove"}}},
		"a Keystone of its own":                 {allExtensions(ownImage("suse", "1.0.0"), mapped, withProfileConfig(`{keystoneURL: "https://mine.example.org"}`)), []expectedCause{{inProfile + ".keystoneURL", "remove"}}},
		"policies of its own":                   {allExtensions(ownImage("suse", "1.0.0"), mapped, withProfileConfig(`{serverGroupPolicies: [affinity]}`)), []expectedCause{{inProfile + ".serverGroupPolicies", "remove"}}},
		"a version that the parent has already": {withProfileConfig(`{machineImages: [{name: gardenlinux, versions: [{version: ` + newerImage + `, image: mine}]}]}`), []expectedCause{{images + "[0].versions[0]", newerImage}}},
		"an image for nothing":                  {withProfileConfig(`{machineImages: [{name: unheard-of, versions: [{version: 1.0.0, image: s}]}]}`), []expectedCause{{images + "[0].versions[0]", "add it there, or remove it here"}}},
		"a text": {func(profile *gardencorev1beta1.NamespacedCloudProfile) {
			profile.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`"own"`)}
		}, []expectedCause{{inProfile, "not a JSON object"}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			profile := newNamespacedCloudProfile("new")
			tt.change(profile)
			assertResult(t, env.Client.Create(t.Context(), profile, client.DryRunAll), tt.wantErrors)
		})
	}
	t.Run("gardener-controller-manager puts it together with its parent", func(t *testing.T) { testMergedProfile(t, env) })
}

// testMergedProfile lets gardener-controller-manager write statuses, into which it copies the parent.
func testMergedProfile(t *testing.T, env *environment) {
	profile := &gardencorev1beta1.NamespacedCloudProfile{}
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKeyFromObject(extendedProfile()), profile))
	parent := config(t, newCloudProfile("").Spec.ProviderConfig)
	images := parent["machineImages"].([]any)
	parent["machineImages"] = append(images, map[string]any{
		"name": "own", "versions": []any{map[string]any{"version": "1.0.0", "image": "own-1"}},
	})
	assert.Empty(t, cmp.Diff(parent, config(t, profile.Status.CloudProfileSpec.ProviderConfig)))

	before := profile.ResourceVersion
	for range 3 { // whoever writes it again writes the same
		require.NoError(t, env.Client.Status().Update(t.Context(), profile))
	}
	assert.Equal(t, before, profile.ResourceVersion)

	// A shoot uses an image of the project.
	shoot := newShoot("new")
	all(extended(), worker(func(worker *gardencorev1beta1.Worker) {
		worker.Machine.Image = &gardencorev1beta1.ShootMachineImage{Name: "own", Version: new("1.0.0")}
	}))(shoot)
	err := env.Client.Create(t.Context(), shoot, client.DryRunAll)
	// Gardener determines the extension for its operating system.
	assert.False(t, deniedByUs(err), "%v", err)
}

func config(t *testing.T, raw *runtime.RawExtension) map[string]any {
	t.Helper()
	object := map[string]any{}
	if assert.NotNil(t, raw) {
		require.NoError(t, json.Unmarshal(raw.Raw, &object))
	}
	return object
}
