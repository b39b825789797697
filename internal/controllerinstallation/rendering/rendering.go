// Package rendering renders a chart with values in a child process, which has limits and can be ended: a template may use unlimited time and memory,
// and Go cannot stop a goroutine. The package knows how charts are rendered. It must not know seeds or gardens: its input is bytes and values.
package rendering

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/chart"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
)

// Request is the input of a rendering.
type Request struct {
	// Archive is the chart in the format of "helm package".
	Archive []byte `json:"archive"`
	// Release is the Helm release.
	Release chart.Release `json:"release"`
	// Values are the admin's values. Templates in them refer to Resources, the data of the deployment's resources by their names. Without Resources,
	// templates in Values are not evaluated.
	Values    map[string]any `json:"values,omitempty"`
	Resources map[string]any `json:"resources,omitempty"`
	// Gardener are Gardener's values. They override all others.
	Gardener map[string]any `json:"gardener,omitempty"`
}

// Limits are the limits of a rendering. The zero value of a field is its default.
type Limits struct {
	// CPU is the processor time; default 10 seconds.
	CPU time.Duration
	// Memory is what is in use at a time, in bytes; default 256 MiB, and less where the container's limit is low.
	Memory int64
	// Wait is the elapsed time; default 60 seconds. A rendering that takes longer without having used up CPU is a fault of the machine, not of the chart.
	Wait time.Duration
	// Objects is the number of objects of a chart, Output their size in bytes as JSON, all together; default 2,000 and 8 MiB.
	Objects int
	Output  int
}

// maxElements bounds the number of YAML elements, which take far more memory decoded than as text.
const maxElements = 500_000

// render renders the request in the calling process. No problem that it returns quotes Resources, or is longer than the message of a condition may be.
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

// limitExceeded returns the problem of a chart that exceeds a limit.
func limitExceeded(format string, args ...any) *problem.Problem {
	return problem.New(problem.ChartCannotBeRendered, "rendering the chart "+fmt.Sprintf(format, args...)+
		": look for a loop, a function like repeat, or a template that includes itself, in its templates and in values")
}
