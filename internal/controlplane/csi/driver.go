package csi

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

// Driver is a storage driver.
type Driver struct {
	// Name is the driver's name in StorageClasses, e.g. "cinder.csi.openstack.org".
	Name string
	// Spec is that of the CSIDriver object in the shoot.
	Spec storagev1.CSIDriverSpec
	// Controller runs in the seed. It is empty if ShootController runs in the shoot instead.
	Controller      Controller
	ShootController *ShootController
	// Node runs on every node of the shoot.
	Node Node
	// RolePrefix is the prefix of the names of its roles and bindings in the shoot, e.g. "extensions.gardener.cloud:provider-openstack:".
	RolePrefix string
}

// Controller is the part of a driver that calls the cloud: one pod with the plugin and its sidecars.
type Controller struct {
	// Name and Selector are the Deployment's, see component.Component.
	Name     string
	Selector map[string]string
	// Autoscaler is the name of the VerticalPodAutoscaler, see component.Component.
	Autoscaler string
	// ContainerPrefix is the prefix of the sidecars' container names, which VerticalPodAutoscalers refer to.
	ContainerPrefix string
	// User is the ID of the user that the processes run as.
	User int64
	// Plugin is the driver's own container. It gets the socket's address in the variable CSI_ENDPOINT ("unix:///csi/csi.sock") and the folder mounted; the
	// liveness probe is added.
	Plugin component.Container
	// Extra are further containers of the driver.
	Extra []component.Container
	// Sidecars are the standard ones in use.
	Sidecars Sidecars
	// Egress and Metrics are the component's.
	Egress  []component.Destination
	Metrics *component.Metrics
}

// Sidecars are the standard containers between Kubernetes and a plugin. Nil ones are left out.
type Sidecars struct {
	Provisioner, Attacher, Snapshotter, Resizer *Sidecar
}

// Sidecar is a standard container.
type Sidecar struct {
	// ShootAccess is the name of the ServiceAccount in the shoot's kube-system, and of its roles.
	ShootAccess string
	// Args are appended to those of all drivers (socket, kubeconfig, leader election, timeout, rate limits), see sidecars.go.
	Args []string
	// Rules are permissions in the shoot for capabilities of the driver that not every driver has.
	Rules []rbacv1.PolicyRule
}

// Node is the part of a driver on each node: a DaemonSet in the shoot's kube-system with the plugin, a registrar and a liveness probe, in the host's
// network. Only the container that mounts is privileged. It has no credentials and no permissions.
type Node struct {
	// Name and Selector are the DaemonSet's. The ServiceAccount is called ServiceAccount.
	Name           string
	Selector       map[string]string
	ServiceAccount string
	// ContainerPrefix is the prefix of the names of the standard containers.
	ContainerPrefix string
	// Plugin is the driver's own container, see Controller.Plugin. Files name entries of Secrets. ShootAccess has no meaning.
	Plugin component.Container
	// Mounter is the container that mounts, if that is not Plugin: one that Plugin calls by a socket in a folder that both share.
	Mounter *component.Container
	// Extra are further containers of the driver.
	Extra []component.Container
	// Secrets are mounted by the containers (component.Files.Source), by name. Users of the shoot can read them, so they must not contain credentials of the
	// cloud.
	Secrets map[string]map[string][]byte
	// HostFolders are mounted into the container that mounts, besides the kubelet's folder.
	HostFolders []HostFolder
	// HealthPort is the port of the liveness probe in the host's network; unique among drivers.
	HealthPort int32
	// Critical makes new nodes wait for this driver before they run other pods.
	Critical bool
}

// HostFolder is a folder of the node that a container mounts.
type HostFolder struct {
	// Name is the volume's name, HostPath the folder on the node, Path the folder in the container.
	Name, HostPath, Path string
	Type                 corev1.HostPathType
	// Propagation of mounts; empty for none.
	Propagation corev1.MountPropagationMode
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
