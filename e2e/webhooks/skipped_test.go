package webhooks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
)

// testSkipped brings what the webhooks are not for to places where they are called.
func testSkipped(t *testing.T, env *environment) {
	const mark = "provider.extensions.gardener.cloud/mutated-by-controlplane-webhook"
	openstackShoot := newShoot("alone")
	env.prepare(t, openstackShoot)
	awsShoot := gardenlet.NewShoot("theirs", "aws", "eu-central-1")
	awsShoot.Credentials = map[string][]byte{"accessKeyID": []byte("key")}
	awsShoot.SeedType = "openstack"
	env.prepare(t, awsShoot)
	env.newNamespace(t, "anybodys", map[string]string{"gardener.cloud/role": "shoot"})

	for sentence, change := range map[string]func(*unstructured.Unstructured){
		"in the namespace of a shoot of another type": func(o *unstructured.Unstructured) { o.SetNamespace(awsShoot.Namespace()) },
		"in a namespace without a type":               func(o *unstructured.Unstructured) { o.SetNamespace("anybodys") },
		"of an object without Gardener's label": func(o *unstructured.Unstructured) {
			unstructured.RemoveNestedField(o.Object, "metadata", "labels", mark)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, name := range []string{"kube-controller-manager.before", "osc-reconcile.before"} {
				object := golden(t, "1.36", name, openstackShoot.Namespace())
				change(object)
				want := env.untouched(t, object)
				require.NoError(t, env.Client.Create(t.Context(), object))
				assert.Equal(t, content(want), content(object))
				require.NoError(t, env.Client.Delete(t.Context(), object))
			}
		})
	}

	t.Run("a Deployment that the Worker contract tunes", func(t *testing.T) {
		object := golden(t, "1.36", "kube-controller-manager.before", openstackShoot.Namespace())
		object.SetName("machine-controller-manager")
		want := env.untouched(t, object)
		require.NoError(t, env.Client.Create(t.Context(), object))
		assert.Equal(t, content(want), content(object))
	})

	t.Run("what is being deleted", func(t *testing.T) {
		for _, name := range []string{"kube-controller-manager.before", "osc-reconcile.before"} {
			object := golden(t, "1.36", name, openstackShoot.Namespace())
			want := env.untouched(t, object)
			created := object.DeepCopy()
			unstructured.RemoveNestedField(created.Object, "metadata", "labels", mark) // or it would have been tuned when it was created
			created.SetFinalizers([]string{"example.org/wait"})
			require.NoError(t, env.Client.Create(t.Context(), created))
			require.NoError(t, env.Client.Delete(t.Context(), created))

			object.SetFinalizers(created.GetFinalizers())
			object.SetResourceVersion(env.stored(t, created).GetResourceVersion())
			require.NoError(t, env.Client.Update(t.Context(), object))
			require.NotNil(t, object.GetDeletionTimestamp())
			assert.Equal(t, content(want), content(object))
			object.SetFinalizers(nil)
			require.NoError(t, env.Client.Update(t.Context(), object))
			_, err := env.find(t.Context(), object)
			require.NoError(t, client.IgnoreNotFound(err))
			assert.Error(t, err, "it is gone")
		}
	})
}
