package openstack

import (
	"cmp"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
)

const (
	manilaDriver = "nfs.manila.csi.openstack.org"
	// manilaControllerName is the name of the Deployment and of its VerticalPodAutoscaler, which are upstream's.
	manilaControllerName = "csi-driver-manila-controller"

	manilaImage = "csi-driver-manila"
	nfsImage    = "csi-driver-nfs"
	// nfsDriver is the name of the driver that mounts, which differs from its own, so that users may have one of their own.
	nfsDriver = "gardener.nfs.csi.k8s.io"

	forwardFolder = "/csi-fwd"
	forwardSocket = "unix://" + forwardFolder + "/csi.sock"
)

// manila is the driver for shared file systems, nil unless the shoot has them.
//
// It consists of two plugins: one calls Manila and passes all requests for file systems to the other, for NFS. In the seed no requests are passed on, but the
// first checks the second whenever it is checked itself.
//
// On nodes and in the seed it logs in with the credentials of each request, from the Secret manila-csi-plugin in the shoot. The controller gets no
// credentials of its own, though it could read some from a file: those of a request would override the file, key by key, so that a user with the right to
// create a StorageClass could have the password sent to another Keystone.
func (in *inputs) manila() *csi.Driver {
	if !in.hasManila() {
		return nil
	}
	return &csi.Driver{
		Name: manilaDriver,
		Spec: storagev1.CSIDriverSpec{
			AttachRequired: new(false), PodInfoOnMount: new(false), FSGroupPolicy: new(storagev1.NoneFSGroupPolicy),
		},
		Controller: in.manilaController(),
		Node:       in.manilaNode(),
		RolePrefix: rolePrefix,
	}
}

func (in *inputs) hasManila() bool {
	storage := in.config.Storage
	return storage != nil && storage.CSIManila != nil && storage.CSIManila.Enabled
}

func (in *inputs) manilaController() csi.Controller {
	plugin := in.manilaPlugin("openstack-csi-manila-driver", append([]string{"--provide-node-service=false"}, in.userAgentFlags()...)...)
	return csi.Controller{
		Name:            manilaControllerName,
		Selector:        map[string]string{"app": "csi", "role": "driver-manila-controller"},
		Autoscaler:      manilaControllerName,
		ContainerPrefix: "openstack-csi-manila-",
		User:            nonrootUser,
		Plugin:          plugin,
		Extra:           []component.Container{nfsPlugin("openstack-csi-manila-nfs-driver", "--nodeid=none")},
		Sidecars: csi.Sidecars{
			// Not strict: a share can be used from all zones with a route to it.
			Provisioner: &csi.Sidecar{ShootAccess: accountProvisioner, Args: in.provisionerFlags()},
			Snapshotter: &csi.Sidecar{ShootAccess: accountSnapshotter, Args: in.snapshotterFlags()},
			Resizer:     &csi.Sidecar{ShootAccess: accountResizer},
		},
		// Both, since Manila's address is unknown before the login. Requests determine where the plugin logs in, so it must not reach more.
		Egress: []component.Destination{component.PublicNetworks, component.PrivateNetworks},
	}
}

// manilaNode is not critical: a node does not need shares until a pod uses one.
func (in *inputs) manilaNode() csi.Node {
	mounter := nfsPlugin("driver-nfs-nfs-node", "--nodeid=$(NODE_ID)", "--mount-permissions=0777")
	mounter.Env = []corev1.EnvVar{{
		Name: "NODE_ID", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "spec.nodeName"}},
	}}
	return csi.Node{
		Name:            "csi-driver-manila-node",
		Selector:        map[string]string{"app": "csi", "role": "driver-manila-node"},
		ServiceAccount:  "csi-driver-manila-node",
		ContainerPrefix: "nfs-",
		Plugin:          in.manilaPlugin("driver-manila-nfs-node", "--provide-controller-service=false"),
		Mounter:         &mounter,
		HealthPort:      24913,
	}
}

// manilaPlugin does not set the node: the plugin reads it from Nova's metadata service.
func (in *inputs) manilaPlugin(name string, more ...string) component.Container {
	return component.Container{
		Name:    name,
		Image:   manilaImage,
		Command: []string{"/bin/manila-csi-plugin"},
		Args: append([]string{
			"--endpoint=$(CSI_ENDPOINT)",
			"--drivername=" + manilaDriver,
			"--share-protocol-selector=NFS",
			"--fwdendpoint=" + forwardSocket,
			"--cluster-id=" + in.clusterName,
			"--with-topology=true",
			"--v=3",
		}, more...),
		Requests: manilaRequests(),
		Shared:   forwardDir(),
	}
}

func nfsPlugin(name string, more ...string) component.Container {
	return component.Container{
		Name:     name,
		Image:    nfsImage,
		Args:     append([]string{"--endpoint=" + forwardSocket, "--drivername=" + nfsDriver, "--v=3"}, more...),
		Requests: manilaRequests(),
		Shared:   forwardDir(),
	}
}

func forwardDir() []component.SharedFolder {
	return []component.SharedFolder{{Name: "nfs-fwd-plugin-dir", Path: forwardFolder}}
}

func manilaRequests() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("15m"), corev1.ResourceMemory: resource.MustParse("42Mi")}
}

// zonesOf returns the zones of the shoot's nodes.
func zonesOf(shoot *gardencorev1beta1.Shoot) []string {
	var zones []string
	for _, worker := range shoot.Spec.Provider.Workers {
		zones = append(zones, worker.Zones...)
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// nodeRangeOf returns the nodes' IPv4 range. Old statuses do not contain it; then it is the user's, or a part of the shoot's range of nodes.
func nodeRangeOf(status *openstackv1alpha1.InfrastructureStatus, shoot *controlplane.Shoot) string {
	var reported, configured, fromShoot string
	for _, subnet := range status.Networks.Subnets {
		if subnet.Purpose == openstackv1alpha1.PurposeNodes {
			reported = subnet.CIDR
		}
	}
	spec := shoot.Cluster.Shoot.Spec
	if config, err := openstackv1alpha1.DecodeInfrastructureConfig(spec.Provider.InfrastructureConfig); err == nil {
		configured = config.Networks.Workers
	}
	if spec.Networking != nil {
		fromShoot = value(spec.Networking.Nodes)
	}
	return cmp.Or(reported, configured, fromShoot)
}
