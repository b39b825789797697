package observer

import (
	"context"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
)

// Observer declares what a secondary controller observes of the objects of one contract. All fields are required.
type Observer[O contract.Object] struct {
	// Name is the kind in lower case, as in the Contract. It names the controller and labels its metrics.
	Name string
	// New returns an empty object.
	New func() O
	// Observations are all aspects that can be observed. Each can be switched off.
	Observations []Observation
	// Observe observes one object.
	Observe Observe[O]
}

// Observation is one aspect of an object that is observed.
type Observation struct {
	// Name is one word or several with dashes, e.g. "deletion-blockers". It is the value of --observations and of the label observation of metrics.
	Name string
	// Condition is the type of the condition that reports it. True is healthy. It is none of the four types that gardenlet reads.
	Condition gardencorev1beta1.ConditionType
}

// NamesOf returns the names of observations, for a binary's flags.
func NamesOf(observations []Observation) []string {
	names := make([]string, 0, len(observations))
	for _, observation := range observations {
		names = append(names, observation.Name)
	}
	return names
}

// Observe observes the aspects in input.Wanted and returns a finding for each. An aspect without a finding does not apply to the object: it has no
// condition.
//
// It is called for different objects concurrently, keeps nothing of an object between calls, and changes nothing. Reads of a cloud go through Shared. A
// TooEarlyError postpones the observation. Any other error, and a Finding with an error, mean that nothing is known now: conditions become Unknown when that
// has happened several times in a row.
type Observe[O contract.Object] func(ctx context.Context, input Input[O]) (Result, error)

// Input is the input of one observation of one object.
type Input[O contract.Object] struct {
	// Object is complete, read from the API server for this observation, and belongs to it.
	Object O
	// Cluster holds the shoot, the seed (may be nil) and the cloud profile.
	Cluster *contract.Cluster
	// Reader reads from the API server, never from a cache.
	Reader client.Reader
	// Wanted are the names of the observations that are switched on.
	Wanted Names
	// Since is the time of the primary's last success. What was read before does not show its effects.
	Since time.Time
	// Now is the time of the observation.
	Now time.Time
	// Log carries the object's name.
	Log logr.Logger
}

// Names is a set of names of observations.
type Names map[string]bool

// Result is the outcome of one observation of an object.
type Result struct {
	// Findings by the name of the observation.
	Findings map[string]Finding
	// AsOf is the time of the reads that the findings depend on; zero means Input.Now.
	AsOf time.Time
}

// Finding is the result for one aspect. The zero value is unhealthy.
type Finding struct {
	// Healthy makes the condition True.
	Healthy bool
	// Message says what is not as it should be, where, and who repairs it; or, if it is healthy, what was compared. It contains no times and counters that
	// change while nothing else does: every change is a write.
	Message string
	// Err means that this aspect could not be observed. The other fields are unused then.
	Err error
}
