package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
)

func newProfile() *v1alpha1.CloudProfileConfig {
	profile := &v1alpha1.CloudProfileConfig{}
	profile.Constraints.LoadBalancerProviders = []v1alpha1.LoadBalancerProvider{{Name: "amphora"}}
	return profile
}

func storage(classes ...v1alpha1.StorageClassDefinition) func(*v1alpha1.CloudProfileConfig) {
	return func(p *v1alpha1.CloudProfileConfig) { p.StorageClasses = classes }
}

func poolClasses(classes ...v1alpha1.LoadBalancerClass) func(*v1alpha1.CloudProfileConfig) {
	return func(p *v1alpha1.CloudProfileConfig) {
		p.Constraints.FloatingPools = []v1alpha1.FloatingPool{{Name: "public", LoadBalancerClasses: classes}}
	}
}

func TestValidateCloudProfileControlPlane_Valid(t *testing.T) {
	for sentence, change := range map[string]func(*v1alpha1.CloudProfileConfig){
		"a provider and nothing else": func(*v1alpha1.CloudProfileConfig) {},
		"a class for each purpose":    poolClasses(withPurpose("a", "default"), withPurpose("b", "private"), withPurpose("c", "vpn")),
		"two storage classes, one of them the default": storage(
			v1alpha1.StorageClassDefinition{Name: "fast", Default: new(true), ReclaimPolicy: new("Retain"), VolumeBindingMode: new("Immediate")},
			v1alpha1.StorageClassDefinition{
				Name: "slow.v2", Default: new(false), Provisioner: new("cinder.csi.openstack.org"), Parameters: map[string]string{"type": "slow"},
				Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"example.org/a": "anything [ goes"},
			},
		),
		"a storage class with empty texts for none": storage(v1alpha1.StorageClassDefinition{
			Name: "a", Provisioner: new(""), ReclaimPolicy: new(""), VolumeBindingMode: new(""),
		}),
		"a timeout":                 func(p *v1alpha1.CloudProfileConfig) { p.RequestTimeout = duration("60s") },
		"the lowest attach limit":   func(p *v1alpha1.CloudProfileConfig) { p.NodeVolumeAttachLimit = new(int32(1)) },
		"the highest attach limit":  func(p *v1alpha1.CloudProfileConfig) { p.NodeVolumeAttachLimit = new(int32(256)) },
		"options of the resolver":   func(p *v1alpha1.CloudProfileConfig) { p.ResolvConfOptions = []string{"rotate", "timeout:1"} },
		"keystone and images empty": func(p *v1alpha1.CloudProfileConfig) { p.KeyStoneURL, p.MachineImages = "", nil },
	} {
		t.Run(sentence, func(t *testing.T) {
			profile := newProfile()
			change(profile)
			require.Empty(t, validation.ValidateCloudProfileControlPlane(profile, field.NewPath("profile")))
		})
	}
}

func TestValidateCloudProfileControlPlane_Invalid(t *testing.T) {
	for sentence, test := range map[string]struct {
		change        func(*v1alpha1.CloudProfileConfig)
		field, remedy string
	}{
		"no provider": {
			func(p *v1alpha1.CloudProfileConfig) { p.Constraints.LoadBalancerProviders = nil },
			"profile.constraints.loadBalancerProviders", "at least one",
		},
		"a provider without a name": {
			func(p *v1alpha1.CloudProfileConfig) { p.Constraints.LoadBalancerProviders[0].Name = "" },
			"profile.constraints.loadBalancerProviders[0].name", "such as amphora",
		},
		"a purpose that there is not": {
			poolClasses(withPurpose("a", "internal")),
			"profile.constraints.floatingPools[0].loadBalancerClasses[0].purpose", `choose one of "default", "private", "vpn"`,
		},
		"a class with a subnet by name": {
			poolClasses(v1alpha1.LoadBalancerClass{Name: "a", SubnetID: new("nodes")}),
			"profile.constraints.floatingPools[0].loadBalancerClasses[0].subnetID", "not its name",
		},
		"a storage class whose name cannot be one (D25)": {
			storage(v1alpha1.StorageClassDefinition{Name: "Fast"}),
			"profile.storageClasses[0].name", "lower-case letters",
		},
		"two storage classes of one name": {
			storage(v1alpha1.StorageClassDefinition{Name: "a"}, v1alpha1.StorageClassDefinition{Name: "a"}),
			"profile.storageClasses[1].name", "remove one of the two",
		},
		"two default classes": {
			storage(v1alpha1.StorageClassDefinition{Name: "a", Default: new(true)}, v1alpha1.StorageClassDefinition{Name: "b", Default: new(true)}),
			"profile.storageClasses[1].default", `"a" is the default class already`,
		},
		"a reclaim policy that is gone": {
			storage(v1alpha1.StorageClassDefinition{Name: "a", ReclaimPolicy: new("Recycle")}),
			"profile.storageClasses[0].reclaimPolicy", `choose one of "Delete", "Retain"`,
		},
		"a binding mode that there is not": {
			storage(v1alpha1.StorageClassDefinition{Name: "a", VolumeBindingMode: new("Late")}),
			"profile.storageClasses[0].volumeBindingMode", `choose one of "Immediate", "WaitForFirstConsumer"`,
		},
		"a provisioner that cannot be one": {
			storage(v1alpha1.StorageClassDefinition{Name: "a", Provisioner: new("my driver")}),
			"profile.storageClasses[0].provisioner", "the name of a storage driver",
		},
		"a parameter without a name": {
			storage(v1alpha1.StorageClassDefinition{Name: "a", Parameters: map[string]string{"": "b"}}),
			"profile.storageClasses[0].parameters", "needs a name",
		},
		"a label that cannot be one": {
			storage(v1alpha1.StorageClassDefinition{Name: "a", Labels: map[string]string{"a": "b c"}}),
			"profile.storageClasses[0].labels", "valid label",
		},
		"an annotation that cannot be one": {
			storage(v1alpha1.StorageClassDefinition{Name: "a", Annotations: map[string]string{"b c": ""}}),
			"profile.storageClasses[0].annotations", "b c",
		},
		"no time for a request": {
			func(p *v1alpha1.CloudProfileConfig) { p.RequestTimeout = duration("0s") },
			"profile.requestTimeout", "like 60s",
		},
		"no volume per node": {
			func(p *v1alpha1.CloudProfileConfig) { p.NodeVolumeAttachLimit = new(int32(0)) },
			"profile.nodeVolumeAttachLimit", "between 1 and 256",
		},
		"too many volumes per node": {
			func(p *v1alpha1.CloudProfileConfig) { p.NodeVolumeAttachLimit = new(int32(257)) },
			"profile.nodeVolumeAttachLimit", "between 1 and 256",
		},
		"two options of the resolver in one": {
			func(p *v1alpha1.CloudProfileConfig) { p.ResolvConfOptions = []string{"rotate", "timeout:1 rotate"} },
			"profile.resolvConfOptions[1]", "one option per entry",
		},
		"an option that would be another line": {
			func(p *v1alpha1.CloudProfileConfig) { p.ResolvConfOptions = []string{"rotate\nnameserver"} },
			"profile.resolvConfOptions[0]", "without white space",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			profile := newProfile()
			test.change(profile)
			errs := validation.ValidateCloudProfileControlPlane(profile, field.NewPath("profile"))
			require.Len(t, errs, 1, "%v", errs)
			require.Equal(t, test.field, errs[0].Field)
			require.Contains(t, errs[0].Error(), test.remedy)
		})
	}
}
