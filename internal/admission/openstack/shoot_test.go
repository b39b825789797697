package openstack

import (
	"net/http"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func askAboutShoot(t *testing.T, garden client.Reader, shoot, old *gardencorev1beta1.Shoot) ctrladmission.Response {
	t.Helper()
	handler := shootWebhookCalled(t, garden, Options{}, "shoot.openstack").Handler
	return handler.Handle(t.Context(), shootRequest(encodedShoot(t, shoot), encodedShoot(t, old)))
}

// requireRefusal wants exactly this mistake.
func requireRefusal(t *testing.T, response ctrladmission.Response, path, remedy string) {
	t.Helper()
	require.False(t, response.Allowed)
	require.EqualValues(t, http.StatusUnprocessableEntity, response.Result.Code)
	require.Len(t, response.Result.Details.Causes, 1, response.Result.Message)
	require.Equal(t, path, response.Result.Details.Causes[0].Field)
	require.Contains(t, response.Result.Details.Causes[0].Message, remedy)
}

func inProfile(name string) func(*gardencorev1beta1.ShootSpec) {
	return func(s *gardencorev1beta1.ShootSpec) { s.CloudProfile.Name = name }
}

func projectProfile(name string) func(*gardencorev1beta1.ShootSpec) {
	return func(s *gardencorev1beta1.ShootSpec) {
		s.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: name}
	}
}

func inPool(profile, pool string) func(*gardencorev1beta1.ShootSpec) {
	return func(s *gardencorev1beta1.ShootSpec) {
		s.CloudProfile.Name = profile
		s.Provider.InfrastructureConfig = rawDocument("InfrastructureConfig", `"floatingPoolName":"`+pool+`","networks":{"workers":"10.250.0.0/19"}`)
	}
}

func bound(secretBinding, credentialsBinding *string, change func(*gardencorev1beta1.ShootSpec)) func(*gardencorev1beta1.ShootSpec) {
	return func(s *gardencorev1beta1.ShootSpec) {
		change(s)
		s.CredentialsBindingName = credentialsBinding
		s.SecretBindingName = secretBinding
	}
}

func balancing(provider string) func(*gardencorev1beta1.ShootSpec) {
	return func(s *gardencorev1beta1.ShootSpec) {
		s.Provider.ControlPlaneConfig = rawDocument("ControlPlaneConfig", `"loadBalancerProvider":"`+provider+`"`)
	}
}

func ranging(workers string) func(*gardencorev1beta1.ShootSpec) {
	return func(s *gardencorev1beta1.ShootSpec) {
		s.Provider.InfrastructureConfig = rawDocument("InfrastructureConfig", `"floatingPoolName":"public","networks":{"workers":"`+workers+`"}`)
	}
}

// gated is a shoot of a version of Kubernetes with a feature gate of the cloud-controller-manager.
func gated(version, gate string) func(*gardencorev1beta1.ShootSpec) {
	return func(s *gardencorev1beta1.ShootSpec) {
		s.Kubernetes.Version = version
		s.Provider.ControlPlaneConfig = rawDocument("ControlPlaneConfig", `"loadBalancerProvider":"amphora","cloudControllerManager":{"featureGates":{"`+gate+`":true}}`)
	}
}

