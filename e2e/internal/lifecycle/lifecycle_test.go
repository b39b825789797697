package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/checks"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/standin"
	"github.com/trellis-garden/trellis/e2e/internal/timeline"
)

var update = flag.Bool("update", false, "write golden files")

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

func TestSelect(t *testing.T) {
	all, err := Select(nil)
	require.NoError(t, err)
	assert.Equal(t, "create", all[0].Name)
	assert.Equal(t, "empty", all[len(all)-1].Name)
	seen := map[string]bool{}
	for _, step := range all {
		assert.False(t, seen[step.Name], "%s is there twice", step.Name)
		seen[step.Name] = true
		assert.NotEmpty(t, step.Sentence, step.Name)
		assert.NotZero(t, step.limit, step.Name)
		assert.NotNil(t, step.do, step.Name)
		for _, expected := range step.expected {
			assert.NotEmpty(t, expected.Reason, step.Name)
		}
	}
	some, err := Select([]string{"delete", "create"})
	require.NoError(t, err)
	assert.Equal(t, "create, delete", stepNames(some), "the order is that of a life")
	_, err = Select([]string{"create", "resurrect"})
	require.ErrorContains(t, err, `there is no step "resurrect"`)
}

func TestUnsettled(t *testing.T) {
	settled := func() *gardencorev1beta1.Shoot {
		shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
		shoot.Status.ObservedGeneration = 2
		shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: "Succeeded", Progress: 100, Description: "done"}
		return shoot
	}
	for sentence, test := range map[string]struct {
		change func(*gardencorev1beta1.Shoot)
		want   string
	}{
		"a finished operation":       {func(*gardencorev1beta1.Shoot) {}, ""},
		"a new Shoot":                {func(s *gardencorev1beta1.Shoot) { s.Status.LastOperation = nil }, "gardenlet has not begun"},
		"a change that was not seen": {func(s *gardencorev1beta1.Shoot) { s.Generation = 3 }, "gardenlet has not seen the change"},
		"a request that was not seen": {func(s *gardencorev1beta1.Shoot) {
			s.Annotations = map[string]string{"gardener.cloud/operation": "retry"}
		}, "operation retry is requested"},
		"an operation under way": {func(s *gardencorev1beta1.Shoot) {
			s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: "Processing", Progress: 20, Description: "Deploying\netcd"}
		}, "Create Processing 20% Deploying etcd"},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := settled()
			test.change(shoot)
			assert.Equal(t, test.want, unsettled(shoot))
		})
	}
}

func history() []timeline.Sample {
	object := func(kind, name string) timeline.Object {
		namespace := "shoot--dev--one"
		return timeline.Object{Cluster: "seed-one", Kind: kind, Namespace: namespace, Name: name}
	}
	shoot := timeline.Object{Cluster: "garden", Kind: "Shoot", Namespace: "garden-dev", Name: "one"}
	infrastructure, worker := object("Infrastructure", "one"), object("Worker", "one")
	return []timeline.Sample{
		{Time: after(0), Object: shoot, State: timeline.Processing, Operation: "Create", Description: "Deploying Shoot infrastructure"},
		{Time: after(1), Object: infrastructure, State: timeline.Requested},
		{Time: after(2), Object: infrastructure, State: timeline.Processing, Operation: "Create"},
		{Time: after(4), Object: infrastructure, State: timeline.Settled, Operation: "Create"},
		{Time: after(5), Object: shoot, State: timeline.Processing, Operation: "Create", Description: "Waiting until worker pools have been reconciled"},
		{Time: after(5), Object: worker, State: timeline.Processing, Operation: "Create"},
		{Time: after(6), Object: object("Machine", "m1"), State: timeline.Processing},
		{Time: after(9), Object: object("Machine", "m1"), State: timeline.Settled, Description: "Running"},
		{Time: after(10), Object: worker, State: timeline.Settled, Operation: "Create"},
		{Time: after(12), Object: shoot, State: timeline.Settled, Operation: "Create"},
		{Time: after(20), Object: infrastructure, State: timeline.Requested, Operation: "Create"},
		{Time: after(21), Object: infrastructure, State: timeline.Settled, Operation: "Reconcile"},
		{Time: after(22), Object: object("Machine", "m1"), State: timeline.Processing, Description: "Terminating"},
		{Time: after(25), Object: object("Machine", "m1"), State: timeline.Gone},
		{Time: after(26), Object: infrastructure, State: timeline.Processing, Operation: "Delete"},
	}
}

