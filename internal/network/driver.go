package network

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Driver implements one network plugin. All methods are pure: they make no calls and keep no state, and the same input gives the same output, down to
// the order of lists and the bytes of objects. The contract does everything else.
type Driver interface {
	// Capabilities returns what the plugin, as the shoot has configured it, supports and requires. A configuration that cannot be decoded has no
	// capabilities.
	Capabilities(shoot *Shoot) Capabilities
	// Validate checks the shoot's inputs. Each error names the field and the remedy. It runs before Render, not before the
	// Network is deleted.
	Validate(shoot *Shoot) field.ErrorList
	// Render returns the objects of the plugin in this shoot. It does not fail for inputs that Validate accepts.
	Render(shoot *Shoot) (*Rendering, error)
	// Transition returns the stage that must be deployed before wanted may replace shoot.Deployed; wanted is what Render returned for the same shoot. It
	// returns nil when no stage is left. The contract calls it again after each stage until it returns nil, and again in every reconciliation, since
	// users may change the configuration meanwhile. It is not called where nothing is deployed or where there are no nodes. An error refuses a change
	// that cannot be made at all while there are nodes (cloud.Configuration, with the field and the remedy).
	Transition(shoot *Shoot, wanted *Rendering) (*Stage, error)
}

// Capabilities are what a plugin can do and what it needs, as it is configured.
type Capabilities struct {
	// RoutesServices is true when it routes Services without kube-proxy.
	RoutesServices bool
	// ServiceRouting tells users how to let it route Services, e.g. "set spec.networking.providerConfig.x to true". Empty if it cannot.
	ServiceRouting string
	// IPv6 and DualStack are true when it can serve pods that have IPv6 addresses, and addresses of both families.
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
	// Retired are objects in the seed that another extension for this plugin leaves behind. They are deleted when a shoot comes from that extension.
	Retired []client.Object
	// Form is what later calls of Transition and Render need to know of this rendering. It encodes to JSON and is small: it is kept in status.state, and
	// is migrated with the shoot.
	Form any
	// Status becomes status.providerStatus: the effective configuration with all defaults. It has apiVersion and kind.
	Status runtime.Object
	// Messages are sentences for readers of the status.
	Messages []string
}

// Deployed is what is in the shoot already.
type Deployed struct {
	// Form is the form of the rendering deployed last. It is nil when it is not known.
	Form json.RawMessage
	// RolledOut is true when the gate of that form's stage was found open. Otherwise some nodes may still have an earlier form.
	RolledOut bool
	// Objects are those that are in the shoot while Form is nil: they belong to another extension, such as upstream's. None means that nothing is
	// deployed.
	Objects []*unstructured.Unstructured
}

// IsEmpty reports whether nothing is known to be deployed.
func (d Deployed) IsEmpty() bool { return len(d.Form) == 0 && len(d.Objects) == 0 }

// Stage is a step on the way from one rendering to another.
type Stage struct {
	// Name tells users what is being done, e.g. "bringing up tunnels on all nodes".
	Name string
	// Rendering is deployed while the stage lasts.
	Rendering *Rendering
	// Gate must be open before the next stage begins.
	Gate Gate
}

// Gate is a condition on the shoot. Every gate also requires that all objects are applied. Nodes that are not ready do not keep a gate closed, since
// they may never become ready again. A node that becomes ready later may be disconnected until its pods are replaced.
type Gate struct {
	// Workloads are DaemonSets and Deployments that must run in their newest version, DaemonSets on all nodes.
	Workloads []Workload `json:"workloads,omitempty"`
	// Routes is true when the route controller must have reported, for all nodes, routes to their pods.
	Routes bool `json:"routes,omitempty"`
}

// Workload names a DaemonSet or Deployment in the shoot.
type Workload struct {
	// Kind is "DaemonSet" or "Deployment".
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}