func TestNewShootsAreJudged(t *testing.T) {
	const gates = "spec.provider.controlPlaneConfig.cloudControllerManager.featureGates."
	const pool = "spec.provider.infrastructureConfig.floatingPoolName"
	account := []string{"domestic", "CredentialsBinding garden-dev/binding", "Secret garden-dev/account"}
	for sentence, test := range map[string]struct {
		change       func(*gardencorev1beta1.ShootSpec)
		looks        []string
		path, remedy string
	}{
		"one that is fine":                              {change: func(*gardencorev1beta1.ShootSpec) {}, looks: []string{"plain"}},
		"one with a profile of its project":             {change: projectProfile("ours"), looks: []string{"NamespacedCloudProfile garden-dev/ours"}},
		"one with a profile that is not there yet":      {change: projectProfile("fresh"), looks: []string{"NamespacedCloudProfile garden-dev/fresh"}},
		"one whose profile does not exist":              {change: inProfile("gone"), looks: []string{"gone"}},
		"one without profile":                           {change: func(s *gardencorev1beta1.ShootSpec) { s.CloudProfile = nil }},
		"one of another cloud":                          {change: func(s *gardencorev1beta1.ShootSpec) { s.Provider.Type = "aws"; s.Provider.ControlPlaneConfig = nil }},
		"one without workers":                           {change: func(s *gardencorev1beta1.ShootSpec) { s.Provider.Workers = nil }},
		"one in a pool of its domain":                   {change: inPool("domestic", "inner"), looks: account},
		"one in a pool of its domain, by older binding": {change: bound(new("older"), nil, inPool("domestic", "inner")), looks: []string{"domestic", "SecretBinding garden-dev/older", "Secret garden-dev/account"}},
		"one whose domain has an ID alone":              {change: bound(nil, new("nameless"), inPool("domestic", "inner")), looks: []string{"domestic", "CredentialsBinding garden-dev/nameless", "InternalSecret garden-dev/nameless"}},
		"one whose binding is gone":                     {change: bound(nil, new("gone"), inPool("domestic", "inner")), looks: []string{"domestic", "CredentialsBinding garden-dev/gone"}},
		"one without any binding":                       {change: bound(nil, nil, inPool("domestic", "inner")), looks: []string{"domestic"}},

		"one in a pool for others than its domain": {
			change: inPool("domestic", "public"), looks: account, path: pool, remedy: `in region "europe" and domain "weavers": choose one of "inner"`,
		},
		"one in a pool that nobody knows, in an unknown domain": {
			change: bound(nil, nil, inPool("domestic", "secret")), looks: []string{"domestic"}, path: pool, remedy: `choose one of "inner", "public"`,
		},
		"one with a mistake that is one in any garden": {
			change: ranging("10.99.0.0/19"), looks: []string{"plain"}, path: "spec.provider.infrastructureConfig.networks.workers", remedy: "must lie within spec.networking.nodes",
		},
		"one with a feature gate of its version": {change: gated("1.35.1", "CloudControllerManagerWatchBasedRoutesReconciliation"), looks: []string{"plain"}},
		"one with a feature gate of a later version": {
			change: gated("1.34.1", "CloudControllerManagerWatchBasedRoutesReconciliation"), looks: []string{"plain"},
			path: gates + "CloudControllerManagerWatchBasedRoutesReconciliation", remedy: "not supported in Kubernetes version 1.34.1",
		},
		"one with a feature gate of no version": {
			change: gated("1.34.1", "Zebra"), looks: []string{"plain"}, path: gates + "Zebra", remedy: "unknown feature gate Zebra",
		},
		"one without infrastructureConfig": {
			change: func(s *gardencorev1beta1.ShootSpec) { s.Provider.InfrastructureConfig = nil },
			looks:  []string{"plain"}, path: "spec.provider.infrastructureConfig", remedy: "give one with apiVersion openstack.provider.extensions.gardener.cloud/v1alpha1 and kind InfrastructureConfig",
		},
		"one with a volume of no size": {
			change: func(s *gardencorev1beta1.ShootSpec) { s.Provider.Workers[0].Volume.VolumeSize = "much" },
			looks:  []string{"plain"}, path: "spec.provider.workers[0].volume.size", remedy: "give a size like 50Gi",
		},
		"one with a provider that is not offered": {
			change: balancing("f5"), looks: []string{"plain"}, path: "spec.provider.controlPlaneConfig.loadBalancerProvider", remedy: `choose one of "amphora", "ovn"`,
		},
		"one with a policy, where there are none": {
			change: func(s *gardencorev1beta1.ShootSpec) {
				s.Provider.Workers[0].ProviderConfig = rawDocument("WorkerConfig", `"serverGroup":{"policy":"affinity"}`)
			},
			looks: []string{"plain"}, path: "spec.provider.workers[0].providerConfig.serverGroup.policy", remedy: "ask its admin to, or remove serverGroup",
		},
		"one whose profile says nothing of OpenStack": {
			change: inProfile("empty"), looks: []string{"empty"},
			path: "spec.cloudProfile.name", remedy: "what this CloudProfile says about OpenStack cannot be used: choose another, or ask its admin",
		},
		"one whose profile is broken": {
			change: inProfile("broken"), looks: []string{"broken"}, path: "spec.cloudProfile.name", remedy: "ask its admin to correct its spec.providerConfig",
		},
		"one whose profile, in the older field, is broken": {
			change: func(s *gardencorev1beta1.ShootSpec) {
				s.CloudProfile = nil
				s.CloudProfileName = new("broken")
			},
			looks: []string{"broken"}, path: "spec.cloudProfileName", remedy: "ask its admin",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			garden, shoot := newShootGarden(), plainShoot()
			test.change(&shoot.Spec)
			response := askAboutShoot(t, garden, shoot, nil)
			require.Equal(t, test.looks, garden.looks)
			if test.path == "" {
				require.True(t, response.Allowed, response.Result)
				return
			}
			requireRefusal(t, response, test.path, test.remedy)
		})
	}
}

