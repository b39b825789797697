package garden

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/charts/registration/landscape"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
)

// scenario is a seed, its objects, and which of our kinds it needs.
type scenario struct {
	seed    garden.SeedOptions
	shoots  []garden.ShootOptions
	bucket  string // the provider of a BackupBucket
	trellis []string
}

func scenarios() map[string]scenario {
	openstack := []string{"ControlPlane/openstack", "Infrastructure/openstack", "Worker/openstack"}
	all := append(slices.Clone(openstack), "Network/calico")
	return map[string]scenario{
		"a seed on openstack without shoots needs the kinds of its own provider": {trellis: openstack},
		"a seed of another provider without shoots needs none":                   {seed: garden.SeedOptions{Provider: "local"}},
		"a shoot needs all four": {
			seed: garden.SeedOptions{Provider: "local"}, shoots: []garden.ShootOptions{{}}, trellis: all,
		},
		"a shoot without workers needs none": {
			seed: garden.SeedOptions{Provider: "local"}, shoots: []garden.ShootOptions{{Workerless: true}},
		},
		"a shoot with another network needs no calico": {
			seed: garden.SeedOptions{Provider: "local"}, shoots: []garden.ShootOptions{{Networking: "cilium"}}, trellis: openstack,
		},
		"two shoots need the kinds of both": {
			seed: garden.SeedOptions{Provider: "local"}, shoots: []garden.ShootOptions{{Networking: "cilium"}, {}}, trellis: all,
		},
		"a seed with backups": {
			seed: garden.SeedOptions{Backup: "local"}, shoots: []garden.ShootOptions{{}}, trellis: all,
		},
		"a seed with backups and no shoot, but with a bucket": {
			seed: garden.SeedOptions{Provider: "local", Backup: "local"}, bucket: "local",
		},
		"extensions of a shoot and of its seed": {
			seed: garden.SeedOptions{Extensions: []string{"for-seeds"}}, shoots: []garden.ShootOptions{{Extensions: []string{"asked-for"}}}, trellis: all,
		},
		"an extension of a shoot without workers": {
			seed: garden.SeedOptions{Provider: "local"}, shoots: []garden.ShootOptions{{Workerless: true, Extensions: []string{"asked-for"}}},
		},
		"another DNS provider": {seed: garden.SeedOptions{DNS: "designate"}, shoots: []garden.ShootOptions{{}}, trellis: all},
	}
}

// everyKind registers each kind that scenarios may need on its own, so that the installations show what was needed.
func everyKind() []gardencorev1beta1.ControllerResource {
	const infrastructure, controlPlane, worker = "Infrastructure", "ControlPlane", "Worker"
	return slices.Concat(
		garden.Primary("openstack", infrastructure, controlPlane, worker), garden.Primary("local", infrastructure, controlPlane, worker),
		garden.Primary("calico", "Network"), garden.Primary("cilium", "Network"), garden.Primary(garden.MachineImage, "OperatingSystemConfig"),
		garden.Primary(garden.DNS, "DNSRecord"), garden.Primary("designate", "DNSRecord"),
		garden.Primary("local", "BackupBucket", "BackupEntry"),
		[]gardencorev1beta1.ControllerResource{
			{Kind: extensionsv1alpha1.ExtensionResource, Type: "asked-for", WorkerlessSupported: new(true)},
			{Kind: extensionsv1alpha1.ExtensionResource, Type: "for-seeds", ClusterCompatibility: []gardencorev1beta1.ClusterType{gardencorev1beta1.ClusterTypeSeed}},
			{
				Kind: extensionsv1alpha1.ExtensionResource, Type: "for-all", ClusterCompatibility: []gardencorev1beta1.ClusterType{gardencorev1beta1.ClusterTypeShoot},
				AutoEnable: []gardencorev1beta1.ClusterType{gardencorev1beta1.ClusterTypeShoot},
			},
		},
	)
}

// landscape.Required, which "make registrations CHECK=" uses, agrees with gardener-controller-manager's installations.
func testRequired(t *testing.T, env *environment) {
	defer env.clear(t)
	for _, resource := range everyKind() {
		require.NoError(t, env.Register(t.Context(), garden.Registration{
			Name: nameOf(resource), Resources: []gardencorev1beta1.ControllerResource{resource},
		}))
	}
	seeds := map[string]string{} // sentence by name
	for i, sentence := range slices.Sorted(maps.Keys(scenarios())) {
		name := "seed-" + string(rune('a'+i))
		seeds[name] = sentence
		env.build(t, name, scenarios()[sentence])
	}
	for name, sentence := range seeds {
		t.Run(sentence, func(t *testing.T) {
			want := env.required(t, name)
			for _, ours := range []string{"ControlPlane/openstack", "Infrastructure/openstack", "Worker/openstack", "Network/calico"} {
				assert.Equal(t, slices.Contains(scenarios()[sentence].trellis, ours), slices.Contains(want, ours), ours)
			}
			var names []string
			for _, id := range want {
				kind, typ, _ := strings.Cut(id, "/")
				names = append(names, nameOf(gardencorev1beta1.ControllerResource{Kind: kind, Type: typ}))
			}
			slices.Sort(names)
			var installed []string
			for range 100 {
				if installed = env.installedOn(t, name); slices.Equal(names, installed) {
					return
				}
				pause(t)
			}
			assert.Equal(t, names, installed, "wanted, and installed by gardener-controller-manager")
		})
	}
}

