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

// generator makes things out of few names, so that they meet.
type generator struct{ *rand.Rand }

func (g generator) name() string { return string(rune('a' + g.IntN(5))) }

func randomItems[T any](g generator, one func() T) []T {
	items := make([]T, 0, 4)
	for range g.IntN(5) {
		items = append(items, one())
	}
	return items
}

// argument is a flag in one of its forms, or a value that belongs to the flag before it, or to nobody.
func (g generator) argument() string {
	return []string{"--" + g.name(), "--" + g.name() + "=" + g.name(), g.name(), "--" + g.name() + g.name() + "=1"}[g.IntN(4)]
}

func (g generator) setFlags() map[string]string {
	flags := map[string]string{}
	for _, name := range randomItems(g, g.name) {
		flags["--"+name] = g.name()
	}
	return flags
}

func (g generator) volume() corev1.Volume {
	return corev1.Volume{Name: g.name(), VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: g.name()}}}
}

func (g generator) mount() corev1.VolumeMount {
	return corev1.VolumeMount{Name: g.name(), MountPath: g.name()}
}

func (g generator) pod() Pod {
	pod := Pod{
		SetFlags:    g.setFlags(),
		DropFlags:   randomItems(g, func() string { return "--" + g.name() }),
		DropVolumes: randomItems(g, g.name),
		DropLabels:  randomItems(g, g.name),
		AddVolumes:  randomItems(g, g.volume),
		SetEntries:  map[string]map[string]string{"--" + g.name(): {g.name(): g.name()}},
		DropEnv:     randomItems(g, g.name),
	}
	for _, volume := range pod.AddVolumes {
		pod.AddMounts = append(pod.AddMounts, corev1.VolumeMount{Name: volume.Name, MountPath: g.name()})
	}
	return pod
}

func (g generator) deployment() *appsv1.Deployment {
	deployment := deploymentWith(append([]string{"/kube-thing"}, randomItems(g, g.argument)...), randomItems(g, g.argument))
	deployment.Spec.Template.Labels[g.name()] = g.name()
	deployment.Spec.Template.Spec.Volumes = randomItems(g, g.volume)
	for i := range deployment.Spec.Template.Spec.Containers {
		deployment.Spec.Template.Spec.Containers[i].VolumeMounts = randomItems(g, g.mount)
	}
	return deployment
}

func (g generator) kubelet() Kubelet {
	return Kubelet{
		SetFlags:    g.setFlags(),
		StartBefore: randomItems(g, func() string { return "/" + g.name() }),
		Config:      map[string]any{g.name(): g.IntN(3), g.name(): []string{g.name()}},
	}
}

func (g generator) nodes() *extensionsv1alpha1.OperatingSystemConfig {
	config := nodeConfig()
	command := "[Service]\nExecStartPre=/" + g.name() + "\nExecStart=/kubelet"
	for _, argument := range randomItems(g, g.argument) {
		command += []string{" ", " \\\n    "}[g.IntN(2)] + argument
	}
	config.Spec.Units[1].Content = &command
	config.Spec.Files[0] = extensionsv1alpha1.File{
		Path: kernelSettingsPath, Content: inline(fmt.Sprintf("%s = 1\n%s=2\n#%s", g.name(), g.name(), g.name())),
	}
	config.Spec.Files[1].Content = inline(fmt.Sprintf("kind: KubeletConfiguration\n%s: %d\n", g.name(), g.IntN(3)))
	return config
}

func (g generator) tuning() Tuning {
	return Tuning{
		Kubelet: g.kubelet(),
		Units:   randomItems(g, func() extensionsv1alpha1.Unit { return extensionsv1alpha1.Unit{Name: g.name(), Content: new(g.name())} }),
		Files: randomItems(g, func() extensionsv1alpha1.File {
			return extensionsv1alpha1.File{Path: g.name(), Content: inline(g.name())}
		}),
		Sysctls: map[string]string{g.name(): g.name()},
	}
}

func TestTune_Idempotent(t *testing.T) {
	for seed := range uint64(600) {
		g := generator{rand.New(rand.NewPCG(seed, 0))}
		deployment, pod := g.deployment(), g.pod()
		require.NoError(t, TuneKubeControllerManager(deployment, pod))
		once := deployment.DeepCopy()
		require.NoError(t, TuneKubeControllerManager(deployment, pod))
		require.Empty(t, cmp.Diff(once, deployment), "seed %d", seed)

		config, tuning := g.nodes(), g.tuning()
		require.NoError(t, TuneOperatingSystemConfig(config, tuning))
		tuned := config.DeepCopy()
		require.NoError(t, TuneOperatingSystemConfig(config, tuning))
		require.Empty(t, cmp.Diff(tuned, config), "seed %d", seed)
	}
}
