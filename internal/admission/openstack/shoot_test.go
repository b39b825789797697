package openstack

import (
	"net/http"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func callShootWebhook(t *testing.T, garden client.Reader, shoot, old *gardencorev1beta1.Shoot) ctrladmission.Response {
	t.Helper()
	handler := findShootWebhook(t, garden, Options{}, "shoot.openstack").Handler
	return handler.Handle(t.Context(), shootRequest(encodedShoot(t, shoot), encodedShoot(t, old)))
}

// requireRefusal wants exactly this error.
func requireRefusal(t *testing.T, response ctrladmission.Response, path, remedy string) {
	t.Helper()
	require.False(t, response.Allowed)
	require.EqualValues(t, http.StatusUnprocessableEntity, response.Result.Code)
	require.Len(t, response.Result.Details.Causes, 1, response.Result.Message)
	require.Equal(t, path, response.Result.Details.Causes[0].Field)
	require.Contains(t, response.Result.Details.Causes[0].Message, remedy)
}

func withCloudProfile(name string) func(*gardencorev1beta1.ShootSpec) {
	return func(s *gardencorev1beta1.ShootSpec) { s.CloudProfile.Name = name }
}

func withNamespacedCloudProfile(name string) func(*gardencorev1beta1.ShootSpec) {
	return func(s *gardencorev1beta1.ShootSpec) {
		s.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: name}
	}
}

func withFloatingPool(profile, pool string) func(*gardencorev1beta1.ShootSpec) {
	return func(s *gardencorev1beta1.ShootSpec) {
		s.CloudProfile.Name = profile
		s.Provider.InfrastructureConfig = rawDocument("InfrastructureConfig", `"floatingPoolName":"`+pool+`","networks":{"workers":"10.250.0.0/19"}`)
	}
}

func withBindings(secretBinding, credentialsBinding *string, change func(*gardencorev1beta1.ShootSpec)) func(*gardencorev1beta1.ShootSpec) {
	return func(s *gardencorev1beta1.ShootSpec) {
		change(s)
		s.CredentialsBindingName = credentialsBinding
		s.SecretBindingName = secretBinding
	}
}

func withLoadBalancerProvider(provider string) func(*gardencorev1beta1.ShootSpec) {
	return func(s *gardencorev1beta1.ShootSpec) {
		s.Provider.ControlPlaneConfig = rawDocument("ControlPlaneConfig", `"loadBalancerProvider":"`+provider+`"`)
	}
}

func withWorkersRange(workers string) func(*gardencorev1beta1.ShootSpec) {
	return func(s *gardencorev1beta1.ShootSpec) {
		s.Provider.InfrastructureConfig = rawDocument("InfrastructureConfig", `"floatingPoolName":"public","networks":{"workers":"`+workers+`"}`)
	}
}

// withFeatureGate is a shoot of a version of Kubernetes with a feature gate of the cloud-controller-manager.
func withFeatureGate(version, gate string) func(*gardencorev1beta1.ShootSpec) {
	return func(s *gardencorev1beta1.ShootSpec) {
		s.Kubernetes.Version = version
		s.Provider.ControlPlaneConfig = rawDocument("ControlPlaneConfig", `"loadBalancerProvider":"amphora","cloudControllerManager":{"featureGates":{"`+gate+`":true}}`)
	}
}

