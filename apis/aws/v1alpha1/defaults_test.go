package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

func TestDefault_InfrastructureConfig(t *testing.T) {
	type config = v1alpha1.InfrastructureConfig
	for sentence, test := range map[string]struct{ given, want config }{
		"what is absent is what upstream takes it for": {
			config{}, config{EnableECRAccess: new(true), EnableDedicatedTenancyForVPC: new(false), EnableMTUCustomizer: new(true)},
		},
		"what is set stays": {
			config{EnableECRAccess: new(false), EnableDedicatedTenancyForVPC: new(true), EnableMTUCustomizer: new(false)},
			config{EnableECRAccess: new(false), EnableDedicatedTenancyForVPC: new(true), EnableMTUCustomizer: new(false)},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			test.given.Default()
			assert.Empty(t, cmp.Diff(test.want, test.given))
			test.given.Default()
			assert.Empty(t, cmp.Diff(test.want, test.given), "once more")
		})
	}
}

func TestDecodeControlPlaneConfig_Defaults(t *testing.T) {
	for sentence, test := range map[string]struct {
		document string
		want     bool
	}{
		"a shoot without a configuration": {"", true},
		"without storage":                 {`{` + apiVersion + `,"kind":"ControlPlaneConfig"}`, true},
		"with empty storage":              {`{` + apiVersion + `,"kind":"ControlPlaneConfig","storage":{}}`, true},
		"switched off":                    {`{` + apiVersion + `,"kind":"ControlPlaneConfig","storage":{"managedDefaultClass":false}}`, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, decode := range []func(*runtime.RawExtension) (*v1alpha1.ControlPlaneConfig, error){
				v1alpha1.DecodeControlPlaneConfig, v1alpha1.DecodeStoredControlPlaneConfig,
			} {
				config, err := decode(&runtime.RawExtension{Raw: []byte(test.document)})
				require.NoError(t, err)
				assert.Equal(t, test.want, *config.Storage.ManagedDefaultClass)
			}
		})
	}
}