func nameOf(resource gardencorev1beta1.ControllerResource) string {
	return strings.ToLower(resource.Kind + "-" + resource.Type)
}

// build creates the scenario's objects. Shoots are named after their seed.
func (env *environment) build(t *testing.T, name string, s scenario) {
	t.Helper()
	_, err := env.AddSeed(t.Context(), name, s.seed)
	require.NoError(t, err)
	for i, shoot := range s.shoots {
		shoot.Name, shoot.Seed = name+string(rune('0'+i)), name
		_, err := env.CreateShoot(t.Context(), shoot)
		require.NoError(t, err)
	}
	if s.bucket != "" {
		require.NoError(t, env.Client.Create(t.Context(), &gardencorev1beta1.BackupBucket{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: gardencorev1beta1.BackupBucketSpec{
				Provider: gardencorev1beta1.BackupBucketProvider{Type: s.bucket, Region: "RegionOne"}, SeedName: new(name),
				CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Name: "without-content", Namespace: "garden"},
			},
		}))
	}
}

// required calls landscape.Required with what an admin's kubeconfig shows.
func (env *environment) required(t *testing.T, seed string) []string {
	t.Helper()
	read, err := landscape.Read(t.Context(), env.Client)
	require.NoError(t, err)
	i := slices.IndexFunc(read.Seeds, func(s gardencorev1beta1.Seed) bool { return s.Name == seed })
	var ids []string
	for _, id := range landscape.Required(read, &read.Seeds[i]).IDs() {
		ids = append(ids, id.String())
	}
	return ids
}

// installedOn returns the names of the registrations that are installed on a seed.
func (env *environment) installedOn(t *testing.T, seed string) []string {
	t.Helper()
	list := &gardencorev1beta1.ControllerInstallationList{}
	require.NoError(t, env.Client.List(t.Context(), list, client.MatchingFields{"spec.seedRef.name": seed}))
	var names []string
	for _, installation := range list.Items {
		names = append(names, installation.Spec.RegistrationRef.Name)
	}
	slices.Sort(names)
	return names
}

// A missing registration blocks everything else on its seed, and nothing on others. gardener-apiserver checks the ControlPlane of the seed's
// provider only.
func testUnregistered(t *testing.T, env *environment) {
	defer env.clear(t)
	for _, each := range []garden.Registration{
		{Name: "controlplane-odd", Resources: garden.Primary("odd", "ControlPlane", "Infrastructure")},
		{Name: "controlplane-whole", Resources: garden.Primary("whole", "ControlPlane", "Infrastructure", "Worker")},
		{Name: "dns", Resources: garden.Primary(garden.DNS, "DNSRecord")},
		{Name: "everywhere", Policy: gardencorev1beta1.ControllerDeploymentPolicyAlways},
	} {
		require.NoError(t, env.Register(t.Context(), each))
	}
	_, err := env.AddSeed(t.Context(), "odd", garden.SeedOptions{Provider: "odd"})
	require.NoError(t, err)
	_, err = env.AddSeed(t.Context(), "whole", garden.SeedOptions{Provider: "whole"})
	require.NoError(t, err)
	eventually(t, "the other seed has its installations", func() bool { return len(env.installedOn(t, "whole")) == 3 })
	eventually(t, "gardener-controller-manager complains", func() bool {
		log, err := os.ReadFile(env.ControllerManagerLog())
		require.NoError(t, err)
		return strings.Contains(string(log), `need to install an extension controller for \"Worker/odd\" but no appropriate ControllerRegistration found`)
	})
	assert.Empty(t, env.installedOn(t, "odd"), "not even the one that is to be everywhere")
	report, err := landscape.Inspect(mustRead(t, env))
	require.NoError(t, err)
	assert.False(t, report.OK(), "CHECK says so as well")

	require.NoError(t, change(t, env.Client, controllerRegistration("controlplane-odd"), func(r *gardencorev1beta1.ControllerRegistration) {
		r.Spec.Resources = append(r.Spec.Resources, garden.Primary("odd", "Worker")...)
	}))
	eventually(t, "the seed recovers", func() bool {
		return slices.Equal([]string{"controlplane-odd", "dns", "everywhere"}, env.installedOn(t, "odd"))
	})
	report, err = landscape.Inspect(mustRead(t, env))
	require.NoError(t, err)
	assert.True(t, report.OK())
}

func mustRead(t *testing.T, env *environment) *landscape.Garden {
	t.Helper()
	read, err := landscape.Read(t.Context(), env.Client)
	require.NoError(t, err)
	return read
}
