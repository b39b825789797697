package tuning

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
)

// Scope is what a Tuning is asked for.
type Scope int

const (
	// ControlPlane is KubeAPIServer and KubeControllerManager.
	ControlPlane Scope = iota
	// Nodes is Kubelet, Units and Files.
	Nodes
)

// Tuning is what a cloud wants to be different. The zero value changes nothing.
type Tuning struct {
	// KubeAPIServer and KubeControllerManager are Deployments in the shoot's namespace.
	KubeAPIServer, KubeControllerManager Pod
	// Kubelet is tuned in the OperatingSystemConfigs that reconcile nodes.
	Kubelet Kubelet
	// Units and Files are added to these OperatingSystemConfigs, or replace those of the same name or path.
	Units []extensionsv1alpha1.Unit
	Files []extensionsv1alpha1.File
}

// Pod is what has to be different in a Deployment with one main container, which has the Deployment's name.
type Pod struct {
	// SetFlags maps flags ("--cloud-provider") to their values; DropFlags are taken away. Other flags stay, in their order.
	SetFlags  map[string]string
	DropFlags []string
	// DropVolumes are taken away by name, with their mounts in all containers.
	DropVolumes []string
	// DropLabels are taken away from the pods.
	DropLabels []string
	// AddVolumes are added, or replace those of the same name. AddMounts are added to the main container, or replace those of
	// the same path.
	AddVolumes []corev1.Volume
	AddMounts  []corev1.VolumeMount
}

// Kubelet is what has to be different in the unit and in the configuration of the kubelet.
type Kubelet struct {
	// SetFlags maps flags of the command line to their values.
	SetFlags map[string]string
	// StartBefore are command lines that the unit runs before the kubelet (ExecStartPre).
	StartBefore []string
	// Config holds fields of KubeletConfiguration (kubelet.config.k8s.io/v1beta1) by their JSON names, e.g.
	// "enableControllerAttachDetach" or "resolvConf". They win over what is there.
	Config map[string]any
}
