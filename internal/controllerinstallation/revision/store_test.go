package revision

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func TestRecord(t *testing.T) {
	b := newTestStore(t, "kept")
	content := newContent()
	content.Source, content.Origin = "registry/chart@sha256:1", "a hash"
	before := time.Now().Add(-time.Second)
	recorded, err := b.Record(t.Context(), b.deployment, content)
	require.NoError(t, err)
	assert.True(t, recorded.Since.After(before) && !recorded.Since.After(time.Now()), recorded.Since)
	assert.Equal(t, &Info{
		Name: nameOf(t, content), Number: 1, Source: "registry/chart@sha256:1", Origin: "a hash", Result: Candidate, Since: recorded.Since,
	}, recorded)

	all, err := b.List(t.Context(), "kept")
	require.NoError(t, err)
	assert.Equal(t, []Info{*recorded}, all)

	back, err := b.Content(t.Context(), "kept", recorded.Name)
	require.NoError(t, err)
	assert.Equal(t, recorded.Name, nameOf(t, back))
	assert.Equal(t, content.Chart, back.Chart)
	assert.Equal(t, []string{content.Source, content.Origin}, []string{back.Source, back.Origin})

	object := &appsv1.ControllerRevision{}
	require.NoError(t, b.Client.Get(t.Context(), client.ObjectKey{Namespace: "garden", Name: "kept-" + recorded.Name}, object))
	assert.EqualValues(t, 1, object.Revision)
	assert.Equal(t, map[string]string{"installation.trellis.garden/deployment": "kept"}, object.Labels)
	assert.Equal(t, []metav1.OwnerReference{{
		APIVersion: "core.gardener.cloud/v1", Kind: "ControllerDeployment", Name: "kept", UID: "uid-of-kept", BlockOwnerDeletion: new(false),
	}}, object.OwnerReferences)
	assert.Contains(t, string(object.Data.Raw), `"chart":"H4sgYSBjaGFydA=="`)
}

func TestRecord_NewestAgain(t *testing.T) {
	b := newTestStore(t, "again")
	first := b.record("a")
	version := b.object("a").ResourceVersion
	assert.Equal(t, first, b.record("a"))
	assert.Equal(t, version, b.object("a").ResourceVersion)

	content := contentOf("a")
	content.Source, content.Origin = "elsewhere", "another"
	moved, err := b.Record(t.Context(), b.deployment, content)
	require.NoError(t, err)
	assert.Equal(t, []string{"elsewhere", "another"}, []string{moved.Source, moved.Origin})
	assert.Equal(t, []string{"1 a Candidate"}, b.revisions("a"))
	back := b.record("a")
	assert.Equal(t, first, back, "a source that is not there any more is forgotten")
}

func TestRecord_EarlierRevision(t *testing.T) {
	for sentence, test := range map[string]struct {
		results map[string]Result
		again   string
		want    []string
	}{
		"a candidate that was given up": {nil, "a", []string{"4 a Candidate", "3 c Candidate", "2 b Candidate"}},
		"the last good one":             {map[string]Result{"a": Good}, "a", []string{"4 a Good", "3 c Candidate", "2 b Candidate"}},
		"one that was good long ago":    {map[string]Result{"a": Good, "b": Good}, "a", []string{"4 a Candidate", "3 c Candidate", "2 b Good"}},
		"a bad one":                     {map[string]Result{"a": Good, "b": Bad}, "b", []string{"4 b Bad", "3 c Candidate", "1 a Good"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			b := newTestStore(t, strings.ReplaceAll(sentence, " ", "-"))
			b.record("a", "b", "c")
			for chart, result := range test.results {
				b.setResult(chart, result)
			}
			b.backdate(test.again)
			info := b.record(test.again)
			assert.Equal(t, test.want, b.revisions("a", "b", "c"))
			assert.Equal(t, info.Result == Candidate, time.Since(info.Since) < time.Hour, "a candidate is one since now, a result has the time of its evaluation")
			assert.Equal(t, "4", b.object(test.again).Annotations[annotationNumber])
			object := &appsv1.ControllerRevision{}
			require.NoError(t, b.Client.Get(t.Context(), keyOf(b.deployment.Name, info.Name), object))
			assert.EqualValues(t, 4, object.Revision)
		})
	}
}

// backdate makes what is said of a chart two days old.
func (b *testStore) backdate(chart string) {
	b.t.Helper()
	object := b.object(chart)
	before := object.DeepCopy()
	object.Annotations[annotationSince] = time.Now().Add(-48 * time.Hour).UTC().Format(time.RFC3339)
	require.NoError(b.t, b.Client.Patch(b.t.Context(), object, client.MergeFrom(before)))
}

