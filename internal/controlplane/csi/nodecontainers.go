package csi

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

// nodeContainer is a container of a DaemonSet, with its mounts of the node.
type nodeContainer struct {
	component.Container
	hostMounts []corev1.VolumeMount
	// privileged is true for the container that mounts file systems for pods.
	privileged bool
}

// nodeContainers returns the containers in their order in the pod.
func (d Driver) nodeContainers() []nodeContainer {
	node := d.Node
	socket := corev1.VolumeMount{Name: pluginVolume, MountPath: socketFolder}
	containers := []nodeContainer{{
		Container: withLivenessProbe(node.Plugin, node.HealthPort), hostMounts: []corev1.VolumeMount{socket},
	}}
	if node.Mounter != nil {
		containers = append(containers, nodeContainer{Container: *node.Mounter})
	}
	mounter := &containers[len(containers)-1]
	mounter.privileged, mounter.hostMounts = true, slices.Concat(mounter.hostMounts, d.hostVolumeMounts())
	for _, extra := range node.Extra {
		containers = append(containers, nodeContainer{Container: extra})
	}
	return append(containers,
		nodeContainer{
			Container: d.registrar(), hostMounts: []corev1.VolumeMount{socket, {Name: registrationVolume, MountPath: "/registration"}},
		},
		nodeContainer{
			Container: livenessProbe(node.ContainerPrefix, node.HealthPort), hostMounts: []corev1.VolumeMount{socket},
		},
	)
}

// build returns the container. The file system of one that mounts is writable: it creates mount points there.
func (c nodeContainer) build(image string) corev1.Container {
	container := c.Build(image)
	container.VolumeMounts = slices.Concat(c.hostMounts, container.VolumeMounts)
	if c.privileged {
		container.SecurityContext = &corev1.SecurityContext{Privileged: new(true), AllowPrivilegeEscalation: new(true)}
	}
	return container
}

// registrar registers the plugin's socket with the kubelet.
func (d Driver) registrar() component.Container {
	return component.Container{
		Name:     d.Node.ContainerPrefix + "node-driver-registrar",
		Image:    "csi-node-driver-registrar",
		Args:     []string{"--csi-address=" + socketPath, "--kubelet-registration-path=" + path.Join(d.pluginFolder(), path.Base(socketPath)), "--v=3"},
		Requests: requests("32Mi"),
	}
}

// pluginFolder is the kubelet's folder for the socket.
func (d Driver) pluginFolder() string { return path.Join(kubeletFolder, "plugins", d.Name) }

// hostVolumeMounts are the mounts of the container that mounts. Mounts below the kubelet's folder are propagated to the host, where the pods are that use
// them.
func (d Driver) hostVolumeMounts() []corev1.VolumeMount {
	mounts := []corev1.VolumeMount{{
		Name: kubeletVolume, MountPath: kubeletFolder, MountPropagation: new(corev1.MountPropagationBidirectional),
	}}
	for _, folder := range d.Node.HostFolders {
		mount := corev1.VolumeMount{Name: folder.Name, MountPath: folder.Path}
		if folder.Propagation != "" {
			mount.MountPropagation = new(folder.Propagation)
		}
		mounts = append(mounts, mount)
	}
	return mounts
}

// hostVolumes are the node's folders that the pod mounts.
func (d Driver) hostVolumes() []corev1.Volume {
	volumes := []corev1.Volume{
		hostVolume(kubeletVolume, kubeletFolder, corev1.HostPathDirectory),
		hostVolume(pluginVolume, d.pluginFolder(), corev1.HostPathDirectoryOrCreate),
		hostVolume(registrationVolume, path.Join(kubeletFolder, "plugins_registry"), corev1.HostPathDirectory),
	}
	for _, folder := range d.Node.HostFolders {
		volumes = append(volumes, hostVolume(folder.Name, folder.HostPath, folder.Type))
	}
	return volumes
}

func hostVolume(name, folder string, kind corev1.HostPathType) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: folder, Type: &kind}}}
}
