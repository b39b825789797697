package network

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Driver knows one network plugin. All methods are pure: they call nobody, keep nothing, and answer the same question with the
// same answer, down to the order of lists and the bytes of objects. The contract does everything else.
type Driver interface {
	// Capabilities says what the plugin can do and needs as the shoot has configured it. A configuration that cannot be read has none.
	Capabilities(shoot *Shoot) Capabilities
	// Validate checks the shoot's inputs. Each error names the field and the remedy. It runs before Render, not before the
	// Network is deleted.
	Validate(shoot *Shoot) field.ErrorList
	// Render says what the plugin consists of in this shoot. Inputs that Validate accepts do not fail.
	Render(shoot *Shoot) (*Rendering, error)
	// Transition says what has to happen first before wanted, which Render has returned for the same shoot, may be deployed in
	// place of shoot.Deployed. It returns nil when nothing has. It is asked again after each stage, until it returns nil, and in
	// every pass anew: users may change their mind. It is not asked where nothing is deployed, nor where there are no nodes. An
	// error refuses a change that cannot be made at all while there are nodes (cloud.Configuration, with the field and the remedy).
	Transition(shoot *Shoot, wanted *Rendering) (*Stage, error)
}

// Capabilities are what a plugin can do and what it needs, as it is configured.
type Capabilities struct {
	// RoutesServices is true when it routes Services without kube-proxy.
	RoutesServices bool
	// ServiceRouting tells the user how to have it route Services, e.g. "set spec.networking.providerConfig.x to true". Empty if it
	// never can.
	ServiceRouting string
	// IPv6 and DualStack are true when it can serve pods that have addresses of IPv6, and addresses of both families.
	IPv6, DualStack bool
	// NeedsAPIServerHost is true when it cannot be rendered before Shoot.APIServerHost is known. The contract waits for that.
	NeedsAPIServerHost bool
}

// Rendering is a plugin, ready to be deployed.
type Rendering struct {
	// Shoot are the objects in the shoot. They hold no credentials.
	Shoot []client.Object
	// Seed are the objects in the shoot's namespace of the seed, such as rules for its Prometheus.
	Seed []client.Object
	// Retired are objects in the seed that another extension for this plugin leaves behind. They are deleted from shoots that
	// come from there.
	Retired []client.Object
	// Form is what the driver needs to know of this rendering later, in Transition and Render. It encodes to JSON, and is small:
	// it is kept in status.state and travels with the shoot.
	Form any
	// Status becomes status.providerStatus: what is in force, with all defaults. It carries apiVersion and kind.
	Status runtime.Object
	// Messages are sentences for whoever reads the status.
	Messages []string
}

// Deployed is what is in the shoot already.
type Deployed struct {
	// Form is that of the rendering deployed last. It is nil when it is not known.
	Form json.RawMessage
	// RolledOut is true when the gate of the stage of that form was found open. What is not settled may not have reached all nodes.
	RolledOut bool
	// Objects are those that are in the shoot while Form is nil: somebody else's, such as upstream's extension. None is nothing.
	Objects []*unstructured.Unstructured
}

// IsEmpty reports whether nothing is deployed, as far as anybody knows.
func (d Deployed) IsEmpty() bool { return len(d.Form) == 0 && len(d.Objects) == 0 }

// Stage is a step on the way from one rendering to another.
type Stage struct {
	// Name says to users what goes on, in the manner of "bringing up tunnels on all nodes".
	Name string
	// Rendering is deployed while the stage lasts.
	Rendering *Rendering
	// Gate has to be open before the next stage begins.
	Gate Gate
}

// Gate is what has to be true in the shoot. That everything has been applied is part of every gate. Nodes that are not ready
// do not keep a gate shut: they may never be again. One that comes back later may be cut off until its pods are replaced.
type Gate struct {
	// Workloads are DaemonSets that run in their newest version on all nodes, and Deployments that run in theirs.
	Workloads []Workload `json:"workloads,omitempty"`
	// Routes is true when all nodes must have been told by the route controller that routes lead to their pods.
	Routes bool `json:"routes,omitempty"`
}

// Workload names a DaemonSet or Deployment in the shoot.
type Workload struct {
	// Kind is "DaemonSet" or "Deployment".
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}
