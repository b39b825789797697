package validation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/examplenet/v1alpha1"
	"github.com/trellis-garden/trellis/apis/examplenet/validation"
)

func TestValidateNetworkConfig(t *testing.T) {
	path := field.NewPath("spec", "networking", "providerConfig")
	for _, valid := range []v1alpha1.Encapsulation{"", "vxlan", "ipip", "none"} {
		assert.Empty(t, validation.ValidateNetworkConfig(&v1alpha1.NetworkConfig{Encapsulation: valid}, path), valid)
	}
	errs := validation.ValidateNetworkConfig(&v1alpha1.NetworkConfig{Encapsulation: "gre"}, path)
	require.Len(t, errs, 1)
	assert.Equal(t, `spec.networking.providerConfig.encapsulation: Unsupported value: "gre": supported values: "vxlan", "ipip", "none"`, errs[0].Error())
}

func TestDecodingErrors(t *testing.T) {
	_, err := v1alpha1.DecodeNetworkConfig(&runtime.RawExtension{
		Raw: []byte(`{"apiVersion":"example-net.example.org/v1alpha1","kind":"NetworkConfig","one":1,"two":2}`),
	})
	errs := validation.DecodingErrors(field.NewPath("spec"), err)
	require.Len(t, errs, 2)
	assert.ErrorContains(t, errs[0], `unknown field "one"`)
	assert.ErrorContains(t, errs[1], `unknown field "two"`)
}
