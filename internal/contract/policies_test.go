package contract_test

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/contract"
)

func TestMutatingAdmissionPolicies(t *testing.T) {
	served := func(enabled bool, versions ...string) *gardencorev1beta1.KubeAPIServerConfig {
		server := &gardencorev1beta1.KubeAPIServerConfig{RuntimeConfig: map[string]bool{}}
		server.FeatureGates = map[string]bool{"MutatingAdmissionPolicy": enabled}
		for _, version := range versions {
			server.RuntimeConfig["admissionregistration.k8s.io/"+version] = true
		}
		return server
	}
	for sentence, test := range map[string]struct {
		version string
		server  *gardencorev1beta1.KubeAPIServerConfig
		want    string
	}{
		"since 1.36 by itself":                      {version: "1.36.0", want: "admissionregistration.k8s.io/v1"},
		"not before":                                {version: "1.35.4"},
		"before, when gate and version are on":      {version: "1.34.1", server: served(true, "v1alpha1"), want: "admissionregistration.k8s.io/v1alpha1"},
		"the newer version of two":                  {version: "1.35.0", server: served(true, "v1alpha1", "v1beta1"), want: "admissionregistration.k8s.io/v1beta1"},
		"v1beta1 has the kind since 1.34":           {version: "1.33.9", server: served(true, "v1beta1")},
		"what has the kind counts":                  {version: "1.33.9", server: served(true, "v1beta1", "v1alpha1"), want: "admissionregistration.k8s.io/v1alpha1"},
		"v1alpha1 has the kind since 1.32":          {version: "1.31.0", server: served(true, "v1alpha1")},
		"not by the gate alone":                     {version: "1.35.0", server: served(true)},
		"not by the version alone":                  {version: "1.35.0", server: served(false, "v1beta1")},
		"a version that cannot be read serves none": {version: "new"},
	} {
		t.Run(sentence, func(t *testing.T) {
			kubernetes := gardencorev1beta1.Kubernetes{Version: test.version, KubeAPIServer: test.server}
			assert.Equal(t, test.want, contract.MutatingAdmissionPolicies(kubernetes))
		})
	}
}
