package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
)

// The section "Go back" of docs/operations/migrate-from-upstream.md lists these: the upstream extension's admission refuses them.
func TestValidate_RefusedByUpstream(t *testing.T) {
	path := field.NewPath("x")
	for sentence, errs := range map[string]func() field.ErrorList{
		"machine labels without a value, and with braces": func() field.ErrorList {
			config := &v1alpha1.WorkerConfig{MachineLabels: []v1alpha1.MachineLabel{{Name: "team"}, {Name: "place", Value: "{a}[b]"}}}
			return validation.ValidateWorkerConfig(config, nil, validation.PoolValidationContext{Profile: &v1alpha1.CloudProfileConfig{}, Zones: []string{"a"}}, path)
		},
		"a class called default beside one of that purpose": classesOf("default"),
		"a class called private beside one of that purpose": classesOf("private"),
		"an empty image ID beside an image": func() field.ErrorList {
			l := newCloudProfile(t)
			l.gardenlinux().Regions[0].ID = ""
			return l.validate()
		},
		"an empty DHCP domain": func() field.ErrorList {
			l := newCloudProfile(t)
			l.config.DHCPDomain = new("")
			return l.validate()
		},
		"two load balancer providers of a region": func() field.ErrorList {
			l := newCloudProfile(t)
			providers := &l.config.Constraints.LoadBalancerProviders
			*providers = append(*providers, v1alpha1.LoadBalancerProvider{Name: "ovn", Region: new("asia")})
			return l.validate()
		},
		"a key of credentials that nobody knows": func() field.ErrorList {
			return validation.ValidateCredentials(login("colour", "red"), path)
		},
		"a project by its ID": func() field.ErrorList {
			return validation.ValidateCredentials(login("tenantName", "-", "tenantID", "0123456789abcdef0123456789abcdef"), path)
		},
		"an application credential by its ID, without domain and project": func() field.ErrorList {
			return validation.ValidateCredentials(pairs("applicationCredentialID", "i", "applicationCredentialSecret", "s"), path)
		},
	} {
		t.Run(sentence, func(t *testing.T) { require.Empty(t, errs()) })
	}
}

func classesOf(purpose string) func() field.ErrorList {
	return func() field.ErrorList {
		config := &v1alpha1.ControlPlaneConfig{LoadBalancerProvider: "amphora", LoadBalancerClasses: []v1alpha1.LoadBalancerClass{
			{Name: purpose, SubnetID: new(uuid)}, {Name: "other", Purpose: &purpose, SubnetID: new(otherUUID)},
		}}
		return validation.ValidateControlPlaneConfig(config, nil, validation.ControlPlaneValidationContext{}, field.NewPath("x"))
	}
}
