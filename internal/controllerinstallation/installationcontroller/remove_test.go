package installationcontroller

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
)

func TestObservesOnly(t *testing.T) {
	resource := func(primary *bool) gardencorev1beta1.ControllerResource {
		return gardencorev1beta1.ControllerResource{Kind: "Worker", Type: "openstack", Primary: primary}
	}
	for sentence, test := range map[string]struct {
		resources []gardencorev1beta1.ControllerResource
		want      bool
	}{
		"no resources":              {nil, false},
		"a primary by default":      {[]gardencorev1beta1.ControllerResource{resource(nil)}, false},
		"a primary":                 {[]gardencorev1beta1.ControllerResource{resource(new(true))}, false},
		"a secondary":               {[]gardencorev1beta1.ControllerResource{resource(new(false)), resource(new(false))}, true},
		"a secondary and a primary": {[]gardencorev1beta1.ControllerResource{resource(new(false)), resource(new(true))}, false},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, test.want, observesOnly(test.resources)) })
	}
}
