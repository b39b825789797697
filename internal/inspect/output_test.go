package inspect

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/golden"
)

func testNow() time.Time { return time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC) }

func before(d time.Duration) time.Time { return testNow().Add(-d) }

func succeeded(kind string) Object {
	return Object{
		Kind: kind, Name: "first", Type: "example", State: StateHealthy,
		LastOperation: &Operation{Type: "Reconcile", State: "Succeeded", Progress: 100, Description: "Successfully reconciled", At: before(12 * time.Minute)},
	}
}

// healthyReport is of a shoot in which nothing is wrong.
func healthyReport() Report {
	infrastructure, controlPlane := succeeded("Infrastructure"), succeeded("ControlPlane")
	infrastructure.Resources = []Resource{
		{Kind: "external network", Name: "public", ID: "5a1d", Origin: OriginShared, Children: []Resource{
			{Kind: "router", ID: "77c2", Detail: "203.0.113.9", Origin: OriginTrellis, Children: []Resource{
				{Kind: "network", Name: "shoot--dev--first", ID: "90ee", Origin: OriginUser},
			}},
		}},
		{Kind: "key pair", ID: "shoot--dev--first", Origin: OriginAdopted},
	}
	controlPlane.Conditions = []Condition{{Type: "ControlPlaneHealthy", Status: "True", Since: before(48 * time.Hour)}}
	controlPlane.ManagedResources = &ManagedResources{Total: 3}
	return Report{Namespace: "shoot--dev--first", At: testNow(), State: StateHealthy, Objects: []Object{infrastructure, controlPlane}}
}

// unhealthyReport has one of each problem.
func unhealthyReport() Report {
	report := healthyReport()
	report.State = StateUnhealthy
	infrastructure := &report.Objects[0]
	infrastructure.State = StateProgressing
	infrastructure.LastOperation = &Operation{
		Type: "Create", State: "Processing", Progress: 40, Description: "waiting: router 77c2 has no external address yet", At: before(4 * time.Second),
	}
	infrastructure.Resources[0].Children[0].Note = "the result of a creation is unknown since 2026-11-28T02:59:00Z"
	infrastructure.Resources = append(infrastructure.Resources, Resource{Kind: "security group", Origin: OriginUnknown, Note: `the creation of "a" was about to begin`})
	network, worker := succeeded("Network"), succeeded("Worker")
	network.State, network.LastOperation = StateUnhealthy, nil
	network.Request = &Request{
		Operation: "reconcile", At: new(before(3 * time.Minute)), Unserved: true,
		Message: "no controller has picked it up; check that one for Network of type example is installed and running",
	}
	network.ManagedResources = &ManagedResources{Total: 2, Problems: []ManagedResourceProblem{{
		Name: "extension-networking-example-config", State: StateUnhealthy, Problem: "is not applied", Message: `field "a<b>" & others are unknown`,
		Since: new(before(time.Hour)),
	}}}
	worker.State, worker.DeletedAt = StateUnhealthy, new(before(10*time.Minute))
	worker.LastOperation = &Operation{Type: "Delete", State: "Error", Progress: 20, At: before(time.Minute)}
	worker.LastError = &Error{
		Description: strings.Repeat("machine a: the quota of cores is exceeded; ", 8), Codes: []string{"ERR_INFRA_QUOTA_EXCEEDED"}, At: new(before(time.Minute)),
	}
	worker.Conditions = []Condition{
		{Type: "EveryNodeReady", Status: "False", Reason: "HealthCheckUnsuccessful", Message: "1 of 2 nodes is ready.", Codes: []string{"ERR_X"}, Since: before(time.Hour)},
		{Type: "CostsKnown", Status: "Progressing", Reason: "Observing"},
		{Type: "DriftFree", Status: "True", Since: before(time.Hour)},
	}
	worker.MachineDeployments = []MachineDeployment{
		{Name: "shoot--dev--first-cpu-z1", Wanted: 2, Exist: 2, Ready: 1, Updated: 2}, {Name: "shoot--dev--first-cpu-z2", Wanted: 1, Exist: 1, Ready: 1, Updated: 1},
	}
	worker.FailedMachines = []Machine{
		{
			Name: "shoot--dev--first-cpu-z1-abc", Deployment: "shoot--dev--first-cpu-z1", Phase: "Pending", Operation: "Create", Code: "ResourceExhausted",
			Message: "the quota of cores is exceeded", At: before(2 * time.Minute),
		},
		{Name: "shoot--dev--first-cpu-z1-def", Message: "node is gone"},
	}
	worker.ResourcesError = "reading status.state: unexpected end"
	report.Objects = append(report.Objects, network, worker)
	report.Unread = []string{"listing machines: forbidden"}
	return report
}

