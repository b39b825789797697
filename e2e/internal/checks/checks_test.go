package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestUnexpected(t *testing.T) {
	expected := []Expected{{Text: "connection refused", Reason: "the API server is rolled"}}
	assert.Equal(t, []string{"nil pointer"}, Unexpected([]string{"dial: connection refused", "nil pointer"}, expected))
	assert.Empty(t, Unexpected(nil, expected))
}

func TestConditions(t *testing.T) {
	shoot := &gardencorev1beta1.Shoot{}
	assert.Len(t, Conditions(shoot), 5, "all are missing")
	for _, about := range requiredConditions() {
		shoot.Status.Conditions = append(shoot.Status.Conditions, gardencorev1beta1.Condition{Type: about, Status: gardencorev1beta1.ConditionTrue})
	}
	assert.Empty(t, Conditions(shoot))
	shoot.Status.Conditions[3] = gardencorev1beta1.Condition{
		Type: gardencorev1beta1.ShootEveryNodeReady, Status: gardencorev1beta1.ConditionProgressing, Reason: "NodesScalingUp", Message: "1 of 3\nnodes",
	}
	assert.Equal(t, []string{"condition EveryNodeReady is Progressing (NodesScalingUp): 1 of 3 nodes"}, Conditions(shoot))
}

func TestIsError(t *testing.T) {
	for line, want := range map[string]bool{
		`{"level":"error","ts":"2026-01-02T03:04:05Z","msg":"Reconciler error"}`: true,
		`{"level":"info","msg":"an \"level\":\"error\" was found"}`:              false,
		`{"level":"error`: false,
		`E0102 03:04:05.000000       1 machine.go:1] failed`:                        true,
		`F0102 03:04:05.000000       1 main.go:1] failed`:                           true,
		`I0102 03:04:05.000000       1 machine.go:1] E0102 03:04:05 is quoted here`: false,
		`panic: runtime error: index out of range`:                                  true,
		`Everything is fine`: false,
	} {
		assert.Equal(t, want, isError(line), line)
	}
}

func TestLogs_ReadsEachLineOnce(t *testing.T) {
	dir := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(dir, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = file.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	logs := &Logs{Dir: dir, IsOurs: func(namespace, _, _ string) bool { return namespace == "extension-worker" }}
	line := func(second int, message string) string {
		return fmt.Sprintf(`{"level":"error","ts":"2026-01-02T03:04:%02dZ","msg":%q}`+"\n", second, message)
	}
	write("extension-worker/worker-1/worker-controller.log", line(1, "a")+line(2, "a")+line(3, "b")+`{"level":"err`)
	write("garden/other-1/other.log", line(1, "other"))

	found, err := logs.Errors()
	require.NoError(t, err)
	require.Len(t, found, 2, "the second differs in its time only")
	assert.Contains(t, found[0], `extension-worker/worker-controller: {"level":"error","ts":"2026-01-02T03:04:01Z","msg":"a"}`)

	write("extension-worker/worker-1/worker-controller.log", `or","msg":"late"}`+"\n")
	found, err = logs.Errors()
	require.NoError(t, err)
	assert.Equal(t, []string{`extension-worker/worker-controller: {"level":"error","msg":"late"}`}, found)
	found, err = (&Logs{Dir: filepath.Join(dir, "none")}).Errors()
	require.NoError(t, err)
	assert.Empty(t, found)
}

func facts() Facts {
	installation := gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "worker-abcde"}}
	installation.Spec.RegistrationRef.Name = "worker"
	installation.Spec.SeedRef = &corev1.ObjectReference{Name: "seed-one"}
	for _, about := range []gardencorev1beta1.ConditionType{"Valid", "Installed", "Healthy"} {
		installation.Status.Conditions = append(installation.Status.Conditions, gardencorev1beta1.Condition{Type: about, Status: gardencorev1beta1.ConditionTrue})
	}
	deployment := appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "extension-worker-abcde", Name: "worker-controller"}}
	deployment.Spec.Replicas, deployment.Status.AvailableReplicas = new(int32(1)), 1
	return Facts{
		Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seed: "seed-one", Registrations: []Registration{{Name: "worker", Kinds: []string{"Worker"}}},
		Installations: []gardencorev1beta1.ControllerInstallation{installation}, Deployments: []appsv1.Deployment{deployment},
	}
}

