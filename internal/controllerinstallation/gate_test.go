package controllerinstallation

import (
	"errors"
	"testing"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
)

func TestWatchObserve(t *testing.T) {
	start := at("12:00:00").Time
	after := start.Add
	look := func(w *watch, d time.Duration, health rollout.Health) rollout.Observed {
		return w.observe("one", "r2 now", after(d), health, rollout.Observed{})
	}
	t.Run("what lies between two looks counts", func(t *testing.T) {
		w := newWatch()
		look(w, 0, rollout.Progressing)
		assert.Equal(t, rollout.Observed{Total: time.Minute, Progressing: time.Minute}, look(w, time.Minute, rollout.Healthy))
		assert.Equal(t, rollout.Observed{Total: 90 * time.Second, Progressing: time.Minute, Healthy: 30 * time.Second}, look(w, 90*time.Second, rollout.Healthy))
	})
	t.Run("a clock that jumps for a minute makes nobody late", func(t *testing.T) {
		w := newWatch()
		look(w, 0, rollout.Progressing)
		assert.Equal(t, longestInterval, look(w, 2*time.Hour, rollout.Progressing).Progressing)
		assert.Equal(t, longestInterval, look(w, time.Minute, rollout.Progressing).Progressing, "and nothing is counted when it jumps back")
		assert.Equal(t, longestInterval+time.Minute, look(w, 2*time.Minute, rollout.Progressing).Progressing)
	})
	t.Run("another process goes on from what is kept", func(t *testing.T) {
		kept := rollout.Observed{Total: 8 * time.Minute, Progressing: 8 * time.Minute}
		w := newWatch()
		assert.Equal(t, kept, w.observe("one", "r2 now", after(time.Hour), rollout.Progressing, kept), "time in which nobody looked does not count")
		assert.Equal(t, 9*time.Minute, w.observe("one", "r2 now", after(time.Hour+time.Minute), rollout.Progressing, kept).Progressing)
	})
	t.Run("another assignment begins anew", func(t *testing.T) {
		w := newWatch()
		look(w, 0, rollout.Progressing)
		assert.Zero(t, w.observe("one", "r3 now", after(time.Minute), rollout.Progressing, rollout.Observed{}))
	})
	t.Run("a lost seed counts while others answer", func(t *testing.T) {
		w := newWatch()
		look(w, 0, rollout.Hidden)
		w.observe("two", "r1 now", after(time.Minute), rollout.Healthy, rollout.Observed{})
		assert.Equal(t, time.Minute, look(w, time.Minute, rollout.Hidden).Hidden)
	})
	t.Run("a lost seed counts through short returns", func(t *testing.T) {
		w := newWatch()
		look(w, 0, rollout.Hidden)
		w.observe("two", "r1 now", start, rollout.Healthy, rollout.Observed{})
		look(w, 2*time.Minute, rollout.Healthy)
		look(w, 3*time.Minute, rollout.Hidden)
		assert.Equal(t, 150*time.Second, look(w, 4*time.Minute, rollout.Hidden).Hidden)
	})
	t.Run("no seed counts while none answers, since the operator may be cut off", func(t *testing.T) {
		w := newWatch()
		look(w, 0, rollout.Healthy)
		for minutes := range 30 {
			look(w, time.Duration(minutes)*time.Minute, rollout.Hidden)
		}
		assert.LessOrEqual(t, look(w, 30*time.Minute, rollout.Hidden).Hidden, longestInterval)
	})
}

