// Package rendering turns a chart and values into objects in a process of its own, which has limits and can be ended: a template may take all time and
// memory that there is, and Go cannot stop a goroutine. It knows how charts are rendered and nothing of seeds or gardens: it is given bytes and values.
package rendering

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/chart"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
)

// Request says what to render.
type Request struct {
	// Archive is the chart as "helm package" writes it.
	Archive []byte `json:"archive"`
	// Release is what it is rendered for.
	Release chart.Release `json:"release"`
	// Values are the admin's. Templates in them refer to Resources, the data by the names of the deployment's resources; there are none without.
	Values    map[string]any `json:"values,omitempty"`
	Resources map[string]any `json:"resources,omitempty"`
	// Gardener are the values of Gardener, which go over all others.
	Gardener map[string]any `json:"gardener,omitempty"`
}

// Limits bound what a rendering may take. The zero value of a field is its default.
type Limits struct {
	// CPU is the processor's time; default 10 seconds.
	CPU time.Duration
	// Memory is what is in use at a time, in bytes; default 256 MiB, and less where the container's limit is low.
	Memory int64
	// Wait is the time on the clock; default 60 seconds. What takes longer without having used up CPU is the machine's fault, not the chart's.
	Wait time.Duration
	// Objects and Output are how many objects a chart may have, and how many bytes they all may have as JSON; default 2,000 and 8 MiB.
	Objects int
	Output  int
}

// maxElements bounds what takes far more memory than its text when it is decoded.
const maxElements = 500_000

// render does the work, wherever it is called. No problem that it returns quotes Resources, or is longer than what a condition has room for.
func render(request *Request) ([]*unstructured.Unstructured, error) {
	objects, err := renderUnredacted(request)
	if found, is := problem.In(err); is {
		return nil, problem.New(found.Reason, chart.Short(redact(found.Message, request.Resources)))
	}
	return objects, err
}

func renderUnredacted(request *Request) ([]*unstructured.Unstructured, error) {
	loaded, err := chart.Load(request.Archive)
	if err != nil {
		return nil, err
	}
	values, err := workload.Substitute(request.Values, request.Resources)
	if err != nil {
		return nil, err
	}
	return loaded.Render(request.Release, workload.MergeGardenerValues(values, request.Gardener))
}

// limitExceeded is the problem of a chart that goes beyond a limit.
func limitExceeded(format string, args ...any) *problem.Problem {
	return problem.New(problem.ChartCannotBeRendered, "rendering the chart "+fmt.Sprintf(format, args...)+
		": look for a loop, a function like repeat, or a template that includes itself, in its templates and in values")
}
