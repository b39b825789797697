package revision

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestStore_UnexpectedObject(t *testing.T) {
	for deployment, test := range map[string]struct {
		change func(*appsv1.ControllerRevision)
		want   string
	}{
		"no-number":      {func(o *appsv1.ControllerRevision) { delete(o.Annotations, annotationNumber) }, `annotation installation.trellis.garden/number is "" instead of a number of at least 1`},
		"no-such-number": {func(o *appsv1.ControllerRevision) { o.Annotations[annotationNumber] = "-7" }, `annotation installation.trellis.garden/number is "-7" instead of a number of at least 1`},
		"no-result":      {func(o *appsv1.ControllerRevision) { o.Annotations[annotationResult] = "good" }, `annotation installation.trellis.garden/result is "good" instead of Candidate, Good or Bad`},
		"no-time":        {func(o *appsv1.ControllerRevision) { o.Annotations[annotationSince] = "today" }, `annotation installation.trellis.garden/since is "today" instead of a time (RFC 3339)`},
		"nothing":        {func(o *appsv1.ControllerRevision) { o.Annotations = nil }, `annotation installation.trellis.garden/number is "" instead of a number of at least 1`},
		"not-its-name":   {func(o *appsv1.ControllerRevision) { o.Name = "another-0123456789" }, `its name is not "not-its-name-" and 10 hexadecimal digits`},
		"no-digits":      {func(o *appsv1.ControllerRevision) { o.Name = "no-digits-012345678g" }, `its name is not "no-digits-" and 10 hexadecimal digits`},
	} {
		t.Run(deployment, func(t *testing.T) {
			b := newTestStore(t, deployment)
			b.record("a")
			object := b.replace("b", test.change)
			want := "ControllerRevision garden/" + object.Name + " is not as the operator has made it: " + test.want +
				": delete it: the newest is recorded anew, and who has an older one gets the last good one"

			_, err := b.List(t.Context(), deployment)
			assert.EqualError(t, err, want)
			_, err = b.Record(t.Context(), b.deployment, contentOf("c"))
			assert.ErrorContains(t, err, want)
			assert.ErrorContains(t, b.Prune(t.Context(), deployment, nil, 0), want)
			if name := nameOf(t, contentOf("b")); object.Name == deployment+"-"+name {
				assert.ErrorContains(t, b.SetResult(t.Context(), deployment, Info{Name: name}, Good, ""), want)
				_, err = b.Content(t.Context(), deployment, name)
				assert.EqualError(t, err, want)
			}
			require.NoError(t, b.Client.Delete(t.Context(), object))
			assert.Equal(t, []string{"1 a Candidate"}, b.revisions("a"))
		})
	}
}

// replace creates a revision as a Store would, but for a change.
func (b *testStore) replace(chart string, change func(*appsv1.ControllerRevision)) *appsv1.ControllerRevision {
	b.t.Helper()
	data, err := encode(contentOf(chart))
	require.NoError(b.t, err)
	object := newObject(b.deployment, Info{Name: nameOf(b.t, contentOf(chart)), Number: 2, Result: Candidate, Since: now()}, data)
	change(object)
	require.NoError(b.t, b.Client.Create(b.t.Context(), object))
	return object
}

func TestStore_UnexpectedContent(t *testing.T) {
	other := nameOf(t, contentOf("other"))
	for deployment, test := range map[string]struct{ data, want string }{
		"other-content": {`{"chart":"b3RoZXI="}`, "it is that of revision " + other},
		"no-content":    {`{"spec":{"template":{}}}`, "it is that of revision " + nameOf(t, &Content{})},
		"no-base64":     {`{"chart":"%"}`, "decoding it: illegal base64 data at input byte 0"},
	} {
		t.Run(deployment, func(t *testing.T) {
			b := newTestStore(t, deployment)
			object := b.replace("a", func(o *appsv1.ControllerRevision) { o.Data.Raw = []byte(test.data) })
			_, err := b.Content(t.Context(), deployment, nameOf(t, contentOf("a")))
			assert.EqualError(t, err, "the content of ControllerRevision garden/"+object.Name+" is not what the operator has kept there: "+test.want+
				": delete it: the newest is recorded anew, and who has an older one gets the last good one")
		})
	}
}

