package csi

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

// Driver is a storage driver.
type Driver struct {
	// Name is the driver's name, as StorageClasses call it, e.g. "cinder.csi.openstack.org".
	Name string
	// Spec is that of the CSIDriver object in the shoot.
	Spec storagev1.CSIDriverSpec
	// Controller runs in the seed.
	Controller Controller
	// Node runs on every node of the shoot.
	Node Node
	// RolePrefix precedes the names of its parts to make those of their roles and bindings in the shoot, e.g.
	// "extensions.gardener.cloud:provider-openstack:".
	RolePrefix string
}

// Controller is the part of a driver that speaks to the cloud: one pod with the plugin and its sidecars.
type Controller struct {
	// Name and Selector are the Deployment's, see component.Component.
	Name     string
	Selector map[string]string
	// ContainerPrefix precedes the sidecars' names to make their containers': VerticalPodAutoscalers go by these.
	ContainerPrefix string
	// User is the ID of the user that the processes run as.
	User int64
	// Plugin is the driver's own container. It finds the socket's path in the variable CSI_ENDPOINT and its folder mounted;
	// the liveness probe is added.
	Plugin component.Container
	// Extra are further containers of the cloud's own.
	Extra []component.Container
	// Sidecars are the standard ones in use.
	Sidecars Sidecars
	// Reaches is the component's.
	Reaches []component.Destination
}

// Sidecars are the standard containers that translate between Kubernetes and a plugin. Nil ones are left out.
type Sidecars struct {
	Provisioner, Attacher, Snapshotter, Resizer *Sidecar
}

// Sidecar is one of them.
type Sidecar struct {
	// ShootAccess is the name of the ServiceAccount in the shoot's kube-system, which is also that of its roles.
	ShootAccess string
	// Args come after those that every driver needs (socket, kubeconfig, leader election, timeout, pace).
	Args []string
}

// Node is the part of a driver that runs on every node: a privileged DaemonSet in the shoot's kube-system with the plugin, a
// registrar and a liveness probe. It has no credentials.
type Node struct {
	// Name and Selector are the DaemonSet's. The ServiceAccount is called ServiceAccount.
	Name           string
	Selector       map[string]string
	ServiceAccount string
	// ContainerPrefix precedes the names of the standard containers.
	ContainerPrefix string
	// Plugin is the driver's own container, see Controller.Plugin. Files name entries of Secrets.
	Plugin component.Container
	// Extra are further containers of the cloud's own. Volumes and mounts are those of the node's folders that they need.
	Extra []component.Container
	// Secrets hold what Plugin and Extra mount (component.Files.Source), by name. Users of the shoot can read them: never
	// credentials of the cloud.
	Secrets map[string]map[string][]byte
	// HostFolders are mounted into Plugin besides those that every plugin needs.
	HostFolders []HostFolder
	// HealthPort is the port on the host's network that the liveness probe listens on; unique among drivers.
	HealthPort int32
	// Critical nodes wait for this driver before they take workload.
	Critical bool
}

// HostFolder is a folder of the node that a plugin sees.
type HostFolder struct {
	Name, HostPath, Path string
	Type                 corev1.HostPathType
	Propagation          corev1.MountPropagationMode
}

// SnapshotClass is a VolumeSnapshotClass of the shoot.
type SnapshotClass struct {
	// Name is the class's name, Driver that of the CSI driver.
	Name, Driver string
	// Default makes it the class of snapshots that name none.
	Default bool
	// DeletionPolicy is Delete or Retain.
	DeletionPolicy string
	// Parameters are the driver's.
	Parameters map[string]string
}
