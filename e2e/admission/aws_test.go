package admission

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// testAWS has type aws, of which the rules themselves are tested beside the code.
func testAWS(t *testing.T, env *environment) {
	t.Run("Shoots", func(t *testing.T) { testAWSShoots(t, env) })
	t.Run("Defaults", func(t *testing.T) { testAWSDefaults(t, env) })
	t.Run("Updates", func(t *testing.T) { testAWSUpdates(t, env) })
	t.Run("CloudProfiles", func(t *testing.T) { testAWSProfiles(t, env) })
	t.Run("NamespacedCloudProfiles", func(t *testing.T) { testAWSNamespacedProfiles(t, env) })
	t.Run("Credentials", func(t *testing.T) { testAWSCredentials(t, env) })
}

func testAWSShoots(t *testing.T, env *environment) {
	for sentence, tt := range map[string]shootCase{
		"the required fields": {all(), nil},
		"a zone that the CloudProfile does not have": {
			inAWSInfrastructure(`{networks: {zones: [{name: eu-west-1a, workers: 10.250.0.0/19}, {name: eu-west-1z, workers: 10.250.32.0/19}]}}`),
			[]expectedCause{{inInfrastructure + ".network.zones[1].name", `choose one of "eu-west-1a", "eu-west-1b"`}},
		},
		"a tag by which resources are found": {inAWSInfrastructure(`{ignoreTags: {keyPrefixes: [kubernetes.io/]}}`), []expectedCause{{inInfrastructure + ".ignoreTags.keyPrefixes[0]", "give a longer prefix"}}},
		"a feature gate that there is not":   {inAWSControlPlane(`{cloudControllerManager: {featureGates: {Zebra: true}}}`), []expectedCause{{inControlPlane + ".cloudControllerManager.featureGates.Zebra", "unknown"}}},
		"half of the processors":             {inAWSPool(`{cpuOptions: {coreCount: 1}}`), []expectedCause{{inPoolConfig + ".cpuOptions.threadsPerCore", "give it together with coreCount"}}},
		"an image of another region": {
			worker(func(worker *gardencorev1beta1.Worker) { worker.Machine.Image.Version = new(newerImage) }),
			[]expectedCause{{"spec.provider.workers[0].machine.image.version", `in "us-east-1"`}},
		},
		"dual stack with an overlay": {all(dualStack(), otherNetwork(`{"overlay":{"enabled":true}}`)), []expectedCause{{"spec.networking.ipFamilies", "overlay.enabled to false"}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := newAWSShoot("new")
			tt.change(shoot)
			assertResult(t, env.Client.Create(t.Context(), shoot, client.DryRunAll), tt.wantCauses)
		})
	}
}

// testAWSDefaults has shoots with Calico: the webhook for its overlay is called after that for AWS, which follows it.
func testAWSDefaults(t *testing.T, env *environment) {
	create := func(t *testing.T, changes ...change) *gardencorev1beta1.Shoot {
		shoot := newAWSShoot("new")
		all(changes...)(shoot)
		require.NoError(t, env.Client.Create(t.Context(), shoot, client.DryRunAll))
		return shoot
	}
	routes := func(used bool) map[string]any { return map[string]any{"useCustomRouteController": used} }
	controlPlane := func(fields map[string]any) map[string]any {
		fields["apiVersion"], fields["kind"] = awsGroup, "ControlPlaneConfig"
		return fields
	}
	t.Run("a shoot that says nothing", func(t *testing.T) {
		shoot := create(t, nodeLocalDNS(&gardencorev1beta1.NodeLocalDNS{Enabled: true}))
		assert.Equal(t, map[string]any{"apiVersion": calicoGroup, "kind": "NetworkConfig", "overlay": map[string]any{"enabled": false}}, config(t, shoot.Spec.Networking.ProviderConfig))
		assert.Empty(t, cmp.Diff(controlPlane(map[string]any{"cloudControllerManager": routes(true)}), config(t, shoot.Spec.Provider.ControlPlaneConfig)))
		assert.Equal(t, false, config(t, shoot.Spec.Provider.InfrastructureConfig)["enableMTUCustomizer"])
		assert.Equal(t, new(false), shoot.Spec.SystemComponents.NodeLocalDNS.ForceTCPToUpstreamDNS)
	})
	t.Run("a shoot with an overlay", func(t *testing.T) {
		shoot := create(t, network(`{overlay: {enabled: true}}`), inAWSControlPlane(`{cloudControllerManager: {useCustomRouteController: true}}`))
		assert.Empty(t, cmp.Diff(controlPlane(map[string]any{"cloudControllerManager": routes(false)}), config(t, shoot.Spec.Provider.ControlPlaneConfig)))
	})
	t.Run("a shoot with both families", func(t *testing.T) {
		shoot := create(t, dualStack())
		want := controlPlane(map[string]any{"cloudControllerManager": routes(true), "loadBalancerController": map[string]any{"enabled": true}})
		assert.Empty(t, cmp.Diff(want, config(t, shoot.Spec.Provider.ControlPlaneConfig)))
	})
	t.Run("a shoot with all that upstream writes", func(t *testing.T) {
		network, infrastructure, control := `{"overlay":{"enabled":false}}`, document(awsGroup, "InfrastructureConfig", awsInfrastructure), document(awsGroup, "ControlPlaneConfig", `{cloudControllerManager: {useCustomRouteController: true}}`)
		infrastructure = merged(infrastructure, awsGroup, "InfrastructureConfig", `{enableMTUCustomizer: false}`)
		shoot := create(t, networkRaw(network), func(shoot *gardencorev1beta1.Shoot) {
			shoot.Spec.Provider.InfrastructureConfig, shoot.Spec.Provider.ControlPlaneConfig = infrastructure, control
		})
		assert.Equal(t, network, string(shoot.Spec.Networking.ProviderConfig.Raw))
		assert.Equal(t, string(infrastructure.Raw), string(shoot.Spec.Provider.InfrastructureConfig.Raw))
		assert.Equal(t, string(control.Raw), string(shoot.Spec.Provider.ControlPlaneConfig.Raw))
	})
}

