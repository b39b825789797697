package state

import (
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
)

// watched collects the names that a source requests.
type watched struct {
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

func watch(t *testing.T, changes source.Source) watched {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(queue.ShutDown)
	require.NoError(t, changes.Start(t.Context(), queue))
	return watched{queue}
}

// names empties the queue.
func (w watched) names() []string {
	var names []string
	for w.queue.Len() > 0 {
		request, _ := w.queue.Get()
		w.queue.Done(request)
		names = append(names, request.Name)
	}
	return names
}

func newInstallation() *gardencorev1beta1.ControllerInstallation {
	return &gardencorev1beta1.ControllerInstallation{
		ObjectMeta: metav1.ObjectMeta{Name: "one"},
		Spec:       gardencorev1beta1.ControllerInstallationSpec{DeploymentRef: &corev1.ObjectReference{Name: "network"}},
	}
}

func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

func TestStore_RequeuesDeployment(t *testing.T) {
	one, now := newInstallation(), noon()
	for name, test := range map[string]struct {
		before, record func(*Store)
		isNews         bool
	}{
		"on the first result":                      {record: func(s *Store) { s.RecordSeen(one, now, nil) }, isNews: true},
		"on the first check when it fails":         {record: func(s *Store) { s.RecordFailed(one, now) }, isNews: true},
		"when the seed becomes unreachable":        {record: func(s *Store) { s.RecordUnreachable(one, now) }, isNews: true},
		"when the seed is reachable again":         {func(s *Store) { s.RecordUnreachable(one, now) }, func(s *Store) { s.RecordSeen(one, now, nil) }, true},
		"not while the seed stays unreachable":     {func(s *Store) { s.RecordUnreachable(one, now) }, func(s *Store) { s.RecordUnreachable(one, now) }, false},
		"not on the same result again":             {func(s *Store) { s.RecordSeen(one, now, nil) }, func(s *Store) { s.RecordSeen(one, now, nil) }, false},
		"not when a later check fails":             {func(s *Store) { s.RecordSeen(one, now, nil) }, func(s *Store) { s.RecordFailed(one, now) }, false},
		"on a requested result":                    {func(s *Store) { s.RecordSeen(one, now, nil); s.RequestCheck("one") }, func(s *Store) { s.RecordSeen(one, now, nil) }, true},
		"not on the result after a requested one":  {func(s *Store) { s.RequestCheck("one"); s.RecordSeen(one, now, nil) }, func(s *Store) { s.RecordSeen(one, now, nil) }, false},
		"on a requested check that fails":          {func(s *Store) { s.RecordFailed(one, now); s.RequestCheck("one") }, func(s *Store) { s.RecordFailed(one, now) }, true},
		"on a requested check of an unreachable":   {func(s *Store) { s.RecordUnreachable(one, now); s.RequestCheck("one") }, func(s *Store) { s.RecordUnreachable(one, now) }, true},
		"each time a revision cannot be installed": {func(s *Store) { s.RecordSeen(one, now, &InstallFailure{}) }, func(s *Store) { s.RecordSeen(one, now, &InstallFailure{}) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := New()
			if test.before != nil {
				test.before(s)
			}
			changed := watch(t, s.ChangedDeployments())
			test.record(s)
			if test.isNews {
				assert.Equal(t, []string{"network"}, changed.names())
			} else {
				assert.Empty(t, changed.names())
			}
		})
	}
}

func TestStore_WithoutDeploymentRef(t *testing.T) {
	s, one := New(), newInstallation()
	one.Spec.DeploymentRef = nil
	changed := watch(t, s.ChangedDeployments())
	s.RecordSeen(one, noon(), nil)
	assert.Empty(t, changed.names())
	assert.Equal(t, noon(), s.Observation("one").SeenAt)
}

func TestStore_RequestCheck(t *testing.T) {
	s := New()
	changed := watch(t, s.ChangedInstallations())
	s.RequestCheck("one")
	assert.Equal(t, []string{"one"}, changed.names())
	s.RequestCheck("one")
	assert.Empty(t, changed.names(), "a check that fails is retried anyway")
	s.RecordSeen(newInstallation(), noon(), nil)
	s.RequestCheck("one")
	assert.Equal(t, []string{"one"}, changed.names())
	s.ForgetInstallation("one")
	s.RequestCheck("one")
	assert.Equal(t, []string{"one"}, changed.names())
}

func TestStore_PublishDeployment(t *testing.T) {
	invalid := problem.New(problem.ValuesInvalid, "values.replicas: give a number")
	published := Deployment{Relation: Ours, Note: "r2 has failed", Problem: invalid, Waves: map[string]string{"one": "canary"}}
	for name, test := range map[string]struct {
		change func(*Deployment)
		isNews bool
	}{
		"the same":                              {func(d *Deployment) { copied := *d.Problem; d.Problem = &copied }, false},
		"another trial, which annotations tell": {func(d *Deployment) { d.Trial = "r3" }, false},
		"empty waves, which the note tells":     {func(d *Deployment) { d.EmptyWaves = []string{"early"} }, false},
		"another note":                          {func(d *Deployment) { d.Note = "" }, true},
		"no problem any more":                   {func(d *Deployment) { d.Problem = nil }, true},
		"a registry that does not answer":       {func(d *Deployment) { d.Waiting = assert.AnError }, true},
		"another wave":                          {func(d *Deployment) { d.Waves = map[string]string{"one": "rest"} }, true},
		"another type":                          {func(d *Deployment) { *d = Deployment{Relation: OtherType} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := New()
			changed := watch(t, s.ChangedInstallations())
			s.PublishDeployment("network", published, []string{"one", "two"})
			require.Equal(t, []string{"one", "two"}, changed.names())
			later := published
			test.change(&later)
			s.PublishDeployment("network", later, []string{"one", "two"})
			assert.Equal(t, test.isNews, len(changed.names()) == 2)
			got, found := s.Deployment("network")
			assert.True(t, found)
			assert.Equal(t, later, got)
			assert.Equal(t, later.Relation == Ours, len(s.OwnDeployments()) == 1)
		})
	}
}

func TestStore_WithoutWatch(t *testing.T) {
	s := New()
	s.PublishDeployment("network", Deployment{Relation: Ours}, []string{"one"})
	s.RecordSeen(newInstallation(), noon(), nil)
	_, found := s.Deployment("network")
	assert.True(t, found, "an operator in a seed has one controller only")
}

func TestStore_Observe(t *testing.T) {
	start := noon()
	after := start.Add
	observation := func(s *Store, d time.Duration, health rollout.Health) rollout.Observed {
		return s.Observe("one", "r2 now", after(d), health, rollout.Observed{})
	}
	t.Run("counts the time between two checks", func(t *testing.T) {
		s := New()
		observation(s, 0, rollout.Progressing)
		assert.Equal(t, rollout.Observed{Total: time.Minute, Progressing: time.Minute}, observation(s, time.Minute, rollout.Healthy))
		assert.Equal(t, rollout.Observed{Total: 90 * time.Second, Progressing: time.Minute, Healthy: 30 * time.Second}, observation(s, 90*time.Second, rollout.Healthy))
	})
	t.Run("bounds the time when a clock jumps", func(t *testing.T) {
		s := New()
		observation(s, 0, rollout.Progressing)
		assert.Equal(t, maxObservationInterval, observation(s, 2*time.Hour, rollout.Progressing).Progressing)
		assert.Equal(t, maxObservationInterval, observation(s, time.Minute, rollout.Progressing).Progressing, "and nothing is counted when it jumps back")
		assert.Equal(t, maxObservationInterval+time.Minute, observation(s, 2*time.Minute, rollout.Progressing).Progressing)
	})
	t.Run("another process adds to the stored time", func(t *testing.T) {
		stored := rollout.Observed{Total: 8 * time.Minute, Progressing: 8 * time.Minute}
		s := New()
		assert.Equal(t, stored, s.Observe("one", "r2 now", after(time.Hour), rollout.Progressing, stored), "time without checks does not count")
		assert.Equal(t, 9*time.Minute, s.Observe("one", "r2 now", after(time.Hour+time.Minute), rollout.Progressing, stored).Progressing)
	})
	t.Run("another assignment starts at zero", func(t *testing.T) {
		s := New()
		observation(s, 0, rollout.Progressing)
		assert.Zero(t, s.Observe("one", "r3 now", after(time.Minute), rollout.Progressing, rollout.Observed{}))
	})
	t.Run("counts an unreachable seed while others answer", func(t *testing.T) {
		s := New()
		observation(s, 0, rollout.Hidden)
		s.Observe("two", "r1 now", after(time.Minute), rollout.Healthy, rollout.Observed{})
		assert.Equal(t, time.Minute, observation(s, time.Minute, rollout.Hidden).Hidden)
	})
	t.Run("counts an unreachable seed across short interruptions", func(t *testing.T) {
		s := New()
		observation(s, 0, rollout.Hidden)
		s.Observe("two", "r1 now", start, rollout.Healthy, rollout.Observed{})
		observation(s, 2*time.Minute, rollout.Healthy)
		observation(s, 3*time.Minute, rollout.Hidden)
		assert.Equal(t, 150*time.Second, observation(s, 4*time.Minute, rollout.Hidden).Hidden)
	})
	t.Run("counts no unreachable seed while none answers, since the operator may be cut off", func(t *testing.T) {
		s := New()
		observation(s, 0, rollout.Healthy)
		for minutes := range 30 {
			observation(s, time.Duration(minutes)*time.Minute, rollout.Hidden)
		}
		assert.LessOrEqual(t, observation(s, 30*time.Minute, rollout.Hidden).Hidden, maxObservationInterval)
	})
}