func TestMissing(t *testing.T) {
	const begin = `the controller of registration "worker" is missing in seed seed-one: `
	for sentence, test := range map[string]struct {
		change func(*Facts)
		want   string
	}{
		"a controller that is there": {func(*Facts) {}, ""},
		"an object that has just been requested": {func(f *Facts) {
			f.Objects = []ExtensionObject{{Kind: "Worker", Namespace: "shoot--dev--one", Name: "one", WaitsSince: f.Now.Add(-time.Second)}}
		}, ""},
		"an object that nobody acts for": {func(f *Facts) {
			f.Objects = []ExtensionObject{{Kind: "Worker", Namespace: "shoot--dev--one", Name: "one", WaitsSince: f.Now.Add(-2 * time.Minute)}}
		}, begin + "it is installed, and Worker shoot--dev--one/one has waited for it for 2m0s"},
		"an object of another controller that nobody acts for": {func(f *Facts) {
			f.Objects = []ExtensionObject{{Kind: "Network", WaitsSince: f.Now.Add(-2 * time.Minute)}}
		}, ""},
		"an installation for another seed only": {func(f *Facts) { f.Installations[0].Spec.SeedRef.Name = "seed-two" }, begin + "there is no ControllerInstallation"},
		"an installation that failed": {func(f *Facts) {
			f.Installations[0].Status.Conditions[1] = gardencorev1beta1.Condition{Type: "Installed", Status: "False", Message: "no such\nchart"}
		}, begin + "ControllerInstallation worker-abcde: Installed is False: no such chart"},
		"an installation that gardenlet has not seen": {func(f *Facts) {
			f.Installations[0].Status.Conditions = f.Installations[0].Status.Conditions[:2]
		}, begin + "ControllerInstallation worker-abcde: Healthy is not known yet"},
		"a Deployment without replicas": {func(f *Facts) {
			f.Deployments[0].Spec.Replicas, f.Deployments[0].Status.AvailableReplicas = new(int32(0)), 0
		}, begin + "Deployment extension-worker-abcde/worker-controller has 0 of 0 replicas"},
		"a Deployment whose pods do not start": {func(f *Facts) { f.Deployments[0].Status.AvailableReplicas = 0 }, begin + "Deployment extension-worker-abcde/worker-controller has 0 of 1 replicas"},
		"no Deployment":                        {func(f *Facts) { f.Deployments = nil }, begin + "namespace extension-worker-abcde has no Deployment"},
	} {
		t.Run(sentence, func(t *testing.T) {
			f := facts()
			test.change(&f)
			if test.want == "" {
				assert.Empty(t, Missing(f))
				return
			}
			assert.Equal(t, []string{test.want}, Missing(f))
		})
	}
}

func TestErrors(t *testing.T) {
	assert.Equal(t, []string{"Worker shoot--dev--one/one: no room"}, Errors([]ExtensionObject{
		{Kind: "Network"}, {Kind: "Worker", Namespace: "shoot--dev--one", Name: "one", Error: "no\nroom"},
	}))
}

func TestNames(t *testing.T) {
	words := []string{"shoot--dev--one", "4711"}
	for sentence, test := range map[string]struct {
		object metav1.ObjectMeta
		want   bool
	}{
		"a name":                             {metav1.ObjectMeta{Name: "shoot--dev--one"}, true},
		"a part of a name":                   {metav1.ObjectMeta{Name: "extension:shoot--dev--one:reader"}, true},
		"a name with a suffix of Gardener":   {metav1.ObjectMeta{Name: "shoot--dev--one--cert"}, true},
		"a namespace":                        {metav1.ObjectMeta{Namespace: "shoot--dev--one", Name: "a"}, true},
		"a label":                            {metav1.ObjectMeta{Name: "a", Labels: map[string]string{"shoot": "shoot--dev--one"}}, true},
		"an owner":                           {metav1.ObjectMeta{Name: "a", OwnerReferences: []metav1.OwnerReference{{UID: "4711"}}}, true},
		"another shoot whose name is longer": {metav1.ObjectMeta{Name: "shoot--dev--one-more"}, false},
		"another shoot":                      {metav1.ObjectMeta{Name: "shoot--dev--two"}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, Names(&metav1.PartialObjectMetadata{ObjectMeta: test.object}, words))
		})
	}
}

func TestIsOfShoot(t *testing.T) {
	for sentence, test := range map[string]struct {
		object metav1.ObjectMeta
		want   bool
	}{
		"its name":               {metav1.ObjectMeta{Name: "one"}, true},
		"its name with a suffix": {metav1.ObjectMeta{Name: "one.kubeconfig"}, true},
		"a label":                {metav1.ObjectMeta{Name: "a", Labels: map[string]string{"shoot.gardener.cloud/name": "one"}}, true},
		"an owner":               {metav1.ObjectMeta{Name: "a", OwnerReferences: []metav1.OwnerReference{{Kind: "Shoot", Name: "one"}}}, true},
		"the user's credentials": {metav1.ObjectMeta{Name: "openstack-one"}, false},
		"another owner":          {metav1.ObjectMeta{Name: "a", OwnerReferences: []metav1.OwnerReference{{Kind: "Secret", Name: "one"}}}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, IsOfShoot(&metav1.PartialObjectMetadata{ObjectMeta: test.object}, "one"))
		})
	}
}
