package webhooks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
)

// testLeftAlone brings what the webhooks are not for to places where they are called.
func testLeftAlone(t *testing.T, l *landscape) {
	const mark = "provider.extensions.gardener.cloud/mutated-by-controlplane-webhook"
	ours := newShoot("alone")
	l.prepare(t, ours)
	theirs := gardenlet.NewShoot("theirs", "aws", "eu-central-1")
	theirs.Credentials = map[string][]byte{"accessKeyID": []byte("key")}
	theirs.SeedType = "openstack"
	l.prepare(t, theirs)
	l.newNamespace(t, "anybodys", map[string]string{"gardener.cloud/role": "shoot"})

	for sentence, change := range map[string]func(*unstructured.Unstructured){
		"in the namespace of a shoot of another type": func(o *unstructured.Unstructured) { o.SetNamespace(theirs.Namespace()) },
		"in a namespace without a type":               func(o *unstructured.Unstructured) { o.SetNamespace("anybodys") },
		"of an object without Gardener's label": func(o *unstructured.Unstructured) {
			unstructured.RemoveNestedField(o.Object, "metadata", "labels", mark)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, name := range []string{"kube-controller-manager.before", "osc-reconcile.before"} {
				object := golden(t, "1.36", name, ours.Namespace())
				change(object)
				want := l.untouched(t, object)
				require.NoError(t, l.Client.Create(t.Context(), object))
				assert.Equal(t, content(want), content(object))
				require.NoError(t, l.Client.Delete(t.Context(), object))
			}
		})
	}

	t.Run("a Deployment that the Worker contract tunes", func(t *testing.T) {
		object := golden(t, "1.36", "kube-controller-manager.before", ours.Namespace())
		object.SetName("machine-controller-manager")
		want := l.untouched(t, object)
		require.NoError(t, l.Client.Create(t.Context(), object))
		assert.Equal(t, content(want), content(object))
	})

	t.Run("what is being deleted", func(t *testing.T) {
		for _, name := range []string{"kube-controller-manager.before", "osc-reconcile.before"} {
			object := golden(t, "1.36", name, ours.Namespace())
			want := l.untouched(t, object)
			born := object.DeepCopy()
			unstructured.RemoveNestedField(born.Object, "metadata", "labels", mark) // or it would have been tuned when it was created
			born.SetFinalizers([]string{"example.org/wait"})
			require.NoError(t, l.Client.Create(t.Context(), born))
			require.NoError(t, l.Client.Delete(t.Context(), born))

			object.SetFinalizers(born.GetFinalizers())
			object.SetResourceVersion(l.stored(t, born).GetResourceVersion())
			require.NoError(t, l.Client.Update(t.Context(), object))
			require.NotNil(t, object.GetDeletionTimestamp())
			assert.Equal(t, content(want), content(object))
			object.SetFinalizers(nil)
			require.NoError(t, l.Client.Update(t.Context(), object))
			_, err := l.find(t.Context(), object)
			require.NoError(t, client.IgnoreNotFound(err))
			assert.Error(t, err, "it is gone")
		}
	})
}
