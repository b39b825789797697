package aws

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
	"github.com/trellis-garden/trellis/internal/controlplane/rbac"
)

const (
	ebsDriver = "ebs.csi.aws.com"
	ebsImage  = "csi-driver"
	// ebsMetricsPort is the port of the controller's metrics.
	ebsMetricsPort = 3301
	// volumeModifier changes volumes by annotations of claims. It is the name of its ServiceAccount, and of its image.
	volumeModifier = "csi-volume-modifier"
)

// ebs is the driver for volumes. It also serves volumes of upstream's extension: the names are the same.
func (in *inputs) ebs() csi.Driver {
	return csi.Driver{
		Name:       ebsDriver,
		Spec:       storagev1.CSIDriverSpec{AttachRequired: new(true), PodInfoOnMount: new(false)},
		Controller: in.ebsController(),
		Node:       in.ebsNode(),
		RolePrefix: rolePrefix,
	}
}

func (in *inputs) ebsController() csi.Controller {
	const more, workers = "--retry-interval-max=10m", "100"
	modify := in.modifyFlags()
	return csi.Controller{
		Name:            "csi-driver-controller",
		Selector:        map[string]string{"app": "csi", "role": "controller"},
		ContainerPrefix: "aws-csi-",
		User:            nonrootUser,
		Plugin: in.withCredentials(component.Container{
			Name:  "aws-csi-driver",
			Image: ebsImage,
			Args: []string{
				"controller",
				"--endpoint=$(CSI_ENDPOINT)",
				"--k8s-tag-cluster-id=" + in.technicalID,
				"--batching=true",
				"--http-endpoint=0.0.0.0:3301",
				"--logtostderr",
				"--v=3",
			},
			Ports:    []corev1.ContainerPort{{Name: "metrics", ContainerPort: ebsMetricsPort, Protocol: corev1.ProtocolTCP}},
			Requests: requests("20m", "60Mi"),
		}),
		Extra: []component.Container{volumeModifierContainer()},
		Sidecars: csi.Sidecars{
			Provisioner: &csi.Sidecar{
				ShootAccess: "csi-provisioner",
				// Strict: a volume is created in the zone of the first pod that uses it.
				Args: slices.Concat([]string{
					"--volume-name-prefix=pv-" + in.technicalID, "--extra-create-metadata=true", "--default-fstype=ext4", "--strict-topology=true",
					"--worker-threads=" + workers, more,
				}, modify),
				// It reads the class of a new volume, since the driver can modify volumes.
				Rules: []rbacv1.PolicyRule{rbac.Rule("storage.k8s.io", "volumeattributesclasses", "get")},
			},
			Attacher: &csi.Sidecar{
				ShootAccess: "csi-attacher", Args: []string{"--timeout=60s", "--retry-interval-max=3m", "--worker-threads=" + workers},
			},
			Snapshotter: &csi.Sidecar{
				ShootAccess: "csi-snapshotter",
				Args: []string{
					"--snapshot-name-prefix=" + in.technicalID, "--extra-create-metadata=true", "--worker-threads=" + workers, "--retry-interval-max=30m",
				},
			},
			Resizer: &csi.Sidecar{
				ShootAccess: "csi-resizer",
				Args:        slices.Concat([]string{"--extra-modify-metadata=true", "--timeout=60s", "--workers=" + workers, more}, modify),
			},
		},
		Egress: []component.Destination{component.PublicNetworks},
		Metrics: &component.Metrics{
			Port: "metrics",
			Keep: []string{
				"aws_ebs_csi_api_request_duration_seconds_count", "aws_ebs_csi_api_request_errors_total", "aws_ebs_csi_api_request_throttles_total",
			},
		},
	}
}

// modifyFlags switch on what VolumeAttributesClasses need of the sidecars, for versions of Kubernetes that do not have them by default.
func (in *inputs) modifyFlags() []string {
	if !needsVolumeAttributesClassGate(in.annotations, in.kubernetesVersion) {
		return nil
	}
	return []string{"--feature-gates=" + volumeAttributesClassGate + "=true"}
}

// volumeModifierContainer works only while the resizer of the same pod is the leader, whose Lease it watches: it needs to know the name of its pod, and the
// namespace of the Lease.
func volumeModifierContainer() component.Container {
	return csi.WithSocket(component.Container{
		Name:  "aws-csi-volume-modifier",
		Image: volumeModifier,
		Args: []string{
			"--csi-address=" + csi.SocketAddress,
			"--kubeconfig=" + component.KubeconfigPath,
			"--leader-election=true",
			"--leader-election-namespace=" + metav1.NamespaceSystem,
			"--v=3",
		},
		Env: []corev1.EnvVar{
			{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}},
			{Name: "POD_NAMESPACE", Value: metav1.NamespaceSystem},
		},
		Requests:    requests("11m", "32Mi"),
		ShootAccess: volumeModifier,
	})
}

func volumeModifierPermissions() rbac.Permissions {
	return rbac.Permissions{
		Name: rolePrefix + volumeModifier, Account: volumeModifier,
		Rules: []rbacv1.PolicyRule{
			rbac.WatchRule("", "persistentvolumes", "patch"),
			rbac.WatchRule("", "persistentvolumeclaims"),
			rbac.Rule("", "events", "list", "watch", "create", "update", "patch"),
		},
		SystemRules: []rbacv1.PolicyRule{rbac.WatchRule("coordination.k8s.io", "leases", "create", "update")},
	}
}

// ebsNode has no credentials: it reads what it needs from the metadata service of its machine.
func (in *inputs) ebsNode() csi.Node {
	args := []string{
		"node",
		"--endpoint=$(CSI_ENDPOINT)",
		"--logtostderr",
		"--v=3",
		"--vmodule=node_*=4,mount*=4,driver=4,controller=4",
	}
	settings := nodeSettings()
	for _, annotation := range slices.Sorted(maps.Keys(settings)) {
		if value := in.annotations[annotation]; value != "" {
			args = append(args, settings[annotation].flag+"="+value)
		}
	}
	return csi.Node{
		Name:            "csi-driver-node",
		Selector:        map[string]string{"app": "csi", "role": "disk-driver"},
		ServiceAccount:  "csi-driver-node",
		ContainerPrefix: "csi-",
		Plugin: component.Container{
			Name:  "csi-driver",
			Image: ebsImage,
			Args:  args,
			Env: []corev1.EnvVar{
				{Name: "CSI_NODE_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "spec.nodeName"}}},
			},
			Requests: requests("15m", "42Mi"),
		},
		HostFolders: []csi.HostFolder{{Name: "device-dir", HostPath: "/dev", Path: "/dev", Type: corev1.HostPathDirectory}},
		HealthPort:  9808,
		Critical:    true,
	}
}
