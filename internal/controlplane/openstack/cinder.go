package openstack

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
)

const (
	cinderDriver = "cinder.csi.openstack.org"
	cinderImage  = "csi-driver-cinder"
	// cinderNodeConfigName is the Secret in the shoot with the plugin's configuration on nodes.
	cinderNodeConfigName = "cloud-provider-config"
	// rolePrefix is the prefix of the names of roles and bindings in the shoot.
	rolePrefix = "extensions.gardener.cloud:provider-openstack:"
)

// ServiceAccounts of the sidecars. Both drivers use the same.
const (
	accountProvisioner = "csi-provisioner"
	accountAttacher    = "csi-attacher"
	accountSnapshotter = "csi-snapshotter"
	accountResizer     = "csi-resizer"
)

// csiDrivers are the storage drivers of the shoot.
func (in *inputs) csiDrivers() ([]csi.Driver, error) {
	cinder, err := in.cinder()
	if err != nil {
		return nil, err
	}
	drivers := []csi.Driver{cinder}
	if manila := in.manila(); manila != nil {
		drivers = append(drivers, *manila)
	}
	return drivers, nil
}

// cinder is the driver for volumes. It also serves volumes of upstream's extension: the names are the same.
func (in *inputs) cinder() (csi.Driver, error) {
	files, err := in.cinderNodeFiles()
	if err != nil {
		return csi.Driver{}, err
	}
	return csi.Driver{
		Name: cinderDriver,
		Spec: storagev1.CSIDriverSpec{
			AttachRequired: new(true),
			PodInfoOnMount: new(true),
			// The plugin has refused ephemeral volumes since 1.31, but the field is immutable.
			VolumeLifecycleModes: []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral},
		},
		Controller: in.cinderController(),
		Node:       in.cinderNode(files),
		RolePrefix: rolePrefix,
	}, nil
}

func (in *inputs) cinderController() csi.Controller {
	plugin := component.Container{
		Name:    "openstack-csi-driver",
		Image:   cinderImage,
		Command: []string{"/bin/cinder-csi-plugin"},
		Args: append([]string{
			"--endpoint=$(CSI_ENDPOINT)",
			"--cloud-config=" + path.Join(cloudConfigFolder, cloudConfigFile),
			"--cluster=" + in.clusterName,
			"--provide-node-service=false",
			"--v=3",
		}, in.userAgentFlags()...),
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20m"), corev1.ResourceMemory: resource.MustParse("50Mi")},
		Files:    []component.Files{{Source: cinderConfigName, Path: cloudConfigFolder}},
	}
	return csi.Controller{
		Name:            "csi-driver-controller",
		Selector:        map[string]string{"app": "csi", "role": "controller"},
		ContainerPrefix: "openstack-csi-",
		User:            nonrootUser,
		Plugin:          plugin,
		Sidecars: csi.Sidecars{
			// Strict: a volume is created in the zone of the first pod that uses it.
			Provisioner: &csi.Sidecar{
				ShootAccess: accountProvisioner,
				Args:        append(in.provisionerFlags(), "--strict-topology=true", "--default-fstype=ext4"),
			},
			// Cinder lists volumes in pages. With small ones an attacher with many volumes is too slow to attach any.
			Attacher:    &csi.Sidecar{ShootAccess: accountAttacher, Args: []string{"--max-entries=1000"}},
			Snapshotter: &csi.Sidecar{ShootAccess: accountSnapshotter, Args: in.snapshotterFlags()},
			Resizer:     &csi.Sidecar{ShootAccess: accountResizer},
		},
		Egress: []component.Destination{component.PublicNetworks, component.PrivateNetworks},
	}
}

func (in *inputs) cinderNode(files map[string][]byte) csi.Node {
	return csi.Node{
		Name:            "csi-driver-node",
		Selector:        map[string]string{"app": "csi", "role": "disk-driver"},
		ServiceAccount:  "csi-driver-node",
		ContainerPrefix: "csi-",
		Plugin: component.Container{
			Name:    "csi-driver",
			Image:   cinderImage,
			Command: []string{"/bin/cinder-csi-plugin"},
			Args: []string{
				"--endpoint=$(CSI_ENDPOINT)",
				"--cloud-config=" + path.Join(cloudConfigFolder, cloudConfigFile),
				"--provide-controller-service=false",
				// The default of some versions is to log in.
				"--node-service-no-os-client=true",
				"--v=3",
			},
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("15m"), corev1.ResourceMemory: resource.MustParse("42Mi")},
			Files:    []component.Files{{Source: cinderNodeConfigName, Path: cloudConfigFolder}},
		},
		Secrets: map[string]map[string][]byte{cinderNodeConfigName: files},
		HostFolders: []csi.HostFolder{{
			Name: "device-dir", HostPath: "/dev", Path: "/dev", Type: corev1.HostPathDirectory, Propagation: corev1.MountPropagationHostToContainer,
		}},
		HealthPort: 9808,
		Critical:   true,
	}
}

// provisionerFlags are the same for both drivers. Volumes and shares in OpenStack have the shoot in their names.
func (in *inputs) provisionerFlags() []string {
	return []string{"--feature-gates=Topology=true", "--volume-name-prefix=pv-" + in.clusterName}
}

func (in *inputs) snapshotterFlags() []string {
	return []string{"--snapshot-name-prefix=" + in.clusterName}
}

func (in *inputs) userAgentFlags() []string {
	var flags []string
	for _, agent := range in.userAgents() {
		flags = append(flags, "--user-agent="+agent)
	}
	return flags
}