func TestValidateShoot_Create(t *testing.T) {
	const gates = "spec.provider.controlPlaneConfig.cloudControllerManager.featureGates."
	const pool = "spec.provider.infrastructureConfig.floatingPoolName"
	account := []string{"domestic", "CredentialsBinding garden-dev/binding", "Secret garden-dev/account"}
	for sentence, test := range map[string]struct {
		change       func(*gardencorev1beta1.ShootSpec)
		looks        []string
		path, remedy string
	}{
		"one that is fine":                              {change: func(*gardencorev1beta1.ShootSpec) {}, looks: []string{"plain"}},
		"one with a profile of its project":             {change: withNamespacedCloudProfile("ours"), looks: []string{"NamespacedCloudProfile garden-dev/ours"}},
		"one with a profile that is not there yet":      {change: withNamespacedCloudProfile("fresh"), looks: []string{"NamespacedCloudProfile garden-dev/fresh"}},
		"one whose profile does not exist":              {change: withCloudProfile("gone"), looks: []string{"gone"}},
		"one without profile":                           {change: func(s *gardencorev1beta1.ShootSpec) { s.CloudProfile = nil }},
		"one of another cloud":                          {change: func(s *gardencorev1beta1.ShootSpec) { s.Provider.Type = "aws"; s.Provider.ControlPlaneConfig = nil }},
		"one without workers":                           {change: func(s *gardencorev1beta1.ShootSpec) { s.Provider.Workers = nil }},
		"one in a pool of its domain":                   {change: withFloatingPool("domestic", "inner"), looks: account},
		"one in a pool of its domain, by older binding": {change: withBindings(new("older"), nil, withFloatingPool("domestic", "inner")), looks: []string{"domestic", "SecretBinding garden-dev/older", "Secret garden-dev/account"}},
		"one whose domain has an ID alone":              {change: withBindings(nil, new("nameless"), withFloatingPool("domestic", "inner")), looks: []string{"domestic", "CredentialsBinding garden-dev/nameless", "InternalSecret garden-dev/nameless"}},
		"one whose binding is gone":                     {change: withBindings(nil, new("gone"), withFloatingPool("domestic", "inner")), looks: []string{"domestic", "CredentialsBinding garden-dev/gone"}},
		"one without any binding":                       {change: withBindings(nil, nil, withFloatingPool("domestic", "inner")), looks: []string{"domestic"}},

		"one in a pool for others than its domain": {
			change: withFloatingPool("domestic", "public"), looks: account, path: pool, remedy: `in region "europe" and domain "weavers": choose one of "inner"`,
		},
		"one in a pool that nobody knows, in an unknown domain": {
			change: withBindings(nil, nil, withFloatingPool("domestic", "secret")), looks: []string{"domestic"}, path: pool, remedy: `choose one of "inner", "public"`,
		},
		"one with an error that is one in any garden": {
			change: withWorkersRange("10.99.0.0/19"), looks: []string{"plain"}, path: "spec.provider.infrastructureConfig.networks.workers", remedy: "must lie within spec.networking.nodes",
		},
		"one with a feature gate of its version": {change: withFeatureGate("1.35.1", "CloudControllerManagerWatchBasedRoutesReconciliation"), looks: []string{"plain"}},
		"one with a feature gate of a later version": {
			change: withFeatureGate("1.34.1", "CloudControllerManagerWatchBasedRoutesReconciliation"), looks: []string{"plain"},
			path: gates + "CloudControllerManagerWatchBasedRoutesReconciliation", remedy: "not supported in Kubernetes version 1.34.1",
		},
		"one with a feature gate of no version": {
			change: withFeatureGate("1.34.1", "Zebra"), looks: []string{"plain"}, path: gates + "Zebra", remedy: "unknown feature gate Zebra",
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
			change: withLoadBalancerProvider("f5"), looks: []string{"plain"}, path: "spec.provider.controlPlaneConfig.loadBalancerProvider", remedy: `choose one of "amphora", "ovn"`,
		},
		"one with a policy, where there are none": {
			change: func(s *gardencorev1beta1.ShootSpec) {
				s.Provider.Workers[0].ProviderConfig = rawDocument("WorkerConfig", `"serverGroup":{"policy":"affinity"}`)
			},
			looks: []string{"plain"}, path: "spec.provider.workers[0].providerConfig.serverGroup.policy", remedy: "ask its admin to, or remove serverGroup",
		},
		"one whose profile says nothing of OpenStack": {
			change: withCloudProfile("empty"), looks: []string{"empty"},
			path: "spec.cloudProfile.name", remedy: "what this CloudProfile says about OpenStack cannot be used: choose another, or ask its admin",
		},
		"one whose profile is broken": {
			change: withCloudProfile("broken"), looks: []string{"broken"}, path: "spec.cloudProfile.name", remedy: "ask its admin to correct its spec.providerConfig",
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
			garden, shoot := newShootGarden(), validShoot()
			test.change(&shoot.Spec)
			response := callShootWebhook(t, garden, shoot, nil)
			require.Equal(t, test.looks, garden.requests)
			if test.path == "" {
				require.True(t, response.Allowed, response.Result)
				return
			}
			requireRefusal(t, response, test.path, test.remedy)
		})
	}
}

