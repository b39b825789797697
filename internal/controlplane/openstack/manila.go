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
	// manilaControllerName is the name of the Deployment and of its VerticalPodAutoscaler; both are upstream's.
	manilaControllerName = "csi-driver-manila-controller"

	manilaImage = "csi-driver-manila"
	nfsImage    = "csi-driver-nfs"
	// nfsDriver is what the driver that mounts calls itself: not its own name, so that users may have one of their own.
	nfsDriver = "gardener.nfs.csi.k8s.io"

	forwardFolder = "/csi-fwd"
	forwardSocket = "unix://" + forwardFolder + "/csi.sock"
)

// manila is the driver for shared file systems, nil unless the shoot has them.
//
// It consists of two plugins: one speaks to Manila and passes everything on that has to do with file systems, to one for NFS.
// In the seed nothing is passed on, but the first asks the second whether it is well whenever it is asked itself.
//
// Both on nodes and in the seed it logs in with what comes with each request, from the Secret manila-csi-plugin in the shoot. The
// controller gets no credentials of its own, though it could read some from a file: what comes with a request would win over
// the file, key by key, so whoever can write a StorageClass could have the password sent to a Keystone of their own.
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
			// Not strict: a share can be used from wherever there is a way to it.
			Provisioner: &csi.Sidecar{ShootAccess: accountProvisioner, Args: in.provisionerFlags()},
			Snapshotter: &csi.Sidecar{ShootAccess: accountSnapshotter, Args: in.snapshotterFlags()},
			Resizer:     &csi.Sidecar{ShootAccess: accountResizer},
		},
		// Both, since nobody knows before the login where Manila is. Requests decide where the plugin logs in, so it must reach no more.
		Egress: []component.Destination{component.PublicNetworks, component.PrivateNetworks},
	}
}

// manilaNode is not critical: a node can do without shares until a pod wants one.
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

// manilaPlugin says nothing about the node: the plugin asks Nova's metadata service who and where it is.
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

// nodeRangeOf returns the IPv4 range from which nodes come. Statuses of old do not tell it; then the user did, or it is some
// part of what Gardener calls the nodes' range.
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
