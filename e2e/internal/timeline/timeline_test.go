package timeline

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write golden files")

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

var (
	shootOne     = Object{Cluster: "garden", Kind: KindShoot, Namespace: "garden-dev", Name: "one"}
	controlPlane = Object{Cluster: "seed", Kind: "ControlPlane", Namespace: "shoot--dev--one", Name: "one"}
	worker       = Object{Cluster: "seed", Kind: "Worker", Namespace: "shoot--dev--one", Name: "one"}
	deployment   = Object{Cluster: "seed", Kind: KindMachineDeployment, Namespace: "shoot--dev--one", Name: "shoot--dev--one-w1-z1"}
	dns          = Object{Cluster: "seed", Kind: "DNSRecord", Namespace: "shoot--dev--one", Name: "one-internal"}
)

// history is a creation, and a scale-out that failed once.
func history() []Sample {
	return []Sample{
		{after(0), shootOne, Processing, "Create", "Initializing secrets management"},
		{after(2), dns, Processing, "Create", "creating a record"},
		{after(3), dns, Settled, "Create", "created"},
		{after(5), shootOne, Processing, "Create", "Deploying vpn-seed-server, Waiting until shoot control plane has been reconciled"},
		{after(5), controlPlane, Processing, "Create", "deploying components"},
		{after(7), controlPlane, Processing, "Create", "waiting for <CSI>"},
		{after(9), controlPlane, Settled, "Create", "Create succeeded"},
		{after(10), shootOne, Processing, "Create", "Waiting until worker pools have been reconciled"},
		{after(10), worker, Processing, "Create", "waiting for machines"},
		{after(10), deployment, Processing, "", "0 of 1 machines ready, 1 updated"},
		{after(18), deployment, Settled, "", "1 of 1 machines ready, 1 updated"},
		{after(20), worker, Settled, "Create", "Create succeeded"},
		{after(21), shootOne, Settled, "Create", "succeeded"},
		{after(30), shootOne, Requested, "Create", "succeeded"},
		{after(31), shootOne, Processing, "Reconcile", "Waiting until worker pools have been reconciled"},
		{after(31), worker, Requested, "Create", "Create succeeded"},
		{after(32), worker, Failing, "Reconcile", "quota exceeded"},
	}
}

func isOurs(span Span) bool { return span.Kind == "ControlPlane" || span.Kind == "Worker" }

func TestSpans(t *testing.T) {
	spans := Spans(history(), after(40))
	var got []string
	for _, span := range spans {
		got = append(got, span.Kind+" "+span.Operation+" "+string(span.State)+" "+seconds(span.From.Sub(start))+" to "+seconds(span.To.Sub(start)))
	}
	assert.Equal(t, []string{
		"Shoot Create Processing 0.0 s to 21 s",
		"DNSRecord Create Processing 2.0 s to 3.0 s",
		"ControlPlane Create Processing 5.0 s to 9.0 s",
		"MachineDeployment  Processing 10 s to 18 s",
		"Worker Create Processing 10 s to 20 s",
		"Shoot Create Requested 30 s to 31 s",
		"Shoot Reconcile Processing 31 s to 40 s",
		"Worker Create Requested 31 s to 32 s",
		"Worker Reconcile Failing 32 s to 40 s",
	}, got)
	assert.Equal(t, []string{"deploying components", "waiting for <CSI>"}, spans[2].Descriptions)
	assert.Empty(t, Spans(nil, after(1)))
}

func TestBusy(t *testing.T) {
	spans := []Span{
		{Object: worker, From: after(0), To: after(10)},
		{Object: controlPlane, From: after(2), To: after(4)}, // inside
		{Object: controlPlane, From: after(8), To: after(12)},
		{Object: worker, From: after(20), To: after(30)},
		{Object: dns, From: after(12), To: after(20)}, // not ours
	}
	assert.Equal(t, 22*time.Second, Busy(spans, after(0), after(40), isOurs), "what overlaps counts once")
	assert.Equal(t, 7*time.Second, Busy(spans, after(5), after(18), isOurs))
	assert.Zero(t, Busy(spans, after(13), after(19), isOurs))
}

func TestWaits(t *testing.T) {
	waits := Waits(history(), after(40))
	require.Len(t, waits, 3)
	assert.Equal(t, "shoot control plane has been reconciled", waits[0].Name)
	assert.Equal(t, 5*time.Second, waits[0].To.Sub(waits[0].From))
	assert.Equal(t, "one", waits[0].Namespace)
	name, lasted := LongestWait(waits, "one", after(0), after(40))
	assert.Equal(t, "worker pools have been reconciled", name)
	assert.Equal(t, 20*time.Second, lasted, "both times together")
	name, lasted = LongestWait(waits, "one", after(22), after(29))
	assert.Empty(t, name)
	assert.Zero(t, lasted)
	name, _ = LongestWait(waits, "two", after(0), after(40))
	assert.Empty(t, name, "another Shoot does not wait")
}