func TestValidateShoot_Update(t *testing.T) {
	for sentence, test := range map[string]struct {
		before, after func(*gardencorev1beta1.ShootSpec)
		looks         []string
		path, remedy  string
	}{
		"a feature gate that was accepted": {before: withFeatureGate("1.34.1", "Zebra"), after: withFeatureGate("1.34.1", "Zebra")},
		"a patch version with a feature gate that the version before refuses": {
			before: withFeatureGate("1.34.1", "CloudControllerManagerWatchBasedRoutesReconciliation"), after: withFeatureGate("1.34.2", "CloudControllerManagerWatchBasedRoutesReconciliation"),
		},
		"a minor version with a feature gate that the version before refuses": {
			before: withFeatureGate("1.36.0", "TopologyAwareHints"), after: withFeatureGate("1.37.0", "TopologyAwareHints"),
		},
		"a patch version with a feature gate of no version": {before: withFeatureGate("1.34.1", "Zebra"), after: withFeatureGate("1.34.2", "Zebra")},
		"a patch version together with another feature gate that it does not have": {
			before: withFeatureGate("1.36.0", "Zebra"), after: withFeatureGate("1.36.1", "TopologyAwareHints"), looks: []string{"plain"},
			path: "spec.provider.controlPlaneConfig.cloudControllerManager.featureGates.TopologyAwareHints", remedy: "not supported in Kubernetes version 1.36.1",
		},
		"a version without a feature gate that is set": {
			before: withFeatureGate("1.35.1", "TopologyAwareHints"), after: withFeatureGate("1.36.0", "TopologyAwareHints"),
			path: "spec.provider.controlPlaneConfig.cloudControllerManager.featureGates.TopologyAwareHints", remedy: "not supported in Kubernetes version 1.36.0",
		},
		"another provider that is offered": {before: withLoadBalancerProvider("amphora"), after: withLoadBalancerProvider("ovn"), looks: []string{"plain"}},
		"another provider that is not offered": {
			before: withLoadBalancerProvider("amphora"), after: withLoadBalancerProvider("f5"), looks: []string{"plain"},
			path: "spec.provider.controlPlaneConfig.loadBalancerProvider", remedy: `choose one of "amphora", "ovn"`,
		},
		"another provider of a shoot that has neither secretBindingName nor credentialsBindingName": {
			before: withBindings(nil, nil, withCloudProfile("domestic")), after: withBindings(nil, nil, func(s *gardencorev1beta1.ShootSpec) {
				withCloudProfile("domestic")(s)
				withLoadBalancerProvider("f5")(s)
			}),
			looks: []string{"domestic"}, path: "spec.provider.controlPlaneConfig.loadBalancerProvider", remedy: `choose one of "amphora", "ovn"`,
		},
		"a fine provider for a shoot that has neither secretBindingName nor credentialsBindingName": {
			before: withBindings(nil, nil, withCloudProfile("domestic")), after: withBindings(nil, nil, func(s *gardencorev1beta1.ShootSpec) {
				withCloudProfile("domestic")(s)
				withLoadBalancerProvider("ovn")(s)
			}),
			looks: []string{"domestic"},
		},
		"another range of nodes": {
			before: withWorkersRange("10.250.0.0/19"), after: withWorkersRange("10.250.32.0/19"), looks: []string{"plain"},
			path: "spec.provider.infrastructureConfig.networks.workers", remedy: `set it back to "10.250.0.0/19"`,
		},
		"a range that was an error all along, next to what changes": {
			before: withWorkersRange("10.99.0.0/19"), after: func(s *gardencorev1beta1.ShootSpec) {
				withWorkersRange("10.99.0.0/19")(s)
				withLoadBalancerProvider("ovn")(s)
			}, looks: []string{"plain"},
		},
		"a profile that is broken": {
			before: withCloudProfile("plain"), after: withCloudProfile("broken"), looks: []string{"broken"}, path: "spec.cloudProfile.name", remedy: "choose another, or ask its admin",
		},
		"a profile of the project that is broken, and is called like one that is, too": {
			before: withCloudProfile("broken"), after: withNamespacedCloudProfile("broken"), looks: []string{"NamespacedCloudProfile garden-dev/broken"},
			path: "spec.cloudProfile.name", remedy: "what this NamespacedCloudProfile says about OpenStack cannot be used",
		},
		"something else, where the profile has been broken since": {
			before: withCloudProfile("broken"), after: func(s *gardencorev1beta1.ShootSpec) {
				withCloudProfile("broken")(s)
				withLoadBalancerProvider("ovn")(s)
			}, looks: []string{"broken"},
		},
		"something else, where the profile is gone": {
			before: withCloudProfile("gone"), after: func(s *gardencorev1beta1.ShootSpec) { withCloudProfile("gone")(s); withLoadBalancerProvider("ovn")(s) }, looks: []string{"gone"},
		},
		"a profile of the project that offers the same": {before: withCloudProfile("plain"), after: withNamespacedCloudProfile("ours"), looks: []string{"NamespacedCloudProfile garden-dev/ours"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			garden, shoot, old := newShootGarden(), validShoot(), validShoot()
			test.before(&old.Spec)
			test.after(&shoot.Spec)
			response := callShootWebhook(t, garden, shoot, old)
			require.Equal(t, test.looks, garden.requests)
			if test.path == "" {
				require.True(t, response.Allowed, response.Result)
				return
			}
			requireRefusal(t, response, test.path, test.remedy)
		})
	}
}