func reports() map[string]Report {
	return map[string]Report{
		"healthy": healthyReport(), "unhealthy": unhealthyReport(), "without-objects": {Namespace: "shoot--dev--first", At: testNow(), State: StateHealthy, Objects: []Object{}},
	}
}

func TestText(t *testing.T) {
	for name, report := range reports() {
		golden.Check(t, filepath.Join("testdata", name+".txt"), Text(report))
	}
}

func TestJSON(t *testing.T) {
	for name, report := range reports() {
		got, err := JSON(report)
		require.NoError(t, err)
		golden.Check(t, filepath.Join("testdata", name+".json"), got)
		var decoded Report
		require.NoError(t, json.Unmarshal([]byte(got), &decoded))
		assert.Empty(t, cmp.Diff(report, decoded))
	}
}

func TestSVG(t *testing.T) {
	for name, report := range reports() {
		got := SVG(report)
		golden.Check(t, filepath.Join("testdata", name+".svg"), got)
		decoder := xml.NewDecoder(strings.NewReader(got))
		for {
			_, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
		}
	}
}

func TestBreakAt(t *testing.T) {
	for sentence, test := range map[string]struct{ content, head, rest string }{
		"short":                 {"short", "short", ""},
		"breaks at a space":     {"some long text", "some long", "text"},
		"breaks a long word":    {"abcdefghijklmn", "abcdefghij", "klmn"},
		"counts characters":     {"äöüäöüäöüä", "äöüäöüäöüä", ""},
		"breaks between others": {"äöüäö üäöüäöü", "äöüäö", "üäöüäöü"},
	} {
		t.Run(sentence, func(t *testing.T) {
			head, rest := breakAt(test.content, 10)
			assert.Equal(t, test.head, head)
			assert.Equal(t, test.rest, rest)
		})
	}
}

func TestStateOf(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*Object)
		want   State
	}{
		"succeeded":                       {func(*Object) {}, StateHealthy},
		"no operation yet":                {func(o *Object) { o.LastOperation = nil }, StateProgressing},
		"processing":                      {func(o *Object) { o.LastOperation.State = "Processing" }, StateProgressing},
		"failed":                          {func(o *Object) { o.LastOperation.State = "Failed" }, StateUnhealthy},
		"an error":                        {func(o *Object) { o.LastError = &Error{} }, StateUnhealthy},
		"a new request":                   {func(o *Object) { o.Request = &Request{} }, StateProgressing},
		"a request that nobody serves":    {func(o *Object) { o.Request = &Request{Unserved: true} }, StateUnhealthy},
		"a condition that is progressing": {func(o *Object) { o.Conditions = []Condition{{Status: "Progressing"}} }, StateProgressing},
		"an unknown condition":            {func(o *Object) { o.Conditions = []Condition{{Status: "True"}, {Status: "Unknown"}} }, StateUnhealthy},
		"a ManagedResource with problems": {
			func(o *Object) {
				o.ManagedResources = &ManagedResources{Problems: []ManagedResourceProblem{{State: StateUnhealthy}}}
			}, StateUnhealthy,
		},
		"machines that are missing": {func(o *Object) { o.MachineDeployments = []MachineDeployment{{Wanted: 1}} }, StateProgressing},
		"machines that fail":        {func(o *Object) { o.FailedMachines = []Machine{{}} }, StateUnhealthy},
		"a state that is no JSON":   {func(o *Object) { o.ResourcesError = "x" }, StateUnhealthy},
	} {
		t.Run(sentence, func(t *testing.T) {
			object := succeeded("Worker")
			test.change(&object)
			assert.Equal(t, test.want, stateOf(object))
		})
	}
}
