package openstack

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
)

// gardenWithImages has version 1.0 in both regions, 1.1 in the other one alone, and 1.2 in that of the shoots, but for machines with arm64.
func gardenWithImages() *shootGarden {
	garden := newShootGarden()
	spec := &garden.objects[0].(*gardencorev1beta1.CloudProfile).Spec
	spec.Regions = append(spec.Regions, gardencorev1beta1.Region{Name: "asia"})
	const id = `"id":"` + profileGlanceID + `"`
	spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(configHead + `CloudProfileConfig","constraints":{"floatingPools":[` + plainPools +
		`],"loadBalancerProviders":[{"name":"amphora"}]},"machineImages":[{"name":"linux","versions":[{"version":"1.0","image":"linux-1.0"},` +
		`{"version":"1.1","regions":[{"name":"asia",` + id + `}]},` +
		`{"version":"1.2","regions":[{"name":"asia",` + id + `},{"name":"europe","architecture":"arm64",` + id + `}]}]}]}`)}
	return garden
}

func TestValidateShoot_MachineImageInRegion(t *testing.T) {
	const field = "spec.provider.workers[0].machine.image.version"
	const remedy = `the CloudProfile has linux of this version for such machines in "asia", and not in "europe": choose another version`
	pool := func(change func(*gardencorev1beta1.Machine)) *gardencorev1beta1.Shoot {
		shoot := validShoot()
		change(&shoot.Spec.Provider.Workers[0].Machine)
		return shoot
	}
	of := func(version string) *gardencorev1beta1.Shoot {
		return pool(func(m *gardencorev1beta1.Machine) { m.Image.Version = &version })
	}
	second := of("1.1")
	second.Spec.Provider.Workers = append(second.Spec.Provider.Workers, second.Spec.Provider.Workers[0])
	second.Spec.Provider.Workers[1].Name = "second"
	scaled := of("1.1")
	scaled.Spec.Provider.Workers[0].Maximum, scaled.Spec.Provider.Workers[0].Labels = 9, map[string]string{"a": "b"}
	leaving := of("1.1")
	beingDeleted(leaving)
	for sentence, test := range map[string]struct {
		shoot, old *gardencorev1beta1.Shoot
		refused    bool
	}{
		"a new shoot with an image of every region":  {shoot: of("1.0")},
		"a new shoot with one of another region":     {shoot: of("1.1"), refused: true},
		"one for machines of another kind":           {shoot: of("1.2"), refused: true},
		"for its own kind":                           {shoot: pool(func(m *gardencorev1beta1.Machine) { m.Image.Version, m.Architecture = new("1.2"), new("arm64") })},
		"a version that nobody has is the profile's": {shoot: of("1.3")},
		"no version":                                   {shoot: pool(func(m *gardencorev1beta1.Machine) { m.Image.Version = nil })},
		"no image":                                     {shoot: pool(func(m *gardencorev1beta1.Machine) { m.Image = nil })},
		"maintenance to one of every region":           {shoot: of("1.0"), old: of("0.9")},
		"maintenance to one of another region":         {shoot: of("1.1"), old: of("1.0"), refused: true},
		"another machine type with it":                 {shoot: pool(func(m *gardencorev1beta1.Machine) { m.Image.Version, m.Type = new("1.1"), "m2" }), old: of("1.1"), refused: true},
		"a pool that stays as it is but for its size":  {shoot: scaled, old: of("1.1")},
		"a second pool with machines of the first one": {shoot: second, old: of("1.1")},
		"a shoot that is being deleted":                {shoot: leaving, old: of("1.0")},
	} {
		t.Run(sentence, func(t *testing.T) {
			response := callShootWebhook(t, gardenWithImages(), test.shoot, test.old)
			if test.refused {
				requireRefusal(t, response, field, remedy)
				return
			}
			require.True(t, response.Allowed, response.Result)
		})
	}
}
