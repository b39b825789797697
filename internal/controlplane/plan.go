package controlplane

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
)

// Plan is what a shoot's control plane needs of its cloud.
type Plan struct {
	// Configs are files that components in the seed mount. They may hold credentials.
	Configs []Config
	// Certificates are server certificates that components in the seed mount.
	Certificates []Certificate
	// Components run in the seed, besides those that the CSI drivers bring along.
	Components []component.Component
	// CSIDrivers are the storage drivers.
	CSIDrivers []csi.Driver
	// ShootObjects go to the shoot as they are: RBAC of the components, above all. They hold no credentials.
	ShootObjects []client.Object
	// CRDs are those of ShootObjects and of components, besides those of the CSI drivers. They are there before and go after the objects of their kinds. One that
	// disappears from the plan deletes all its objects, so it has to be kept (resources.gardener.cloud/keep-object) if users create some.
	CRDs []client.Object
	// ShootWebhooks are webhooks of the shoot's API server that components in the seed serve, or this controller. They are registered after the components are
	// deployed.
	ShootWebhooks []ShootWebhooks
	// StorageClasses and SnapshotClasses are those of the shoot. Whoever works in the shoot may choose another default.
	StorageClasses  []storagev1.StorageClass
	SnapshotClasses []csi.SnapshotClass
	// Retired are objects in the shoot that upstream's extension left there for ever (resources.gardener.cloud/keep-object),
	// in a form that does no harm. They are deleted from shoots that come from upstream.
	Retired []client.Object
	// RetiredAccess are ServiceAccounts in the shoot of components that upstream's extension deploys in any shoot, if need be without pods. Secrets with their
	// tokens are deleted unless a component of the plan uses them.
	RetiredAccess []string
	// StaleNodeConditions are removed from all nodes once, when the plan names them first.
	StaleNodeConditions []NodeCondition
	// EventReporters are those components in the seed whose Events in the shoot belong to the health of the control plane.
	EventReporters []EventReporter
	// Messages are sentences for whoever reads the status.
	Messages []string
}

// EventReporter is a component in the seed that reports problems with the cloud as Events in the shoot, about its own ServiceAccount. While the last of them is
// a warning, and recent, the control plane is not healthy.
type EventReporter struct {
	// Account is the name of the component's ServiceAccount in the shoot's kube-system.
	Account string `json:"account"`
	// Codes are Gardener's codes by the cloud's, which the message of an Event contains. The code of all other warnings is ERR_RETRYABLE_INFRA_DEPENDENCIES.
	Codes map[string]gardencorev1beta1.ErrorCode `json:"codes,omitempty"`
}

// Config is a set of files. Each version of it becomes an immutable Secret of its own.
type Config struct {
	// Name is what components call it (component.Files).
	Name string
	// Files maps file names to content.
	Files map[string][]byte
}

// Certificate is a server certificate for a Service in the shoot's namespace, signed by the control plane's own CA. A
// component sees it as tls.crt and tls.key, after the manner of corev1.SecretTypeTLS.
type Certificate struct {
	// Name is what components call it (component.Files), and the name of the certificate.
	Name string
	// Service is the name of the Service.
	Service string
}

// NodeCondition selects conditions of nodes.
type NodeCondition struct {
	// Type is the condition's type, Reasons the reasons for which it is stale.
	Type    corev1.NodeConditionType
	Reasons []string
}
