package component

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Build returns the container of a pod, with mounts of all that Volumes provides. It has no privileges and no capabilities, and its file system is
// read-only; callers that need more change the result.
func (c Container) Build(image string) corev1.Container {
	return corev1.Container{
		Name:            c.Name,
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         c.Command,
		Args:            c.Args,
		Env:             c.Env,
		Ports:           c.Ports,
		LivenessProbe:   c.Liveness,
		Resources:       corev1.ResourceRequirements{Requests: c.Requests},
		VolumeMounts:    c.mounts(),
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}

func (c Container) mounts() []corev1.VolumeMount {
	var mounts []corev1.VolumeMount
	for _, files := range c.Files {
		mounts = append(mounts, corev1.VolumeMount{Name: files.volumeName(), MountPath: files.Path, ReadOnly: true})
	}
	if c.ShootAccess != "" {
		mounts = append(mounts, corev1.VolumeMount{Name: kubeconfigVolumeName(c.ShootAccess), MountPath: path.Dir(KubeconfigPath), ReadOnly: true})
	}
	for _, shared := range c.Shared {
		mounts = append(mounts, corev1.VolumeMount{Name: shared.Name, MountPath: shared.Path})
	}
	return mounts
}

// Volumes returns the volumes of the containers of one pod, each once, sorted by name. Of the values it needs Secrets, and GenericKubeconfig if a container
// has access to the shoot.
func Volumes(containers []Container, values Values) ([]corev1.Volume, error) {
	var volumes []corev1.Volume
	for _, container := range containers {
		for _, files := range container.Files {
			secret, found := values.Secrets[files.Source]
			if files.Secret != "" {
				secret, found = files.Secret, true
			}
			if !found {
				return nil, fmt.Errorf("container %q mounts %q, which the plan has not", container.Name, files.Source)
			}
			volumes = append(volumes, files.volume(secret))
		}
		if container.ShootAccess != "" {
			volumes = append(volumes, kubeconfigVolume(container.ShootAccess, values.GenericKubeconfig))
		}
		for _, shared := range container.Shared {
			volumes = append(volumes, corev1.Volume{Name: shared.Name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
		}
	}
	slices.SortStableFunc(volumes, func(a, b corev1.Volume) int { return cmp.Compare(a.Name, b.Name) })
	volumes = slices.CompactFunc(volumes, func(a, b corev1.Volume) bool { return equality.Semantic.DeepEqual(a, b) })
	for i := 1; i < len(volumes); i++ {
		if volumes[i].Name == volumes[i-1].Name {
			return nil, fmt.Errorf("two volumes of one pod are called %q: give one of them another name", volumes[i].Name)
		}
	}
	return volumes, nil
}

// volumeName converts the source's name to the characters of a volume's name.
func (f Files) volumeName() string { return strings.ReplaceAll(cmp.Or(f.Secret, f.Source), "/", "-") }

// volume is readable for the pod's group, to which the kubelet assigns it.
func (f Files) volume(secret string) corev1.Volume {
	var items []corev1.KeyToPath
	for _, key := range f.Keys {
		items = append(items, corev1.KeyToPath{Key: key, Path: key})
	}
	return corev1.Volume{Name: f.volumeName(), VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: secret, Items: items, DefaultMode: new(int32(0o440))},
	}}
}
