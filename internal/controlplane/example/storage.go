package example

import (
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
)

const (
	storageDriverName = "files.csi.example.org"
	// storageImage is the image of the plugin in the seed and on nodes.
	storageImage = "csi-driver"
)

// storageDriver serves shared file systems, which are mounted over the network: there is nothing to attach to nodes.
func storageDriver() csi.Driver {
	return csi.Driver{
		Name: storageDriverName,
		Spec: storagev1.CSIDriverSpec{AttachRequired: new(false)},
		Controller: csi.Controller{
			Name:            "csi-driver-controller",
			Selector:        map[string]string{"app": "csi", "role": "controller"},
			ContainerPrefix: "example-csi-",
			User:            nonrootUser,
			Plugin: component.Container{
				Name:  "example-csi-driver",
				Image: storageImage,
				Args:  []string{"--endpoint=$(CSI_ENDPOINT)", "--cloud-config=" + cloudConfigFolder + "/" + cloudConfigFile},
				Files: []component.Files{{Source: cloudConfigName, Path: cloudConfigFolder}},
			},
			Sidecars: csi.Sidecars{
				Provisioner: &csi.Sidecar{ShootAccess: "csi-provisioner"},
				Snapshotter: &csi.Sidecar{ShootAccess: "csi-snapshotter"},
			},
			Egress: []component.Destination{component.PublicNetworks, component.PrivateNetworks},
		},
		Node: csi.Node{
			Name:            "csi-driver-node",
			Selector:        map[string]string{"app": "csi", "role": "driver"},
			ServiceAccount:  "csi-driver-node",
			ContainerPrefix: "csi-",
			Plugin:          component.Container{Name: "csi-driver", Image: storageImage, Args: []string{"--endpoint=$(CSI_ENDPOINT)"}},
			HealthPort:      9808,
			Critical:        true,
		},
		RolePrefix: rolePrefix,
	}
}

func storageClass() storagev1.StorageClass {
	return storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: "default", Annotations: map[string]string{csi.DefaultStorageClassAnnotation: "true"}},
		Provisioner: storageDriverName,
	}
}
