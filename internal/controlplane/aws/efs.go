package aws

import (
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
)

const (
	efsDriver = "efs.csi.aws.com"
	efsImage  = "csi-driver-efs"
	efsClass  = "efs-sc"
)

// addElasticFileSystem adds the driver for the elastic file system of the shoot, if it has one: then the Infrastructure has reported its ID.
func (in *inputs) addElasticFileSystem(plan *controlplane.Plan) {
	if in.infrastructure.ElasticFileSystem.ID == "" {
		return
	}
	plan.CSIDrivers = append(plan.CSIDrivers, in.efs())
	plan.ShootObjects = append(plan.ShootObjects, in.efsStorageClass())
}

// efs is the driver for shared file systems. Its controller uses the role of the nodes, which has the permissions.
func (in *inputs) efs() csi.Driver {
	name := corev1.EnvVar{
		Name: "CSI_NODE_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "spec.nodeName"}},
	}
	return csi.Driver{
		Name: efsDriver,
		Spec: storagev1.CSIDriverSpec{AttachRequired: new(false)},
		ShootController: &csi.ShootController{
			Name: "efs-csi-controller",
			Selector: map[string]string{
				"app.kubernetes.io/name": "efs-csi-controller", "app": "csi-efs", "role": "driver-efs-controller",
			},
			ServiceAccount:  "efs-csi-controller-sa",
			ContainerPrefix: "aws-csi-",
			User:            nonrootUser,
			Plugin: component.Container{
				Name:     "aws-csi-driver-efs",
				Image:    efsImage,
				Args:     []string{"--endpoint=$(CSI_ENDPOINT)", "--logtostderr", "--v=2", "--delete-access-point-root-dir=false"},
				Env:      []corev1.EnvVar{name, {Name: "AWS_REGION", Value: in.region}},
				Requests: requests("11m", "40Mi"),
			},
			ProvisionerArgs: []string{"--extra-create-metadata=true"},
			HealthPort:      9909,
		},
		Node: csi.Node{
			Name: "csi-driver-efs-node",
			// The third label is part of the selector, which cannot be changed.
			Selector:        map[string]string{"app": "csi", "role": "driver-efs-node", "node.gardener.cloud/critical-component": "true"},
			ServiceAccount:  "efs-csi-node-sa",
			ContainerPrefix: "csi-efs-",
			Plugin: component.Container{
				Name:  "driver-efs-node",
				Image: efsImage,
				Args: []string{
					"--endpoint=$(CSI_ENDPOINT)", "--logtostderr", "--v=2",
					"--vol-metrics-opt-in=false", "--vol-metrics-refresh-period=240", "--vol-metrics-fs-rate-limit=5",
				},
				Env:      []corev1.EnvVar{name},
				Requests: requests("15m", "42Mi"),
			},
			HostFolders: []csi.HostFolder{
				{Name: "efs-state-dir", HostPath: "/var/run/efs", Path: "/var/run/efs", Type: corev1.HostPathDirectoryOrCreate},
				{Name: "efs-utils-config", HostPath: "/var/amazon/efs", Path: "/var/amazon/efs", Type: corev1.HostPathDirectoryOrCreate},
				{Name: "efs-utils-config-legacy", HostPath: "/etc/amazon/efs", Path: "/etc/amazon/efs-legacy", Type: corev1.HostPathDirectoryOrCreate},
			},
			HealthPort: 9809,
			Critical:   true,
		},
		RolePrefix: rolePrefix,
	}
}

// efsStorageClass is with the components since upstream's extension has it there: it would be deleted if it were moved to the other classes. It is not the
// default, so there is no user's choice to be respected.
func (in *inputs) efsStorageClass() client.Object {
	return &storagev1.StorageClass{
		TypeMeta:    metav1.TypeMeta{APIVersion: storagev1.SchemeGroupVersion.String(), Kind: "StorageClass"},
		ObjectMeta:  metav1.ObjectMeta{Name: efsClass, Annotations: map[string]string{resourcesv1alpha1.DeleteOnInvalidUpdate: "true"}},
		Provisioner: efsDriver,
		Parameters: map[string]string{
			"provisioningMode": "efs-ap", "fileSystemId": in.infrastructure.ElasticFileSystem.ID, "directoryPerms": "700",
		},
	}
}