func TestChangesOfShootsAreJudged(t *testing.T) {
	for sentence, test := range map[string]struct {
		before, after func(*gardencorev1beta1.ShootSpec)
		looks         []string
		path, remedy  string
	}{
		"a feature gate that was accepted": {before: gated("1.34.1", "Zebra"), after: gated("1.34.1", "Zebra")},
		"a patch version with a feature gate that the version before refuses": {
			before: gated("1.34.1", "CloudControllerManagerWatchBasedRoutesReconciliation"), after: gated("1.34.2", "CloudControllerManagerWatchBasedRoutesReconciliation"),
		},
		"a minor version with a feature gate that the version before refuses": {
			before: gated("1.36.0", "TopologyAwareHints"), after: gated("1.37.0", "TopologyAwareHints"),
		},
		"a patch version with a feature gate of no version": {before: gated("1.34.1", "Zebra"), after: gated("1.34.2", "Zebra")},
		"a patch version together with another feature gate that it does not have": {
			before: gated("1.36.0", "Zebra"), after: gated("1.36.1", "TopologyAwareHints"), looks: []string{"plain"},
			path: "spec.provider.controlPlaneConfig.cloudControllerManager.featureGates.TopologyAwareHints", remedy: "not supported in Kubernetes version 1.36.1",
		},
		"a version without a feature gate that is set": {
			before: gated("1.35.1", "TopologyAwareHints"), after: gated("1.36.0", "TopologyAwareHints"),
			path: "spec.provider.controlPlaneConfig.cloudControllerManager.featureGates.TopologyAwareHints", remedy: "not supported in Kubernetes version 1.36.0",
		},
		"another provider that is offered": {before: balancing("amphora"), after: balancing("ovn"), looks: []string{"plain"}},
		"another provider that is not offered": {
			before: balancing("amphora"), after: balancing("f5"), looks: []string{"plain"},
			path: "spec.provider.controlPlaneConfig.loadBalancerProvider", remedy: `choose one of "amphora", "ovn"`,
		},
		"another provider of a shoot that has neither secretBindingName nor credentialsBindingName": {
			before: bound(nil, nil, inProfile("domestic")), after: bound(nil, nil, func(s *gardencorev1beta1.ShootSpec) { inProfile("domestic")(s); balancing("f5")(s) }),
			looks: []string{"domestic"}, path: "spec.provider.controlPlaneConfig.loadBalancerProvider", remedy: `choose one of "amphora", "ovn"`,
		},
		"a fine provider for a shoot that has neither secretBindingName nor credentialsBindingName": {
			before: bound(nil, nil, inProfile("domestic")), after: bound(nil, nil, func(s *gardencorev1beta1.ShootSpec) { inProfile("domestic")(s); balancing("ovn")(s) }),
			looks: []string{"domestic"},
		},
		"another range of nodes": {
			before: ranging("10.250.0.0/19"), after: ranging("10.250.32.0/19"), looks: []string{"plain"},
			path: "spec.provider.infrastructureConfig.networks.workers", remedy: `set it back to "10.250.0.0/19"`,
		},
		"a range that was a mistake all along, next to what changes": {
			before: ranging("10.99.0.0/19"), after: func(s *gardencorev1beta1.ShootSpec) { ranging("10.99.0.0/19")(s); balancing("ovn")(s) }, looks: []string{"plain"},
		},
		"a profile that is broken": {
			before: inProfile("plain"), after: inProfile("broken"), looks: []string{"broken"}, path: "spec.cloudProfile.name", remedy: "choose another, or ask its admin",
		},
		"a profile of the project that is broken, and is called like one that is, too": {
			before: inProfile("broken"), after: projectProfile("broken"), looks: []string{"NamespacedCloudProfile garden-dev/broken"},
			path: "spec.cloudProfile.name", remedy: "what this NamespacedCloudProfile says about OpenStack cannot be used",
		},
		"something else, where the profile has been broken since": {
			before: inProfile("broken"), after: func(s *gardencorev1beta1.ShootSpec) { inProfile("broken")(s); balancing("ovn")(s) }, looks: []string{"broken"},
		},
		"something else, where the profile is gone": {
			before: inProfile("gone"), after: func(s *gardencorev1beta1.ShootSpec) { inProfile("gone")(s); balancing("ovn")(s) }, looks: []string{"gone"},
		},
		"a profile of the project that offers the same": {before: inProfile("plain"), after: projectProfile("ours"), looks: []string{"NamespacedCloudProfile garden-dev/ours"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			garden, shoot, old := newShootGarden(), plainShoot(), plainShoot()
			test.before(&old.Spec)
			test.after(&shoot.Spec)
			response := askAboutShoot(t, garden, shoot, old)
			require.Equal(t, test.looks, garden.looks)
			if test.path == "" {
				require.True(t, response.Allowed, response.Result)
				return
			}
			requireRefusal(t, response, test.path, test.remedy)
		})
	}
}

