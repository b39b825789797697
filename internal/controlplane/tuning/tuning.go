package tuning

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
)

// Scope selects a part of a Tuning.
type Scope int

const (
	// ControlPlane is for KubeAPIServer, KubeControllerManager, KubeScheduler and ClusterAutoscaler.
	ControlPlane Scope = iota
	// Nodes is for Kubelet, Units, Files and Sysctls.
	Nodes
)

// Tuning are a cloud's changes. The zero value changes nothing.
type Tuning struct {
	// KubeAPIServer and the others are Deployments in the shoot's namespace.
	KubeAPIServer, KubeControllerManager, KubeScheduler, ClusterAutoscaler Pod
	// Kubelet is tuned in the OperatingSystemConfigs that reconcile nodes.
	Kubelet Kubelet
	// Units and Files are added to these OperatingSystemConfigs, or replace those of the same name or path.
	Units []extensionsv1alpha1.Unit
	Files []extensionsv1alpha1.File
	// Sysctls are parameters of the kernel by their names. They override Gardener's in its file.
	Sysctls map[string]string
}

// Pod are changes of a Deployment with one main container, which has the Deployment's name.
type Pod struct {
	// SetFlags maps flags ("--cloud-provider") to their values; DropFlags are removed. Other flags stay, in their order.
	SetFlags  map[string]string
	DropFlags []string
	// SetEntries maps flags whose values are lists of key=value ("--feature-gates") to entries. Other entries stay, in their order.
	SetEntries map[string]map[string]string
	// DropEnv are environment variables to remove from the main container.
	DropEnv []string
	// DropVolumes are removed by name, with their mounts in all containers.
	DropVolumes []string
	// DropLabels are removed from the pods.
	DropLabels []string
	// AddVolumes are added, or replace those of the same name. AddMounts are added to the main container, or replace those of
	// the same path.
	AddVolumes []corev1.Volume
	AddMounts  []corev1.VolumeMount
}

// Kubelet are changes of the unit and the configuration of the kubelet.
type Kubelet struct {
	// SetFlags maps flags of the command line to their values.
	SetFlags map[string]string
	// StartBefore are command lines that the unit runs before the kubelet (ExecStartPre).
	StartBefore []string
	// Config has fields of KubeletConfiguration (kubelet.config.k8s.io/v1beta1) by their JSON names, e.g. "enableControllerAttachDetach" or "resolvConf". They
	// override existing ones.
	Config map[string]any
}