func TestNewSample(t *testing.T) {
	for sentence, test := range map[string]struct {
		object      string
		state       State
		description string
	}{
		"an object without a status is processed":     {"kind: Worker", Processing, ""},
		"a success is settled":                        {"kind: Worker\nstatus: {lastOperation: {state: Succeeded, description: all is well}}", Settled, "all is well"},
		"an operation annotation is a request":        {"kind: Worker\nmetadata: {annotations: {gardener.cloud/operation: reconcile}}\nstatus: {lastOperation: {state: Succeeded}}", Requested, ""},
		"a request while it is processed is no other": {"kind: Worker\nmetadata: {annotations: {gardener.cloud/operation: reconcile}}\nstatus: {lastOperation: {state: Processing}}", Processing, ""},
		"an error is retried":                         {"kind: Worker\nstatus: {lastOperation: {state: Error, description: \"no\\nroom\"}}", Failing, "no room"},
		"a deletion is processed":                     {"kind: Worker\nmetadata: {deletionTimestamp: \"2026-01-02T03:04:05Z\"}\nstatus: {lastOperation: {state: Succeeded}}", Processing, ""},
		"machines that are missing":                   {"kind: MachineDeployment\nspec: {replicas: 3}\nstatus: {replicas: 3, readyReplicas: 1, updatedReplicas: 3}", Processing, "1 of 3 machines ready, 3 updated"},
		"machines that are all there":                 {"kind: MachineDeployment\nspec: {replicas: 1}\nstatus: {replicas: 1, readyReplicas: 1, updatedReplicas: 1}", Settled, "1 of 1 machines ready, 1 updated"},
		"a machine without a phase":                   {"kind: Machine", Processing, ""},
		"a machine that has failed":                   {"kind: Machine\nstatus: {currentStatus: {phase: Failed}}", Failing, "Failed"},
		"a ManagedResource without conditions":        {"kind: ManagedResource", Processing, ""},
		"a ManagedResource that is applied and healthy": {
			"kind: ManagedResource\nstatus: {conditions: [{type: ResourcesApplied, status: \"True\"}, {type: ResourcesProgressing, status: \"False\"}]}", Settled, "",
		},
		"a ManagedResource that is rolled out": {
			"kind: ManagedResource\nstatus: {conditions: [{type: ResourcesApplied, status: \"True\"}, {type: ResourcesProgressing, status: \"True\", message: 1 of 2}]}", Processing, "ResourcesProgressing True: 1 of 2",
		},
		"an installation that nobody requires": {
			"kind: ControllerInstallation\nstatus: {conditions: [{type: Required, status: \"False\"}, {type: Installed, status: \"True\"}]}", Settled, "",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			require.NoError(t, yaml.Unmarshal([]byte(test.object), &object.Object))
			for _, field := range [][]string{{"spec", "replicas"}, {"status", "replicas"}, {"status", "readyReplicas"}, {"status", "updatedReplicas"}} {
				if number, found, _ := unstructured.NestedFloat64(object.Object, field...); found { // as an API server's answer is decoded
					require.NoError(t, unstructured.SetNestedField(object.Object, int64(number), field...))
				}
			}
			sample := newSample("seed", object, start)
			assert.Equal(t, test.state, sample.State)
			assert.Equal(t, test.description, sample.Description)
		})
	}
}

func TestRecorder_SkipsWhatDoesNotChange(t *testing.T) {
	var out bytes.Buffer
	r := NewRecorder(t.Context(), &out)
	for _, sample := range history()[:2] {
		r.add(sample)
		sample.Time = sample.Time.Add(time.Second)
		r.add(sample)
	}
	assert.Equal(t, history()[:2], r.Samples())
	assert.Equal(t, 2, bytes.Count(out.Bytes(), []byte("\n")))
	require.NoError(t, r.Stop())
}

func picture() Picture {
	samples := history()
	return Picture{
		Title:  "One Shoot's life",
		Steps:  []Step{{Name: "create", From: after(0), To: after(22)}, {Name: "scale-out", From: after(22), To: after(40), Failed: true}},
		Spans:  append(Spans(samples, after(40)), Waits(samples, after(40))...),
		IsOurs: isOurs,
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestPicture_SVG(t *testing.T) {
	svg, err := picture().SVG()
	require.NoError(t, err)
	golden(t, "timeline.svg", svg)
	_, err = Picture{Title: "empty"}.SVG()
	require.ErrorContains(t, err, "no steps")
}

func TestPage(t *testing.T) {
	golden(t, "timeline.html", Page("One Shoot's life", []Table{{Title: "Steps", Rows: [][]string{{"step", "time"}, {"create <one>", "22 s\nand more"}}}}, "<svg/>\n"))
}

func TestTable_Lines(t *testing.T) {
	assert.Equal(t, []string{"step    time", "create  22 s; and more", "été"}, Table{Rows: [][]string{{"step", "time"}, {"create", "22 s\nand more"}, {"été"}}}.Lines())
}

func TestTable_Lines_OfAWideColumn(t *testing.T) {
	long := strings.Repeat("x", 81)
	assert.Equal(t, []string{"- name - reason", "- " + long + " - none"}, Table{Rows: [][]string{{"name", "reason"}, {long, "none"}}}.Lines())
}

func TestTickInterval(t *testing.T) {
	assert.Equal(t, 5*time.Second, tickInterval(40*time.Second))
	assert.Equal(t, 2*time.Minute, tickInterval(20*time.Minute))
	assert.Equal(t, 10*time.Minute, tickInterval(100*time.Minute))
}
