package contract_test

import (
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/trellis-garden/trellis/internal/contract"
)

func TestReadCluster(t *testing.T) {
	const kindOf = `{"apiVersion":"core.gardener.cloud/v1beta1","kind":`
	for sentence, tc := range map[string]struct {
		spec    extensionsv1alpha1.ClusterSpec
		problem string
	}{
		"a shoot, a profile and a seed": {spec: extensionsv1alpha1.ClusterSpec{
			Shoot:        runtime.RawExtension{Raw: []byte(kindOf + `"Shoot","metadata":{"name":"one"}}`)},
			CloudProfile: runtime.RawExtension{Raw: []byte(kindOf + `"CloudProfile","metadata":{"name":"one"}}`)},
			Seed:         &runtime.RawExtension{Raw: []byte(kindOf + `"Seed","metadata":{"name":"one"}}`)},
		}},
		"a self-hosted shoot has no seed": {spec: extensionsv1alpha1.ClusterSpec{
			Shoot:        runtime.RawExtension{Raw: []byte(kindOf + `"Shoot","metadata":{"name":"one"}}`)},
			CloudProfile: runtime.RawExtension{Raw: []byte(kindOf + `"CloudProfile","metadata":{"name":"one"}}`)},
		}},
		"another kind is refused": {
			spec:    extensionsv1alpha1.ClusterSpec{Shoot: runtime.RawExtension{Raw: []byte(kindOf + `"Seed"}`)}},
			problem: "the Cluster resource is invalid: decoding spec.shoot of \"shoot--dev--one\": expected core.gardener.cloud/v1beta1, Kind=Shoot",
		},
		"what is no object is refused": {
			spec:    extensionsv1alpha1.ClusterSpec{CloudProfile: runtime.RawExtension{Raw: []byte(`[]`)}},
			problem: "decoding spec.cloudProfile",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			scheme := runtime.NewScheme()
			require.NoError(t, extensionsv1alpha1.AddToScheme(scheme))
			raw := &extensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--one"}, Spec: tc.spec}
			reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(raw).Build()
			cluster, err := contract.ReadCluster(t.Context(), reader, "shoot--dev--one")
			if tc.problem != "" {
				require.ErrorContains(t, err, tc.problem)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "one", cluster.Shoot.Name)
			assert.Equal(t, "one", cluster.CloudProfile.Name)
			assert.Equal(t, tc.spec.Seed != nil, cluster.Seed != nil)
		})
	}
}
