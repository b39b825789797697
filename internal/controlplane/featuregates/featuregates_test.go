package featuregates_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/controlplane/featuregates"
)

func TestGates(t *testing.T) {
	for sentence, test := range map[string]struct {
		configured      map[string]bool
		flags, messages []string
		valid           bool
	}{
		"none": {valid: true},
		"known ones are sorted": {
			configured: map[string]bool{"AllBeta": true, "AllAlpha": false},
			flags:      []string{"--feature-gates=AllAlpha=false,AllBeta=true"}, valid: true,
		},
		"an unknown and a locked one are left out": {
			configured: map[string]bool{"Zebra": true, "TopologyAwareHints": false, "AllBeta": true},
			flags:      []string{"--feature-gates=AllBeta=true"},
			messages: []string{"feature gates TopologyAwareHints, Zebra are left out: Kubernetes 1.34.2 does not have them, or has locked them; " +
				"remove them from cloudControllerManager.featureGates"},
		},
		"only an unknown one": {
			configured: map[string]bool{"Zebra": true},
			messages: []string{"feature gates Zebra are left out: Kubernetes 1.34.2 does not have them, or has locked them; " +
				"remove them from cloudControllerManager.featureGates"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			gates := featuregates.Gates{Configured: test.configured, KubernetesVersion: "1.34.2"}
			assert.Equal(t, test.flags, gates.Flags())
			assert.Equal(t, test.messages, gates.Messages("cloudControllerManager.featureGates"))
			errs := gates.Validate(field.NewPath("featureGates"))
			assert.Equal(t, test.valid, len(errs) == 0, "%v", errs)
		})
	}
}
