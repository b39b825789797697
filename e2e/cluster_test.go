package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/extensions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
	"github.com/trellis-garden/trellis/internal/contract"
)

// TestReadCluster compares the contract runtime's decoding of a Cluster with Gardener's, with the examples in Gardener's module.
func TestReadCluster(t *testing.T) {
	examples := gardenerExamples(t)
	full := extensionsv1alpha1.ClusterSpec{
		Shoot:        runtime.RawExtension{Raw: example[gardencorev1beta1.Shoot](t, examples, "90-shoot.yaml")},
		Seed:         &runtime.RawExtension{Raw: example[gardencorev1beta1.Seed](t, examples, "50-seed.yaml")},
		CloudProfile: runtime.RawExtension{Raw: example[gardencorev1beta1.CloudProfile](t, examples, "30-cloudprofile.yaml")},
	}
	selfHosted := full
	selfHosted.Seed = nil
	newer := full
	newer.Shoot = runtime.RawExtension{Raw: []byte(`{"apiVersion":"core.gardener.cloud/v1beta1","kind":"Shoot",` +
		`"metadata":{"name":"newer","annotations":{"a":"b"}},"spec":{"fieldOfTheFuture":{"x":1},"region":"r","maintenance":{"autoUpdate":{"kubernetesVersion":true}}}}`)}
	broken := full
	broken.CloudProfile = runtime.RawExtension{Raw: []byte(`{"apiVersion":"core.gardener.cloud/v1beta1","kind":"CloudProfile","spec":"none"}`)}

	for description, spec := range map[string]extensionsv1alpha1.ClusterSpec{
		"all three documents":                              full,
		"no seed, as for a self-hosted shoot":              selfHosted,
		"a shoot with fields that this version lacks":      newer,
		"a document that does not decode":                  broken,
		"nothing in it but a shoot":                        {Shoot: full.Shoot},
		"an empty Cluster, as while gardenlet creates one": {},
	} {
		t.Run(description, func(t *testing.T) {
			object := &extensionsv1alpha1.Cluster{
				ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--one", Annotations: map[string]string{"generic-token-kubeconfig.secret.gardener.cloud/name": "g"}},
				Spec:       spec,
			}
			reader := clientfake.NewClientBuilder().WithScheme(kubernetes.SeedScheme).WithObjects(object).Build()
			want, wantErr := extensions.GetCluster(t.Context(), reader, object.Name)
			got, err := contract.ReadCluster(t.Context(), reader, object.Name)
			require.Equal(t, wantErr == nil, err == nil, "Gardener: %v, Trellis: %v", wantErr, err)
			if err != nil {
				return
			}
			assert.Equal(t, want.ObjectMeta, got.ObjectMeta)
			assert.Equal(t, want.Shoot, got.Shoot)
			assert.Equal(t, want.Seed, got.Seed)
			assert.Equal(t, want.CloudProfile, got.CloudProfile)
		})
	}
}

// example returns the first document in an example file that is not empty, as JSON.
func example[T any](t *testing.T, dir, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	for document := range strings.SplitSeq("\n"+string(content), "\n---\n") {
		encoded, err := yaml.YAMLToJSON([]byte(document))
		require.NoError(t, err)
		var decoded, empty T
		require.NoError(t, yaml.Unmarshal(encoded, &decoded))
		if !assert.ObjectsAreEqual(empty, decoded) {
			return encoded
		}
	}
	require.FailNow(t, "there is no document in "+name)
	return nil
}

// gardenerExamples returns the folder with the examples in Gardener's module.
func gardenerExamples(t *testing.T) string {
	t.Helper()
	dir, err := repo.ModuleDir(t.Context(), "github.com/gardener/gardener")
	require.NoError(t, err)
	return filepath.Join(dir, "example")
}