func TestSetResult(t *testing.T) {
	b := newTestStore(t, "evaluated")
	b.record("a")
	b.backdate("a")
	candidate := b.info("a")
	require.NoError(t, b.SetResult(t.Context(), "evaluated", candidate, Bad, "seed eu-1 is ill"))
	all, err := b.List(t.Context(), "evaluated")
	require.NoError(t, err)
	assert.Equal(t, []any{Bad, "seed eu-1 is ill"}, []any{all[0].Result, all[0].Reason})
	assert.Less(t, time.Since(all[0].Since), time.Hour)

	version := b.object("a").ResourceVersion
	require.NoError(t, b.SetResult(t.Context(), "evaluated", candidate, Bad, "seed eu-2 is ill as well"))
	assert.Equal(t, version, b.object("a").ResourceVersion, "it is bad already")

	b.setResult("a", Candidate)
	assert.NotContains(t, b.object("a").Annotations, annotationReason)

	require.NoError(t, b.SetResult(t.Context(), "evaluated", b.info("a"), Bad, strings.Repeat("ä", 300<<10)))
	assert.Equal(t, strings.Repeat("ä", 2<<10-2)+" ...", b.object("a").Annotations[annotationReason], "more than there is room for")

	assert.EqualError(t, b.SetResult(t.Context(), "evaluated", candidate, "Fair", ""), `there is no result "Fair"`)
	for _, gone := range []string{"0123456789", "a/b", ""} {
		assert.True(t, apierrors.IsNotFound(b.SetResult(t.Context(), "evaluated", Info{Name: gone}, Good, "")), gone)
		_, err := b.Content(t.Context(), "evaluated", gone)
		assert.True(t, apierrors.IsNotFound(err), gone)
	}
}

func TestSetMessage(t *testing.T) {
	b := newTestStore(t, "remarked")
	b.record("a")
	name := b.info("a").Name
	require.NoError(t, b.SetMessage(t.Context(), "remarked", name, "seed eu-1 has gone"))
	assert.Equal(t, "seed eu-1 has gone", b.info("a").Message)
	b.setResult("a", Good)
	assert.Equal(t, "seed eu-1 has gone", b.info("a").Message, "a result does not change it")
	b.record("a")
	assert.Equal(t, "seed eu-1 has gone", b.info("a").Message, "nor does the same content")
	b.record("b", "a")
	assert.Empty(t, b.info("a").Message, "what is the newest once more begins anew")
	assert.True(t, apierrors.IsNotFound(b.SetMessage(t.Context(), "remarked", "0123456789", "")))
}

func TestPrune(t *testing.T) {
	for sentence, test := range map[string]struct {
		keep  []string
		limit int
		want  []string
	}{
		"all but the newest and the last good one": {limit: 0, want: []string{"6 f Candidate", "3 c Good"}},
		"all below nothing":                        {limit: -1, want: []string{"6 f Candidate", "3 c Good"}},
		"the oldest beyond a limit":                {limit: 2, want: []string{"6 f Candidate", "5 e Bad", "4 d Candidate", "3 c Good"}},
		"not those in use, which don't count":      {keep: []string{"a", "d", "f"}, limit: 1, want: []string{"6 f Candidate", "5 e Bad", "4 d Candidate", "3 c Good", "1 a Candidate"}},
		"none when there is room":                  {limit: 4, want: []string{"6 f Candidate", "5 e Bad", "4 d Candidate", "3 c Good", "2 b Good", "1 a Candidate"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			b := newTestStore(t, "prune-"+strings.Trim(strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(sentence), "-"))
			b.record("a", "b", "c", "d", "e", "f")
			b.setResult("b", Good)
			b.setResult("c", Good)
			b.setResult("e", Bad)
			keep := []string{"", "unknown"}
			for _, chart := range test.keep {
				keep = append(keep, nameOf(t, contentOf(chart)))
			}
			for range 2 {
				require.NoError(t, b.Prune(t.Context(), b.deployment.Name, keep, test.limit))
				assert.Equal(t, test.want, b.revisions("a", "b", "c", "d", "e", "f"))
			}
		})
	}
	assert.NoError(t, newTestStore(t, "prune-nothing").Prune(t.Context(), "prune-nothing", nil, 0))
}

func TestList_SeveralDeployments(t *testing.T) {
	longest := strings.Repeat("n", 63)
	one, other, long := newTestStore(t, "mix"), newTestStore(t, "mix-0123456789"), newTestStore(t, longest)
	one.record("a", "b")
	other.record("a")
	long.record("a")
	assert.Equal(t, []string{"2 b Candidate", "1 a Candidate"}, one.revisions("a", "b"))
	assert.Equal(t, []string{"1 a Candidate"}, other.revisions("a", "b"))
	assert.Equal(t, []string{"1 a Candidate"}, long.revisions("a"))
	assert.Empty(t, newTestStore(t, "nobody").revisions())
}

func TestRecord_DeploymentRecreated(t *testing.T) {
	b := newTestStore(t, "anew")
	b.record("a", "b")
	b.setResult("a", Good)
	b.deployment.UID = "another"
	b.record("b")
	owners := b.object("b").OwnerReferences
	require.Len(t, owners, 1)
	assert.EqualValues(t, "another", owners[0].UID)
	b.record("a")
	assert.EqualValues(t, "another", b.object("a").OwnerReferences[0].UID)
	assert.Equal(t, []string{"3 a Good", "2 b Candidate"}, b.revisions("a", "b"))
}