func TestWorkIn(t *testing.T) {
	assert.Equal(t, openstack.Work{Created: 1, Workers: 1, MachinesCreated: 1}, workIn(history(), after(0), after(15)))
	assert.Equal(t, openstack.Work{Repeated: 1, Deleted: 1, MachinesDeleted: 1}, workIn(history(), after(15), after(30)))
	assert.Equal(t, openstack.Work{}, workIn(history(), after(13), after(19)))
}

func TestIsOursInSeedOrGarden(t *testing.T) {
	registrations := []string{"worker", "network"}
	for user, want := range map[string]bool{
		"system:serviceaccount:extension-worker-abcde:worker-controller": true,
		"system:serviceaccount:extension-workers-abcde:other":            false,
		"system:serviceaccount:extension-dns-abcde:dns":                  false,
		"system:serviceaccount:seed-seed-one:extension-network-abcde":    true,
		"system:serviceaccount:seed-seed-one:extension-dns-abcde":        false,
		"system:serviceaccount:kube-system:generic-garbage-collector":    false,
		"gardener.cloud:system:seed:seed-one":                            false,
	} {
		assert.Equal(t, want, isOursInSeedOrGarden(user, registrations), user)
	}
	assert.True(t, isOursInShoot("system:serviceaccount:kube-system:csi-driver-node"))
	assert.False(t, isOursInShoot("system:serviceaccount:kube-system:coredns"))
	assert.False(t, isOursInShoot("system:serviceaccount:default:csi-driver-node"))
}

func TestAudits_Forbidden(t *testing.T) {
	dir := t.TempDir()
	write := func(name, user string) audit.Log {
		path := filepath.Join(dir, name)
		line := `{"verb":"get","user":{"username":"` + user + `"},"objectRef":{"resource":"pods","namespace":"a","name":"b"},"responseStatus":{"code":403}}` + "\n"
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = file.WriteString(line)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		return audit.Log(path)
	}
	const ofWorker = "system:serviceaccount:extension-worker-abcde:worker-controller"
	garden, seed := write("garden.log", ofWorker), write("seed.log", ofWorker)
	a := newAudits(Landscape{GardenAudits: []audit.Log{garden}, Seeds: []Seed{{
		Audits: []audit.Log{seed}, ShootAudits: func(id string) []audit.Log { return []audit.Log{audit.Log(filepath.Join(dir, id+".log"))} },
	}}})
	write("seed.log", ofWorker)
	write("shoot--dev--one.log", "system:serviceaccount:kube-system:csi-driver-node")
	refused, err := a.forbidden([]string{"worker"}, []string{"shoot--dev--one"})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"forbidden in the seed: " + ofWorker + ": get pods a/b",
		"forbidden in the shoot: system:serviceaccount:kube-system:csi-driver-node: get pods a/b",
	}, refused, "what was there before the run does not count")
	refused, err = a.forbidden([]string{"worker"}, []string{"shoot--dev--one"})
	require.NoError(t, err)
	assert.Empty(t, refused, "each is told once")
}

func TestPodRecord(t *testing.T) {
	p := newPodRecord()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
	pod.Spec.Containers = []corev1.Container{{Name: "machine-controller-manager"}, {Name: openstack.MachineController}}
	pod.Status.PodIP = "10.0.0.1"
	running := func(at time.Time) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: openstack.MachineController, State: corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(at)},
		}}}
		p.add("seed-one", pod)
		p.add("seed-one", pod)
	}
	running(after(1))
	running(after(10))
	assert.Equal(t, place{seed: "seed-one", program: openstack.MachineController}, p.at("10.0.0.1"))
	assert.Empty(t, p.at("10.0.0.2"))
	assert.Equal(t, map[string]int{openstack.MachineController: 2}, p.started(after(0), after(20)))
	assert.Equal(t, map[string]int{openstack.MachineController: 1}, p.started(after(5), after(20)))
	assert.Empty(t, p.started(after(11), after(20)))
}

func TestNewExtensionObject(t *testing.T) {
	worker := &extensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--one", Name: "one", CreationTimestamp: metav1.NewTime(after(0))}}
	assert.Equal(t, checks.ExtensionObject{Kind: "Worker", Namespace: "shoot--dev--one", Name: "one", WaitsSince: after(0)}, newExtensionObject(worker), "it is new")
	worker.Status.LastOperation = &gardencorev1beta1.LastOperation{}
	worker.Status.LastError = &gardencorev1beta1.LastError{Description: "no room"}
	assert.Equal(t, checks.ExtensionObject{Kind: "Worker", Namespace: "shoot--dev--one", Name: "one", Error: "no room"}, newExtensionObject(worker))
	worker.Annotations = map[string]string{"gardener.cloud/operation": "reconcile", "gardener.cloud/timestamp": after(9).Format(time.RFC3339Nano)}
	assert.Equal(t, after(9), newExtensionObject(worker).WaitsSince)
}