func TestHealthOfAPass(t *testing.T) {
	now := at("11:00:00")
	progressing := func(*installationv1alpha1.ControllerInstallationStatus) {}
	healthy := func(s *installationv1alpha1.ControllerInstallationStatus) { s.HealthySince = &now }
	unhealthy := func(s *installationv1alpha1.ControllerInstallationStatus) { s.UnhealthySince = &now }
	other := func(s *installationv1alpha1.ControllerInstallationStatus) { s.Revision, s.HealthySince = "r1", &now }
	for sentence, tt := range map[string]struct {
		status func(*installationv1alpha1.ControllerInstallationStatus)
		err    error
		want   rollout.Health
	}{
		"it was not healthy yet":                        {progressing, nil, rollout.Progressing},
		"it is healthy":                                 {healthy, nil, rollout.Healthy},
		"it is not healthy any more":                    {unhealthy, nil, rollout.Unhealthy},
		"it is healthy with another revision":           {other, nil, rollout.Progressing},
		"it was healthy, and its seed is unreachable":   {healthy, &seeds.Unreachable{}, rollout.Hidden},
		"it was not, and its seed is unreachable":       {progressing, &seeds.Unreachable{}, rollout.Hidden},
		"it was healthy, and its seed answers errors":   {healthy, ofSeed(errors.New("etcd")), rollout.Hidden},
		"it was not healthy, and its seed answers them": {progressing, ofSeed(errors.New("etcd")), rollout.Hidden},
		"what it is to have cannot be rendered":         {other, problem.New(problem.ValuesInvalid, "no number"), rollout.Progressing},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := newPass(newInstallation(), operatorOfGarden, clockAt(noon))
			p.assignment, p.status.Revision = &assignment{revision: "r2"}, "r2"
			tt.status(p.status)
			isLook, health := p.health(tt.err)
			assert.True(t, isLook)
			assert.Equal(t, tt.want, health)
		})
	}
	p := newPass(newInstallation(), operatorOfGarden, clockAt(noon))
	p.assignment = &assignment{revision: "r2"}
	for sentence, err := range map[string]error{
		"the garden does not answer":          errors.New("etcd"),
		"there is no Seed":                    problem.New(problem.SeedNotFound, "there is none"),
		"nobody has given access to its seed": &seeds.Unreachable{NoAccess: true},
	} {
		isLook, _ := p.health(err)
		assert.False(t, isLook, sentence)
	}
}

// What was observed is kept where it matters, and nothing is written for it otherwise.
func TestWhatIsObservedIsKept(t *testing.T) {
	s, w := servedWith(t, nil)
	r := &installations{watch: w}
	look := func(began string, isOnTrial bool, healthy bool) *installationv1alpha1.GateObservation {
		p := newPass(s.installation, "", clockAt("2026-01-01T"+began+"Z"))
		p.assignment = &assignment{revision: "r2", isOnTrial: isOnTrial}
		if healthy {
			p.observed(&workload.Observation{Exists: true, Revision: "r2"})
		}
		r.observe(p, nil)
		var err error
		s.installation.Status.ProviderStatus, err = installationv1alpha1.Encode(p.status)
		require.NoError(t, err)
		return p.status.Gate
	}
	first := look("12:00:00", true, false)
	assert.Equal(t, "r2 2026-01-01T11:00:00Z 2026-01-01T11:00:00Z", first.Assignment)
	assert.Equal(t, first, look("12:00:30", true, false), "not each look is written")
	assert.Equal(t, 90*time.Second, look("12:01:30", true, false).Progressing.Duration)
	assert.Equal(t, 90*time.Second, look("12:03:00", false, false).Progressing.Duration, "nobody is judged by it")
	assert.Equal(t, 4*time.Minute, look("12:04:00", false, true).Progressing.Duration, "with whatever else is written")

	again := newServed(s.installation, s.seed, newWatch()).forRollout()
	assert.Equal(t, 4*time.Minute, again.Observed.Progressing, "another process goes on from there")
	assert.True(t, again.Healthy)
	s.installation.Annotations[installationv1alpha1.AnnotationRevisionTrial] = "2026-01-01T12:05:00Z"
	assert.Zero(t, newServed(s.installation, s.seed, w).forRollout().Observed, "another attempt is another assignment")
}

