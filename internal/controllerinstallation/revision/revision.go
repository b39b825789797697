// Package revision stores the history of ControllerDeployments: each revision with all that is needed to install it again, and the result of its
// evaluation. It must not know how revisions are evaluated or where they are installed.
package revision

import (
	"encoding/json"
	"time"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// Content is the content of a revision.
type Content struct {
	// Chart is the archive, as "helm package" writes it.
	Chart []byte `json:"chart"`
	// Source is the OCI reference by digest from which the chart was pulled; empty for an inline chart. It is informational.
	Source string `json:"-"`
	// Origin is a hash of the deployment's content from which the revision was recorded. It shows the caller of Record that the chart need not be pulled again.
	Origin string `json:"-"`
	// Values, ValuesOverlays, InjectGardenKubeconfig and Resources are those of the deployment.
	Values                 json.RawMessage                       `json:"values,omitempty"`
	ValuesOverlays         []installationv1alpha1.ValuesOverlay  `json:"valuesOverlays,omitempty"`
	InjectGardenKubeconfig bool                                  `json:"injectGardenKubeconfig,omitempty"`
	Resources              []gardencorev1.NamedResourceReference `json:"resources,omitempty"`
}

// Result is the result of the evaluation of a revision.
type Result string

const (
	// Candidate: it has not been evaluated yet.
	Candidate Result = "Candidate"
	// Good: a rollout of it has succeeded.
	Good Result = "Good"
	// Bad: a rollout of it has failed.
	Bad Result = "Bad"
)

// Info is a revision without its content.
type Info struct {
	Name string
	// Number grows with each recording of a revision: the newest has the highest, also if it is an old one that was recorded again.
	Number int64
	// Source and Origin are those of the last recording.
	Source, Origin string
	// Message is a caveat to the result; it is usually empty. Recording the revision anew removes it.
	Message string
	// Result is the result of the evaluation, with the reason if it is Bad, and the time of its last change.
	Result Result
	Reason string
	Since  time.Time
}

// Store keeps revisions as ControllerRevisions (apps/v1) in the namespace garden of the garden, owned by their ControllerDeployment: the garbage
// collector removes them with it. All but the content is in annotations, so that a list does not need the content. An object with the label of a
// deployment's revisions that was not created by a Store, or was changed by another client, results in an error with its name.
type Store struct {
	// Client reads from the API server, never from a cache.
	Client client.Client
}