func TestAllMistakesAreToldAtOnce(t *testing.T) {
	garden, shoot := newShootGarden(), plainShoot()
	inPool("domestic", "public")(&shoot.Spec)
	balancing("f5")(&shoot.Spec)
	shoot.Spec.Provider.Workers[0].Volume.VolumeSize = "much"
	response := askAboutShoot(t, garden, shoot, nil)
	require.False(t, response.Allowed)
	var fields []string
	for _, cause := range response.Result.Details.Causes {
		fields = append(fields, cause.Field)
	}
	require.Equal(t, []string{
		"spec.provider.infrastructureConfig.floatingPoolName", "spec.provider.controlPlaneConfig.loadBalancerProvider", "spec.provider.workers[0].volume.size",
	}, fields)
}

func TestWritesThatAreNoneOfItsBusinessAreNotLookedInto(t *testing.T) {
	for sentence, change := range map[string]func(*gardencorev1beta1.Shoot){
		"none at all": func(*gardencorev1beta1.Shoot) {},
		"an annotation": func(s *gardencorev1beta1.Shoot) {
			s.Annotations = map[string]string{"gardener.cloud/operation": "maintain"}
		},
		"a finalizer":            func(s *gardencorev1beta1.Shoot) { s.Finalizers = []string{"gardener"} },
		"status":                 func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = "shoot--dev--demo" },
		"its seed":               func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("seed") },
		"maintenance: a version": func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.Version = "1.36.3" },
		"hibernation": func(s *gardencorev1beta1.Shoot) {
			s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
		},
		"a rotation": func(s *gardencorev1beta1.Shoot) { s.Spec.CredentialsBindingName = new("nameless") },
		"its deletion": func(s *gardencorev1beta1.Shoot) {
			deleted(s)
			s.Spec.Provider.ControlPlaneConfig = nil
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			garden, shoot, old := newShootGarden(), plainShoot(), plainShoot()
			ranging("10.99.0.0/19")(&old.Spec) // which nobody would admit any more
			ranging("10.99.0.0/19")(&shoot.Spec)
			change(shoot)
			require.True(t, askAboutShoot(t, garden, shoot, old).Allowed)
			require.Empty(t, garden.looks)
		})
	}
}

func TestAGardenThatDoesNotAnswerIsNoMistakeOfAShoot(t *testing.T) {
	for _, kind := range []string{"CloudProfile", "CredentialsBinding", "Secret"} {
		garden, shoot := newShootGarden(), plainShoot()
		garden.fails = kind
		inPool("domestic", "inner")(&shoot.Spec)
		response := askAboutShoot(t, garden, shoot, nil)
		require.False(t, response.Allowed)
		require.EqualValues(t, http.StatusInternalServerError, response.Result.Code, kind)
		require.Contains(t, response.Result.Message, "the API server is on holiday: try again")
		require.Nil(t, response.Result.Details)

		ranging("10.99.0.0/19")(&shoot.Spec)
		requireRefusal(t, askAboutShoot(t, garden, shoot, nil), "spec.provider.infrastructureConfig.networks.workers", "must lie within")
	}
}