// A seed that a candidate has cut off, as the operator sees it: one look after the other, with a restart in between.
func TestACandidateThatCutsASeedOff(t *testing.T) {
	one, w := servedWith(t, func(s *installationv1alpha1.ControllerInstallationStatus) {
		since := at("11:40:00")
		s.HealthySince, s.Phase = &since, installationv1alpha1.PhaseHealthy
	})
	assignment := assignmentOf(one.installation.Annotations)
	decide := func(w *watch, now string) rollout.Decision {
		config := installationv1alpha1.NewControllerDeploymentConfig()
		installationv1alpha1.Default(config)
		config.Rollout.MaxFailures = new(intstr.FromInt32(0))
		infos := known()
		return rollout.Decide(situationOf(at(now).Time, config, &infos[0], infos, []served{newServed(one.installation, one.seed, w)}))
	}
	w.observe(one.installation.Name, assignment, at("11:50:00").Time, rollout.Healthy, rollout.Observed{})
	lose := func(w *watch, from string, minutes int, kept rollout.Observed) (observed rollout.Observed) {
		for minute := range minutes + 1 {
			began := at(from).Add(time.Duration(minute) * time.Minute)
			w.observe("another", "r1 now", began, rollout.Healthy, rollout.Observed{})
			observed = w.observe(one.installation.Name, assignment, began, rollout.Hidden, kept)
			w.lost(one.installation.Name, began)
		}
		return observed
	}
	kept := lose(w, "11:51:00", 8, rollout.Observed{})
	d := decide(w, "11:59:00")
	assert.False(t, d.Good || d.Bad, "its time is not up")
	assert.Equal(t, "wave rest: 0 of 1 installation has revision r2, no seed of it can be reached", d.Progress.Message, "what was seen before is not news")

	another := newWatch()
	lose(another, "13:00:00", 2, kept)
	d = decide(another, "13:02:00")
	assert.True(t, d.Bad)
	assert.Equal(t, "wave rest: seed "+one.installation.Spec.SeedRef.Name+" cannot be reached any more since it got revision r2, for 10m0s", d.Reason)
	assert.Equal(t, map[string]string{one.installation.Name: "r1"}, d.Assign)
}

func TestRollouts_TellEmptyWavesOnce(t *testing.T) {
	recorder := events.NewFakeRecorder(3)
	r := &rollouts{board: newBoard(), events: recorder}
	deployment := &gardencorev1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: "trellis"}}
	for _, empty := range [][]string{nil, {"canary"}, {"canary"}, nil, {"canary", "early"}} {
		n := notice{empty: empty}
		r.tellEmpty(deployment, n)
		r.board.put(deployment.Name, n)
	}
	close(recorder.Events)
	var told []string
	for event := range recorder.Events {
		told = append(told, event)
	}
	require.Len(t, told, 2)
	assert.Contains(t, told[0], "Warning WaveEmpty No seed that has an installation belongs to these waves of the rollout, so nothing is proven there: canary;")
	assert.Contains(t, told[1], "canary, early;")
}

func TestSeedsThatVanishWhileTheyFail(t *testing.T) {
	s, _ := servedWith(t, nil)
	infos := known()
	assert.Empty(t, vanishing(&infos[0], []served{s}), "it stays")
	s.installation.DeletionTimestamp = &metav1.Time{Time: at("11:59:00").Time}
	assert.Equal(t, []string{"seed"}, vanishing(&infos[0], []served{s}))
	assert.Empty(t, vanishing(&infos[1], []served{s}), "it does not have that revision")
	s.status.HealthySince = &metav1.Time{Time: at("11:50:00").Time}
	assert.Empty(t, vanishing(&infos[0], []served{s}), "it was healthy with it")
	s.status.HealthySince = nil
	for _, before := range []rollout.Before{rollout.WasUnhealthy, rollout.WasRefused, rollout.WasAway} {
		s.installation.Annotations[installationv1alpha1.AnnotationRevisionBefore] = string(before)
		assert.Empty(t, vanishing(&infos[0], []served{s}), "it proves nothing")
	}

	remark := remarkOn("", []string{"a"})
	assert.Equal(t, "seed a was not healthy with it when its installation was deleted", remark)
	assert.Empty(t, remarkOn(remark, []string{"a"}), "it is said once")
	infos[0].Remark = remark
	note := noteOf(situation(s), rollout.Decision{Progress: rollout.Progress{Empty: []string{"canary"}}}, &infos[0])
	assert.Equal(t, "No seed that has an installation belongs to these waves of the rollout, so nothing is proven there: canary; see their seedSelector. "+
		"Revision r2: seed a was not healthy with it when its installation was deleted.", note)
}
