package tuning

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// TuneKubeAPIServer changes the Deployment kube-apiserver. It refuses a tuning of flags by which Gardener exposes the API server:
// gardener/docs/extensions/controlplane-webhooks.md reserves them.
func TuneKubeAPIServer(deployment *appsv1.Deployment, pod Pod) error {
	for _, reserved := range []string{"--advertise-address", "--endpoint-reconciler-type"} {
		if _, set := pod.SetFlags[reserved]; set || slices.Contains(pod.DropFlags, reserved) {
			return fmt.Errorf("tuning %s: the flag %s is Gardener's own", describe("Deployment", deployment), reserved)
		}
	}
	return tuneDeployment(deployment, pod)
}

// TuneKubeControllerManager changes the Deployment kube-controller-manager.
func TuneKubeControllerManager(deployment *appsv1.Deployment, pod Pod) error {
	return tuneDeployment(deployment, pod)
}

// TuneKubeScheduler changes the Deployment kube-scheduler.
func TuneKubeScheduler(deployment *appsv1.Deployment, pod Pod) error {
	return tuneDeployment(deployment, pod)
}

// TuneClusterAutoscaler changes the Deployment cluster-autoscaler.
func TuneClusterAutoscaler(deployment *appsv1.Deployment, pod Pod) error {
	return tuneDeployment(deployment, pod)
}

func tuneDeployment(deployment *appsv1.Deployment, pod Pod) error {
	template := &deployment.Spec.Template
	main := slices.IndexFunc(template.Spec.Containers, func(c corev1.Container) bool { return c.Name == deployment.Name })
	if main < 0 {
		return nil // whatever this is, it does not run the component
	}
	for _, label := range pod.DropLabels {
		if deployment.Spec.Selector != nil && deployment.Spec.Selector.MatchLabels[label] != "" {
			return fmt.Errorf("tuning %s: spec.template.metadata.labels[%s]: the Deployment selects its pods by this label",
				describe("Deployment", deployment), label)
		}
	}
	for _, label := range pod.DropLabels {
		delete(template.Labels, label)
	}
	added := func(name string) bool {
		return slices.ContainsFunc(pod.AddVolumes, func(v corev1.Volume) bool { return v.Name == name })
	}
	dropVolumes(&template.Spec, without(pod.DropVolumes, added))
	for _, volume := range pod.AddVolumes {
		template.Spec.Volumes = upsert(template.Spec.Volumes, *volume.DeepCopy(), func(v corev1.Volume) string { return v.Name })
	}
	container := &template.Spec.Containers[main]
	for _, mount := range pod.AddMounts {
		container.VolumeMounts = upsert(container.VolumeMounts, *mount.DeepCopy(), func(m corev1.VolumeMount) string { return m.MountPath })
	}
	container.Env = slices.DeleteFunc(container.Env, func(variable corev1.EnvVar) bool { return slices.Contains(pod.DropEnv, variable.Name) })
	tuneFlags(container, pod)
	return nil
}

func dropVolumes(pod *corev1.PodSpec, names []string) {
	pod.Volumes = slices.DeleteFunc(pod.Volumes, func(v corev1.Volume) bool { return slices.Contains(names, v.Name) })
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			containers[i].VolumeMounts = slices.DeleteFunc(containers[i].VolumeMounts, func(m corev1.VolumeMount) bool {
				return slices.Contains(names, m.Name)
			})
		}
	}
}

// tuneFlags changes flags in command and args: Gardener writes those of the kube-apiserver to args, those of the kube-controller-manager to command.
func tuneFlags(container *corev1.Container, pod Pod) {
	set := func(flag string) bool {
		_, set := pod.SetFlags[flag]
		_, entries := pod.SetEntries[flag]
		return set || entries
	}
	for _, flag := range without(pod.DropFlags, set) {
		container.Command = dropFlag(container.Command, flag)
		container.Args = dropFlag(container.Args, flag)
	}
	flags := maps.Clone(pod.SetFlags)
	for flag, entries := range pod.SetEntries {
		if flags == nil {
			flags = map[string]string{}
		}
		flags[flag] = setEntries(slices.Concat(container.Command, container.Args), flag, entries)
	}
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		inCommand := replaceFlag(&container.Command, flag, flags[flag])
		inArgs := replaceFlag(&container.Args, flag, flags[flag])
		switch assignment := flag + "=" + flags[flag]; {
		case inCommand || inArgs:
		case len(container.Args) > 0:
			container.Args = append(container.Args, assignment)
		default:
			container.Command = append(container.Command, assignment)
		}
	}
}

// without leaves out what is both dropped and added: only then a second call changes nothing.
func without(names []string, excluded func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(names), excluded)
}

// upsert replaces the first item with the same key, or appends.
func upsert[Item any](items []Item, item Item, key func(Item) string) []Item {
	if i := slices.IndexFunc(items, func(other Item) bool { return key(other) == key(item) }); i >= 0 {
		items[i] = item
		return items
	}
	return append(items, item)
}