func TestValidateShoot_ReportsAllErrors(t *testing.T) {
	garden, shoot := newShootGarden(), validShoot()
	withFloatingPool("domestic", "public")(&shoot.Spec)
	withLoadBalancerProvider("f5")(&shoot.Spec)
	shoot.Spec.Provider.Workers[0].Volume.VolumeSize = "much"
	response := callShootWebhook(t, garden, shoot, nil)
	require.False(t, response.Allowed)
	var fields []string
	for _, cause := range response.Result.Details.Causes {
		fields = append(fields, cause.Field)
	}
	require.Equal(t, []string{
		"spec.provider.infrastructureConfig.floatingPoolName", "spec.provider.controlPlaneConfig.loadBalancerProvider", "spec.provider.workers[0].volume.size",
	}, fields)
}

func TestValidateShoot_IrrelevantUpdates(t *testing.T) {
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
			beingDeleted(s)
			s.Spec.Provider.ControlPlaneConfig = nil
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			garden, shoot, old := newShootGarden(), validShoot(), validShoot()
			withWorkersRange("10.99.0.0/19")(&old.Spec) // which nobody would admit any more
			withWorkersRange("10.99.0.0/19")(&shoot.Spec)
			change(shoot)
			require.True(t, callShootWebhook(t, garden, shoot, old).Allowed)
			require.Empty(t, garden.requests)
		})
	}
}

func TestValidateShoot_GardenUnavailable(t *testing.T) {
	for _, kind := range []string{"CloudProfile", "CredentialsBinding", "Secret"} {
		garden, shoot := newShootGarden(), validShoot()
		garden.failingKind = kind
		withFloatingPool("domestic", "inner")(&shoot.Spec)
		response := callShootWebhook(t, garden, shoot, nil)
		require.False(t, response.Allowed)
		require.EqualValues(t, http.StatusInternalServerError, response.Result.Code, kind)
		require.Contains(t, response.Result.Message, "the API server is on holiday: try again")
		require.Nil(t, response.Result.Details)

		withWorkersRange("10.99.0.0/19")(&shoot.Spec)
		requireRefusal(t, callShootWebhook(t, garden, shoot, nil), "spec.provider.infrastructureConfig.networks.workers", "must lie within")
	}
}