// newTestRun returns a run whose garden has a Shoot and a seed without our controllers.
func newTestRun(t *testing.T, out io.Writer) *run {
	t.Helper()
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: projectNamespace, Name: mainShoot}}
	shoot.Spec.SeedName = new("seed-one")
	clock := start
	return &run{
		Landscape: Landscape{Registrations: []string{"worker"}, Out: out},
		garden: fake.NewClientBuilder().WithScheme(kubernetes.GardenScheme).WithObjects(shoot, &gardencorev1beta1.ControllerRegistration{
			ObjectMeta: metav1.ObjectMeta{Name: "worker"},
		}).Build(),
		seeds: []*seed{{Seed: Seed{Name: "seed-one"}, client: fake.NewClientBuilder().WithScheme(kubernetes.SeedScheme).Build()}},
		now: func() time.Time {
			clock = clock.Add(lookInterval)
			return clock
		},
	}
}

func TestAwait_NamesAMissingController(t *testing.T) {
	var out bytes.Buffer
	r := newTestRun(t, &out)
	tries := 0
	err := r.await(t.Context(), "the end", func(context.Context) (string, error) {
		tries++
		return "step " + strings.Repeat("i", tries), errors.New("not yet")
	})
	require.ErrorContains(t, err, "gave up waiting for the end")
	require.ErrorContains(t, err, `the controller of registration "worker" is missing in seed seed-one: there is no ControllerInstallation`)
	require.ErrorContains(t, err, "last: not yet")
	assert.Contains(t, out.String(), "step i\n")
}

func TestAwait_NamesAMissingRegistration(t *testing.T) {
	r := newTestRun(t, io.Discard)
	r.Registrations = append(r.Registrations, "network")
	err := r.await(t.Context(), "the end", func(context.Context) (string, error) { return "", errors.New("not yet") })
	require.ErrorContains(t, err, `the controller of registration "network" is missing: the garden has no such ControllerRegistration`)
	assert.NotContains(t, err.Error(), `the controller of registration "worker" is missing: the garden`)
}

func TestAwait_SaysWhatIsWrongAtTheEnd(t *testing.T) {
	r := newTestRun(t, io.Discard)
	r.now = time.Now
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, errors.New("it took too long"))
	defer cancel()
	err := r.await(ctx, "the end", func(context.Context) (string, error) { return "", errors.New("not yet") })
	require.ErrorContains(t, err, "waiting for the end: it took too long; last: not yet")
	require.ErrorContains(t, err, `registration "worker"`)
	require.NoError(t, r.await(t.Context(), "nothing", func(context.Context) (string, error) { return "", nil }))
}

func report() Report {
	r := Report{
		Title: "One Shoot's life", Cloud: "fake", Started: after(0), Ended: after(30),
		isOurs: func(span timeline.Span) bool { return span.Kind == "Infrastructure" || span.Kind == "Worker" },
		Steps: []StepResult{
			{Name: "create", Sentence: "a Shoot is created", Outcome: Passed, shoot: mainShoot, From: after(0), To: after(12), Checked: after(14), Calls: map[string]int{"others": 1, "infrastructure-controller": 8}},
			{Name: "upgrade", Sentence: "Kubernetes is upgraded", Outcome: NotRun, Reason: "there is one version only"},
			{Name: "delete", Sentence: "the Shoot is deleted", Outcome: Failed, shoot: mainShoot, From: after(20), To: after(30), Problems: []string{"it took longer than 10 s"}},
		},
		StandIns: []standin.StandIn{{Name: "kubelet", Reason: "no machine boots"}},
		Expected: []checks.Expected{{Text: "503", Reason: "the cloud fails"}},
		Left:     map[string][]string{"cloud": {"router r"}, "garden": {}},
	}
	r.addTimes(history())
	return r
}

func TestReport_Write(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, report().write(dir, history()))
	for _, name := range []string{reportJSON, reportText, timelinePage} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		if *update {
			require.NoError(t, os.WriteFile(filepath.Join("testdata", name), got, 0o600))
		}
		want, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), name)
	}
	svg, err := os.ReadFile(filepath.Join(dir, timelineSVG))
	require.NoError(t, err)
	assert.Contains(t, string(svg), "gardenlet waits (one): worker pools have been reconciled")
	require.NoError(t, Report{}.write(t.TempDir(), nil), "no step was run")
}

func TestReport_Err(t *testing.T) {
	require.EqualError(t, report().Err(), "step delete: it took longer than 10 s")
	require.NoError(t, Report{Steps: report().Steps[:2]}.Err(), "a step that was not run is no failure")
}
