// Package revision keeps what ControllerDeployments were, since they only say what they are: each revision with all that is needed to install it
// again, and the verdict on it. It must not know who decides about revisions, nor where they are installed.
package revision

import (
	"encoding/json"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// Content is what makes a revision.
type Content struct {
	// Chart is the archive, wherever it came from.
	Chart []byte `json:"chart"`
	// Source is the OCI reference by digest that the chart came from; empty for a chart that was given inline. It is for people.
	Source string `json:"-"`
	// Origin tells what the deployment said, so that what has been made a revision already need not be pulled again. It is for whoever records.
	Origin string `json:"-"`
	// Values, ValuesOverlays, InjectGardenKubeconfig and Resources are those of the deployment.
	Values                 json.RawMessage                       `json:"values,omitempty"`
	ValuesOverlays         []installationv1alpha1.ValuesOverlay  `json:"valuesOverlays,omitempty"`
	InjectGardenKubeconfig bool                                  `json:"injectGardenKubeconfig,omitempty"`
	Resources              []gardencorev1.NamedResourceReference `json:"resources,omitempty"`
}

// Result is what is known of a revision.
type Result string

const (
	// Candidate: nothing is known yet.
	Candidate Result = "Candidate"
	// Good: a rollout of it has ended well.
	Good Result = "Good"
	// Bad: it has failed.
	Bad Result = "Bad"
)

// Info is a revision without its content.
type Info struct {
	Name string
	// Number grows with each revision of a deployment: the newest has the highest, also when it is an old one once more.
	Number int64
	// Source and Origin are those of the content, as it was recorded last.
	Source, Origin string
	// Message is what people should know who rely on the verdict; empty where there is nothing. One that is recorded anew has none.
	Message string
	// Result, and why it is Bad, and since when it is what it is.
	Result Result
	Reason string
	Since  time.Time
}

// Store keeps revisions as ControllerRevisions (apps/v1) in the namespace garden of the garden, owned by their ControllerDeployment: the garbage
// collector removes them with it. What is said about them are annotations, so that a list needs no content. An object that carries the label of a
// deployment's revisions and was not made by a Store, or has been changed by somebody else, is an error that names it.
type Store struct {
	// Client reads from the API server, never from a cache.
	Client client.Client
}