// testAWSUpdates changes a shoot that was stored with errors.
func testAWSUpdates(t *testing.T, env *environment) {
	key := client.ObjectKey{Namespace: garden.Namespace, Name: outdatedOnAWS}
	for sentence, tt := range map[string]shootCase{
		"another number of machines": {worker(func(worker *gardencorev1beta1.Worker) { worker.Maximum = 7 }), nil},
		"a label of the pool":        {worker(func(worker *gardencorev1beta1.Worker) { worker.Labels = map[string]string{"a": "b"} }), nil},
		"a new error":                {inAWSPool(`{placement: {hostId: h-1}}`), []expectedCause{{inPoolConfig + ".placement.hostId", "set tenancy to host"}}},
		"another VPC":                {inAWSInfrastructure(`{networks: {vpc: {cidr: 10.0.0.0/8}}}`), []expectedCause{{inInfrastructure + ".networks.vpc.cidr", "is immutable"}}},
		"the errors are corrected":   {all(inAWSInfrastructure(`{ignoreTags: null}`), inAWSPool(`{cpuOptions: null}`)), nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := env.shoot(t, key)
			tt.change(shoot)
			assertResult(t, env.update(t, shoot, client.DryRunAll), tt.wantCauses)
		})
	}
	t.Run("defaults of a new shoot are none of an old one's", func(t *testing.T) {
		shoot := env.shoot(t, key)
		worker(func(worker *gardencorev1beta1.Worker) { worker.Maximum = 7 })(shoot)
		require.NoError(t, env.update(t, shoot, client.DryRunAll))
		assert.NotContains(t, config(t, shoot.Spec.Provider.InfrastructureConfig), "enableMTUCustomizer")
		assert.Nil(t, shoot.Spec.Networking.ProviderConfig)
		assert.Equal(t, map[string]any{"useCustomRouteController": false}, config(t, shoot.Spec.Provider.ControlPlaneConfig)["cloudControllerManager"], "it has an overlay")
	})
}

func testAWSProfiles(t *testing.T, env *environment) {
	assertResult(t, env.Client.Create(t.Context(), newAWSProfile("new"), client.DryRunAll), nil)

	unmapped := newAWSProfile("new")
	unmapped.Spec.ProviderConfig = document(awsGroup, "CloudProfileConfig", `{machineImages: [{name: gardenlinux, versions: [{version: `+olderImage+`, regions: [{name: eu-west-1, ami: ami-2}]}]}]}`)
	assertResult(t, env.Client.Create(t.Context(), unmapped, client.DryRunAll), []expectedCause{{inProfile + ".machineImages", newerImage}})

	capable := newCapableAWSProfile("new")
	require.NoError(t, env.Client.Create(t.Context(), capable, client.DryRunAll))
	want := []gardencorev1beta1.MachineImageFlavor{{Capabilities: gardencorev1beta1.Capabilities{v1beta1constants.ArchitectureName: {"amd64"}, "boot": {"uefi", "bios"}}}}
	assert.Empty(t, cmp.Diff(want, capable.Spec.MachineImages[0].Versions[0].CapabilityFlavors), "they are those of the mapping")
}

