package tuning

import (
	"fmt"
	"math/rand/v2"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// dice makes things out of few names, so that they meet.
type dice struct{ *rand.Rand }

func (d dice) name() string { return string(rune('a' + d.IntN(5))) }

func some[T any](d dice, one func() T) []T {
	items := make([]T, 0, 4)
	for range d.IntN(5) {
		items = append(items, one())
	}
	return items
}

// argument is a flag in one of its forms, or a value that belongs to the flag before it, or to nobody.
func (d dice) argument() string {
	return []string{"--" + d.name(), "--" + d.name() + "=" + d.name(), d.name(), "--" + d.name() + d.name() + "=1"}[d.IntN(4)]
}

func (d dice) setFlags() map[string]string {
	flags := map[string]string{}
	for _, name := range some(d, d.name) {
		flags["--"+name] = d.name()
	}
	return flags
}

func (d dice) volume() corev1.Volume {
	return corev1.Volume{Name: d.name(), VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: d.name()}}}
}

func (d dice) mount() corev1.VolumeMount {
	return corev1.VolumeMount{Name: d.name(), MountPath: d.name()}
}

func (d dice) pod() Pod {
	pod := Pod{
		SetFlags:    d.setFlags(),
		DropFlags:   some(d, func() string { return "--" + d.name() }),
		DropVolumes: some(d, d.name),
		DropLabels:  some(d, d.name),
		AddVolumes:  some(d, d.volume),
	}
	for _, volume := range pod.AddVolumes {
		pod.AddMounts = append(pod.AddMounts, corev1.VolumeMount{Name: volume.Name, MountPath: d.name()})
	}
	return pod
}

func (d dice) deployment() *appsv1.Deployment {
	deployment := component(append([]string{"/kube-thing"}, some(d, d.argument)...), some(d, d.argument))
	deployment.Spec.Template.Labels[d.name()] = d.name()
	deployment.Spec.Template.Spec.Volumes = some(d, d.volume)
	for i := range deployment.Spec.Template.Spec.Containers {
		deployment.Spec.Template.Spec.Containers[i].VolumeMounts = some(d, d.mount)
	}
	return deployment
}

func (d dice) kubelet() Kubelet {
	return Kubelet{
		SetFlags:    d.setFlags(),
		StartBefore: some(d, func() string { return "/" + d.name() }),
		Config:      map[string]any{d.name(): d.IntN(3), d.name(): []string{d.name()}},
	}
}

func (d dice) nodes() *extensionsv1alpha1.OperatingSystemConfig {
	config := nodes()
	command := "[Service]\nExecStartPre=/" + d.name() + "\nExecStart=/kubelet"
	for _, argument := range some(d, d.argument) {
		command += []string{" ", " \\\n    "}[d.IntN(2)] + argument
	}
	config.Spec.Units[1].Content = &command
	config.Spec.Files[1].Content = inline(fmt.Sprintf("kind: KubeletConfiguration\n%s: %d\n", d.name(), d.IntN(3)))
	return config
}

func (d dice) tuning() Tuning {
	return Tuning{
		Kubelet: d.kubelet(),
		Units:   some(d, func() extensionsv1alpha1.Unit { return extensionsv1alpha1.Unit{Name: d.name(), Content: new(d.name())} }),
		Files: some(d, func() extensionsv1alpha1.File {
			return extensionsv1alpha1.File{Path: d.name(), Content: inline(d.name())}
		}),
	}
}

func TestASecondPassOfWhateverTuningChangesNothing(t *testing.T) {
	for seed := range uint64(600) {
		d := dice{rand.New(rand.NewPCG(seed, 0))}
		deployment, pod := d.deployment(), d.pod()
		require.NoError(t, TuneKubeControllerManager(deployment, pod))
		once := deployment.DeepCopy()
		require.NoError(t, TuneKubeControllerManager(deployment, pod))
		require.Empty(t, cmp.Diff(once, deployment), "seed %d", seed)

		config, tuning := d.nodes(), d.tuning()
		require.NoError(t, TuneOperatingSystemConfig(config, tuning))
		tuned := config.DeepCopy()
		require.NoError(t, TuneOperatingSystemConfig(config, tuning))
		require.Empty(t, cmp.Diff(tuned, config), "seed %d", seed)
	}
}
