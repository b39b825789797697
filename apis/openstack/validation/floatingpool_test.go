package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
)

func TestValidateFloatingPool(t *testing.T) {
	profile := &v1alpha1.CloudProfileConfig{}
	profile.Constraints.FloatingPools = []v1alpha1.FloatingPool{
		{Name: "private", Region: new("asia")},
		{Name: "public-*"},
		{Name: "dmz"},
		{Name: "dmz"},
	}
	for sentence, test := range map[string]struct{ pool, region, want string }{
		"a name that a wildcard allows":                      {"public-1", "europe", ""},
		"a name that the region's own entry allows":          {"private", "asia", ""},
		"a name nobody allows, with what is allowed":         {"secret", "europe", `choose one of "dmz", "public-*"`},
		"a name that another region allows":                  {"private", "europe", `choose one of "dmz", "public-*"`},
		"a name that is for regions without their own entry": {"public-1", "asia", `choose one of "private"`},
		"no name, which another function reports":            {"", "europe", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			config := &v1alpha1.InfrastructureConfig{FloatingPoolName: test.pool}
			errs := validation.ValidateFloatingPool(config, profile, test.region, "default", field.NewPath("config"))
			if test.want == "" {
				require.Empty(t, errs)
				return
			}
			require.Len(t, errs, 1)
			require.Equal(t, "config.floatingPoolName", errs[0].Field)
			require.Contains(t, errs[0].Error(), test.want)
		})
	}
}

func TestValidateFloatingPool_NoneInProfile(t *testing.T) {
	config := &v1alpha1.InfrastructureConfig{FloatingPoolName: "public"}
	errs := validation.ValidateFloatingPool(config, &v1alpha1.CloudProfileConfig{}, "europe", "default", field.NewPath("config"))
	require.Len(t, errs, 1)
	require.Contains(t, errs[0].Error(), "ask its admin")
}