func TestRecord_ObjectWithoutLabel(t *testing.T) {
	b := newTestStore(t, "in-the-way")
	object := b.replace("a", func(o *appsv1.ControllerRevision) { o.Labels = nil })
	t.Cleanup(func() { assert.NoError(t, b.Client.Delete(context.Background(), object)) })
	_, err := b.Record(t.Context(), b.deployment, contentOf("a"))
	assert.EqualError(t, err, "recording revision "+nameOf(t, contentOf("a"))+" of ControllerDeployment in-the-way: "+
		"ControllerRevision garden/"+object.Name+` is not as the operator has made it: label installation.trellis.garden/deployment is "" instead of "in-the-way": `+
		"delete it: the newest is recorded anew, and who has an older one gets the last good one")
}

func TestRecord_ObjectBeingDeleted(t *testing.T) {
	b := newTestStore(t, "on-its-way-out")
	object := b.replace("a", func(o *appsv1.ControllerRevision) { o.Finalizers = []string{"somebody.example/holds"} })
	released := object.DeepCopy()
	released.Finalizers = nil
	t.Cleanup(func() { assert.NoError(t, b.Client.Patch(context.Background(), released, client.MergeFrom(object))) })
	require.NoError(t, b.Client.Delete(t.Context(), object))
	assert.Empty(t, b.revisions("a"), "what is going is gone")
	_, err := b.Record(t.Context(), b.deployment, contentOf("a"))
	assert.ErrorContains(t, err, "ControllerRevision garden/"+object.Name+" is still being deleted")
}

func TestStore_ReadsMetadataOnly(t *testing.T) {
	b := newTestStore(t, "spared")
	b.record("a", "b")
	b.Client = interceptor.NewClient(garden(t), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			assert.IsType(t, &metav1.PartialObjectMetadata{}, object)
			return c.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			assert.IsType(t, &metav1.PartialObjectMetadataList{}, list)
			return c.List(ctx, list, options...)
		},
	})
	b.record("a", "b", "c")
	b.setResult("c", Good)
	require.NoError(t, b.Prune(t.Context(), "spared", nil, 0))
	assert.Equal(t, []string{"5 c Good"}, b.revisions("c"))
}

func TestStore_APIServerErrors(t *testing.T) {
	broken := errors.New("nobody answers")
	b := newTestStore(t, "broken")
	b.record("a", "b", "c")
	b.Client = interceptor.NewClient(garden(t), interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return broken },
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return broken
		},
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return broken },
	})
	for _, chart := range []string{"a", "d"} {
		_, err := b.Record(t.Context(), b.deployment, contentOf(chart))
		assert.EqualError(t, err, "recording revision "+nameOf(t, contentOf(chart))+" of ControllerDeployment broken: nobody answers")
	}
	name := nameOf(t, contentOf("a"))
	assert.EqualError(t, b.SetResult(t.Context(), "broken", b.info("a"), Good, ""), "evaluating revision "+name+" of ControllerDeployment broken: nobody answers")
	assert.EqualError(t, b.Prune(t.Context(), "broken", nil, 1), "removing revision "+name+" of ControllerDeployment broken: nobody answers")

	b.Client = interceptor.NewClient(garden(t), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return broken
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return broken },
	})
	_, err := b.List(t.Context(), "broken")
	assert.EqualError(t, err, "listing the revisions of ControllerDeployment broken: nobody answers")
	_, err = b.Content(t.Context(), "broken", name)
	assert.EqualError(t, err, "reading revision "+name+" of ControllerDeployment broken: nobody answers")
}
