package calico

import (
	corev1 "k8s.io/api/core/v1"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// These are the paths on the node's disk that calico-node needs.
const (
	volumeModules    = "lib-modules"
	volumeVarRun     = "var-run-calico"
	volumeVarLib     = "var-lib-calico"
	volumeXTables    = "xtables-lock"
	volumeCNIBin     = "cni-bin-dir"
	volumeCNINet     = "cni-net-dir"
	volumeCNILog     = "cni-log-dir"
	volumePolicySync = "policysync"
	volumeHostLocal  = "host-local-net-dir"
	volumeSys        = "sys-fs"
	volumeBPF        = "bpffs"
	volumeProc       = "nodeproc"
)

func (s *settings) nodeVolumes() []corev1.Volume {
	volumes := []corev1.Volume{
		onNode(volumeModules, "/lib/modules", corev1.HostPathUnset),
		onNode(volumeVarRun, "/var/run/calico", corev1.HostPathDirectoryOrCreate),
		onNode(volumeVarLib, "/var/lib/calico", corev1.HostPathDirectoryOrCreate),
		onNode(volumeXTables, "/run/xtables.lock", corev1.HostPathFileOrCreate),
		onNode(volumeCNIBin, "/opt/cni/bin", corev1.HostPathDirectoryOrCreate),
		onNode(volumeCNINet, "/etc/cni/net.d", corev1.HostPathUnset),
		onNode(volumeCNILog, "/var/log/calico/cni", corev1.HostPathUnset),
		onNode(volumePolicySync, "/var/run/nodeagent", corev1.HostPathDirectoryOrCreate),
		onNode(volumeBPF, "/sys/fs/bpf", corev1.HostPathDirectory),
	}
	if s.usesCalicoIPAM() {
		volumes = append(volumes, onNode(volumeHostLocal, "/var/lib/cni/networks", corev1.HostPathUnset))
	}
	if s.form.BPF {
		volumes = append(volumes,
			onNode(volumeSys, "/sys/fs", corev1.HostPathDirectoryOrCreate),
			onNode(volumeProc, "/proc", corev1.HostPathUnset),
		)
	}
	return volumes
}

// felixMounts always include the file system of eBPF: when eBPF is off, Felix detaches the programs that it finds there, which would otherwise continue
// to route what processes of the node send to Services.
func felixMounts() []corev1.VolumeMount {
	return []corev1.VolumeMount{
		{Name: volumeCNINet, MountPath: "/host/etc/cni/net.d"},
		{Name: volumeModules, MountPath: "/lib/modules", ReadOnly: true},
		{Name: volumeXTables, MountPath: "/run/xtables.lock"},
		{Name: volumeVarRun, MountPath: "/var/run/calico"},
		{Name: volumeVarLib, MountPath: "/var/lib/calico"},
		{Name: volumePolicySync, MountPath: "/var/run/nodeagent"},
		{Name: volumeCNILog, MountPath: "/var/log/calico/cni", ReadOnly: true},
		{Name: volumeBPF, MountPath: "/sys/fs/bpf"},
	}
}

func onNode(name, path string, kind corev1.HostPathType) corev1.Volume {
	source := &corev1.HostPathVolumeSource{Path: path}
	if kind != corev1.HostPathUnset {
		source.Type = &kind
	}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: source}}
}

func (s *settings) usesCalicoIPAM() bool { return s.form.IPAM == calicov1alpha1.IPAMCalico }
