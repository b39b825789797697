package calico

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// What the driver renders itself it would recognize, should the state be lost.
func TestRecognizeOwn(t *testing.T) {
	for sentence, config := range map[string]string{
		"by IP-in-IP": "", "by VXLAN": "{overlay: {enabled: true}, vxlan: {enabled: true}}", "by the cloud": "overlay: {enabled: false}",
		"by BIRD": "overlay: {enabled: false, createPodRoutes: true}", "without Typha": "typha: {enabled: false}", "CrossSubnet": "ipv4: {mode: CrossSubnet}",
		"WireGuard": "wireguardEncryption: true", "eBPF": "ebpfDataplane: {enabled: true}",
	} {
		t.Run(sentence, func(t *testing.T) {
			rendering, err := New().Render(shootOn(t, "aws", config))
			require.NoError(t, err)
			var objects []*unstructured.Unstructured
			for _, object := range rendering.Shoot {
				raw, err := yaml.Marshal(object)
				require.NoError(t, err)
				read := &unstructured.Unstructured{}
				require.NoError(t, yaml.Unmarshal(raw, &read.Object))
				objects = append(objects, read)
			}
			recognized, err := recognize(objects)
			require.NoError(t, err)
			require.NotNil(t, recognized)
			recognized.UpstreamIPIP = false // Objects do not tell whose they are.
			assert.Empty(t, cmp.Diff(rendering.Form, *recognized))
		})
	}
}