// testAWSNamespacedProfiles has gardener-controller-manager merge one, and a shoot use it.
func testAWSNamespacedProfiles(t *testing.T, env *environment) {
	newProfile := func(fields string) *gardencorev1beta1.NamespacedCloudProfile {
		profile := newNamespacedCloudProfile("aws-extended")
		profile.Spec.Parent.Name = onAWS
		ownImage(garden.MachineImage, "1900.0.0")(profile)
		profile.Spec.MachineImages[0].UpdateStrategy = nil // is the parent's
		profile.Spec.ProviderConfig = document(awsGroup, "CloudProfileConfig", fields)
		return profile
	}
	assertResult(t, env.Client.Create(t.Context(), newProfile(`{machineImages: []}`), client.DryRunAll), []expectedCause{{inProfile + ".machineImages", "gardenlinux 1900.0.0"}})

	profile := newProfile(`{machineImages: [{name: gardenlinux, versions: [{version: 1900.0.0, regions: [{name: eu-west-1, ami: ami-9}]}]}]}`)
	env.store(t, profile)
	var last error
	eventually(t, "the profile has a status", func() bool {
		last = env.Client.Get(t.Context(), client.ObjectKeyFromObject(profile), profile)
		return last == nil && profile.Status.ObservedGeneration == profile.Generation
	}, &last)
	assert.Contains(t, string(profile.Status.CloudProfileSpec.ProviderConfig.Raw), "ami-2", "the parent's")
	assert.Contains(t, string(profile.Status.CloudProfileSpec.ProviderConfig.Raw), "ami-9", "its own")

	for version, want := range map[string][]expectedCause{
		"1900.0.0": nil, newerImage: {{"spec.provider.workers[0].machine.image.version", `in "us-east-1"`}},
	} {
		shoot := newAWSShoot("new")
		shoot.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: v1beta1constants.CloudProfileReferenceKindNamespacedCloudProfile, Name: profile.Name}
		shoot.Spec.Provider.Workers[0].Machine.Image.Version = &version
		assertResult(t, env.Client.Create(t.Context(), shoot, client.DryRunAll), want)
	}
}

func testAWSCredentials(t *testing.T, env *environment) {
	identity, roleless := newIdentity("aws", `{roleARN: "`+awsRole+`"}`), newIdentity("roleless", `{roleARN: ""}`)
	aliases := map[string]string{"accessKeyID": "", "secretAccessKey": "", "AWS_ACCESS_KEY_ID": awsKeyID, "AWS_SECRET_ACCESS_KEY": awsSecretKey, "AWS_REGION": "eu-west-1"}
	env.store(t, identity)
	for sentence, tt := range map[string]struct {
		object client.Object
		want   []expectedCause
	}{
		"an access key":                     {newAWSSecret("new", map[string]string{"region": "eu-west-1"}), nil},
		"the names of AWS' own tools":       {newAWSSecret("new", aliases), nil},
		"both names":                        {newAWSSecret("new", map[string]string{"AWS_REGION": "eu-west-1", "region": "eu-west-1"}), []expectedCause{{"data[AWS_REGION]", "remove one of the two"}}},
		"a key that nobody reads":           {newAWSSecret("new", map[string]string{"account": "1"}), []expectedCause{{"data[account]", "remove it"}}},
		"a WorkloadIdentity":                {newIdentity("new", `{roleARN: "`+awsRole+`"}`), nil},
		"a WorkloadIdentity without a role": {roleless, []expectedCause{{"spec.targetSystem.providerConfig.roleARN", "give the ARN of a role"}}},
		"a binding to a WorkloadIdentity":   {newAWSBinding("new", "security.gardener.cloud/v1alpha1", "WorkloadIdentity", identity.Name), nil},
		"a binding to an access key":        {newAWSBinding("new", "v1", "Secret", onAWS), nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			assertResult(t, env.Client.Create(t.Context(), tt.object, client.DryRunAll), tt.want)
		})
	}
	t.Run("a binding to half of an access key", func(t *testing.T) {
		err := env.Client.Create(t.Context(), newAWSBinding("new", "v1", "Secret", "aws-lost"), client.DryRunAll)
		require.True(t, deniedByUs(err), "%v", err)
		assert.ErrorContains(t, err, "data[accessKeyID]")
	})
	t.Run("another role", func(t *testing.T) {
		changed := identity.DeepCopy()
		require.NoError(t, env.Client.Get(t.Context(), client.ObjectKeyFromObject(identity), changed))
		changed.Spec.TargetSystem.ProviderConfig = document(awsGroup, "WorkloadIdentityConfig", `{roleARN: gardener}`)
		assertResult(t, env.update(t, changed, client.DryRunAll), []expectedCause{{"spec.targetSystem.providerConfig.roleARN", "give the ARN of a role"}})
	})
	t.Run("a shoot with a WorkloadIdentity", func(t *testing.T) {
		binding := newAWSBinding("aws-identity", "security.gardener.cloud/v1alpha1", "WorkloadIdentity", identity.Name)
		env.store(t, binding)
		shoot := newAWSShoot("new")
		shoot.Spec.CredentialsBindingName, shoot.ObjectMeta = new(binding.Name), metav1.ObjectMeta{Name: "new", Namespace: garden.Namespace}
		var last error
		eventually(t, "the shoot can be created", func() bool {
			last = env.Client.Create(t.Context(), shoot.DeepCopy(), client.DryRunAll)
			return last == nil
		}, &last)
	})
}
