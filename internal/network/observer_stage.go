package network

import (
	"fmt"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/observer"
)

// stageLimit is how long a stage of a change may take. Gardener has the same limit for the rollout of a ManagedResource.
const stageLimit = time.Hour

// checkStage reports a stage that was deployed at since, the time of the primary's last success, and is not complete yet. It returns no finding if another
// extension wrote the state.
func checkStage(recorded state, since, now time.Time) *observer.Finding {
	stage := recorded.Stage
	switch {
	case len(recorded.Form) == 0:
		return nil
	case stage == nil:
		return &observer.Finding{Healthy: true, Message: "No change of the network is in progress."}
	case now.Sub(since) < stageLimit:
		return &observer.Finding{Healthy: true, Message: fmt.Sprintf("The network is being changed: %s.", stage.Name)}
	}
	return &observer.Finding{Message: fmt.Sprintf("The change %q has not been completed for more than an hour. It waits in the shoot %s; the primary controller continues then",
		stage.Name, stage.Gate.waitsFor())}
}

// waitsFor says what must happen before the gate opens.
func (g Gate) waitsFor() string {
	parts := []string{"until all objects are applied"}
	for _, workload := range g.Workloads {
		parts = append(parts, fmt.Sprintf("until %s %s/%s runs in its newest version", workload.Kind, workload.Namespace, workload.Name))
	}
	if g.Routes {
		parts = append(parts, "until the cloud has a route to the pods of each node")
	}
	return strings.Join(parts, ", ")
}