func TestRecord_MaxSize(t *testing.T) {
	b := newTestStore(t, "large")
	largest := contentOf(strings.Repeat("x", (maxSize-len(`{"chart":""}`))/4*3))
	info, err := b.Record(t.Context(), b.deployment, largest)
	require.NoError(t, err)
	require.NoError(t, b.SetResult(t.Context(), "large", *info, Bad, strings.Repeat("x", maxReason)))
	back, err := b.Content(t.Context(), "large", info.Name)
	require.NoError(t, err)
	assert.Equal(t, largest.Chart, back.Chart)

	largest.Chart = append(largest.Chart, "xxx"...)
	_, err = b.Record(t.Context(), b.deployment, largest)
	found, isProblem := problem.In(err)
	require.True(t, isProblem, err)
	assert.Equal(t, problem.ChartTooLarge, found.Reason)
	assert.Len(t, b.revisions(), 1)
}

func TestSetResult_StaleRevision(t *testing.T) {
	for sentence, happens := range map[string]func(*testStore){
		"it was found bad":                    func(b *testStore) { b.setResult("a", Bad) },
		"it was found bad and is tried again": func(b *testStore) { b.setResult("a", Bad); b.setResult("a", Candidate) },
		"another one was newest in between":   func(b *testStore) { b.record("b", "a") },
	} {
		t.Run(sentence, func(t *testing.T) {
			b := newTestStore(t, "late-"+strings.ReplaceAll(sentence, " ", "-"))
			b.record("a")
			b.backdate("a")
			decided := b.info("a")
			happens(b)
			now := b.info("a")
			assert.True(t, apierrors.IsConflict(b.SetResult(t.Context(), b.deployment.Name, decided, Good, "")))
			assert.Equal(t, now, b.info("a"))
		})
	}
}

func TestStore_RetriesOnConflict(t *testing.T) {
	b := newTestStore(t, "race")
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			_, err := b.Record(t.Context(), b.deployment, contentOf("a"))
			return err
		})
	}
	require.NoError(t, group.Wait())
	assert.Equal(t, []string{"1 a Candidate"}, b.revisions("a"))

	b.record("b")
	slow := Store{Client: b.conflictingClient(1)}
	require.NoError(t, slow.SetResult(t.Context(), "race", b.info("b"), Good, ""))
	assert.Equal(t, []string{"2 b Good", "1 a Candidate"}, b.revisions("a", "b"))
	slow = Store{Client: b.conflictingClient(1)}
	_, err := slow.Record(t.Context(), b.deployment, contentOf("a"))
	require.NoError(t, err)
	assert.Equal(t, []string{"3 a Candidate", "2 b Good"}, b.revisions("a", "b"))

	b.record("c", "d")
	slow = Store{Client: b.conflictingClient(1)}
	require.NoError(t, slow.Prune(t.Context(), "race", nil, 0))
	assert.Equal(t, []string{"5 d Candidate", "2 b Good"}, b.revisions("a", "b", "c", "d"))

	slow = Store{Client: b.conflictingClient(1000)}
	assert.True(t, apierrors.IsConflict(slow.SetResult(t.Context(), "race", b.info("d"), Good, "")), "but not for ever")
	assert.Equal(t, []string{"5 d Candidate", "2 b Good"}, b.revisions("b", "d"))
}

func TestPrune_RecordedConcurrently(t *testing.T) {
	b := newTestStore(t, "rescued")
	b.record("a", "b", "c")
	slow := Store{Client: interceptor.NewClient(garden(t), interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			b.record("a")
			return c.Delete(ctx, object, options...)
		},
	})}
	require.NoError(t, slow.Prune(t.Context(), "rescued", nil, 1))
	assert.Equal(t, []string{"4 a Candidate", "3 c Candidate"}, b.revisions("a", "b", "c"))
}

// conflictingClient returns a client with which somebody else writes to an object just before the object is changed or removed, so many times.
func (b *testStore) conflictingClient(times int) client.Client {
	writeConflict := func(ctx context.Context, c client.WithWatch, object client.Object) error {
		if times--; times < 0 {
			return nil
		}
		other := &metav1.PartialObjectMetadata{}
		other.SetGroupVersionKind(kind())
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), other); err != nil {
			return err
		}
		before := other.DeepCopy()
		other.Annotations["somebody"] += "!"
		return c.Patch(ctx, other, client.MergeFrom(before))
	}
	return interceptor.NewClient(garden(b.t), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return errors.Join(writeConflict(ctx, c, object), c.Patch(ctx, object, patch, options...))
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return errors.Join(writeConflict(ctx, c, object), c.Delete(ctx, object, options...))
		},
	})
}
