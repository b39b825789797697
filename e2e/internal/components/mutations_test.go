package components

import (
	"os"
	"slices"
	"strings"
	"testing"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/component/extensions/operatingsystemconfig/original/components/kubelet"
	"github.com/gardener/gardener/pkg/component/extensions/operatingsystemconfig/utils"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// The driver's mutations of the files have the same result as Gardener's library functions for extensions, which the driver does not use.
func TestMutations_SameAsGardener(t *testing.T) {
	for _, version := range []string{"1.32", "1.36"} {
		t.Run(version, func(t *testing.T) {
			t.Run("kube-apiserver", func(t *testing.T) {
				before, after := deployments(t, version, "kube-apiserver")
				container := extensionswebhook.ContainerWithName(before.Spec.Template.Spec.Containers, "kube-apiserver")
				container.Args = extensionswebhook.EnsureNoStringWithPrefix(container.Args, "--cloud-provider=")
				container.Args = extensionswebhook.EnsureNoStringWithPrefix(container.Args, "--cloud-config=")
				assert.Equal(t, before, after)
			})
			t.Run("kube-controller-manager", func(t *testing.T) {
				before, after := deployments(t, version, "kube-controller-manager")
				pod := &before.Spec.Template.Spec
				container := extensionswebhook.ContainerWithName(pod.Containers, "kube-controller-manager")
				container.Command = extensionswebhook.EnsureStringWithPrefix(container.Command, "--cloud-provider=", "external")
				for _, flag := range []string{"--cloud-config=", "--external-cloud-volume-plugin="} {
					container.Command = extensionswebhook.EnsureNoStringWithPrefix(container.Command, flag)
				}
				for _, volume := range []string{"etc-ssl", "usr-share-ca-certificates"} {
					container.VolumeMounts = extensionswebhook.EnsureNoVolumeMountWithName(container.VolumeMounts, volume)
					pod.Volumes = extensionswebhook.EnsureNoVolumeWithName(pod.Volumes, volume)
				}
				assert.Equal(t, before, after)
			})
			t.Run("osc-provision", func(t *testing.T) {
				before, after := configs(t, version, "osc-provision")
				assert.Equal(t, before, after)
			})
			t.Run("osc-reconcile", func(t *testing.T) {
				before, after := configs(t, version, "osc-reconcile")
				checkKubeletConfig(t, file(t, before), file(t, after))
				checkKubeletUnit(t, *unit(t, before).Content, *unit(t, after).Content)
				unit(t, before).Content, file(t, before).Content = unit(t, after).Content, file(t, after).Content
				for _, name := range []string{"update-resolv-conf.path", "update-resolv-conf.service"} {
					before.Spec.Units = append(before.Spec.Units, *extensionswebhook.UnitWithName(after.Spec.Units, name))
				}
				before.Spec.Files = append(before.Spec.Files, *extensionswebhook.FileWithPath(after.Spec.Files, "/opt/bin/update-resolv-conf.sh"))
				assert.Equal(t, before, after, "nothing else")
			})
		})
	}
}

// checkKubeletConfig compares bytes: Gardener's code would drop a field that the kubelet does not know.
func checkKubeletConfig(t *testing.T, before, after *extensionsv1alpha1.File) {
	t.Helper()
	codec := kubelet.NewConfigCodec(utils.NewFileContentInlineCodec())
	config, err := codec.Decode(before.Content.Inline)
	require.NoError(t, err)
	config.EnableControllerAttachDetach, config.ResolverConfig = new(true), new("/etc/resolv-for-kubelet.conf")
	want, err := codec.Encode(config, before.Content.Inline.Encoding)
	require.NoError(t, err)
	assert.Equal(t, want, after.Content.Inline)
}

func checkKubeletUnit(t *testing.T, before, after string) {
	t.Helper()
	serializer := utils.NewUnitSerializer()
	want, err := serializer.Deserialize(before)
	require.NoError(t, err)
	got, err := serializer.Deserialize(after)
	require.NoError(t, err)
	for i, option := range got {
		if option.Name == "ExecStartPre" {
			assert.Equal(t, "Service", option.Section)
			assert.True(t, strings.HasPrefix(option.Value, "/bin/sh -c '") && strings.Contains(option.Value, "hostnamectl set-hostname"), option.Value)
			got = slices.Delete(got, i, i+1)
			break
		}
	}
	command := extensionswebhook.UnitOptionWithSectionAndName(want, "Service", "ExecStart")
	words := extensionswebhook.EnsureStringWithPrefix(extensionswebhook.DeserializeCommandLine(command.Value), "--cloud-provider=", "external")
	command.Value = extensionswebhook.SerializeCommandLine(words, 1, " \\\n    ")
	tuned := extensionswebhook.UnitOptionWithSectionAndName(got, "Service", "ExecStart")
	tuned.Value = extensionswebhook.SerializeCommandLine(extensionswebhook.DeserializeCommandLine(tuned.Value), 1, " \\\n    ")
	assert.Equal(t, want, got)
}

func unit(t *testing.T, config *extensionsv1alpha1.OperatingSystemConfig) *extensionsv1alpha1.Unit {
	t.Helper()
	found := extensionswebhook.UnitWithName(config.Spec.Units, kubelet.UnitName)
	require.NotNil(t, found)
	return found
}

func file(t *testing.T, config *extensionsv1alpha1.OperatingSystemConfig) *extensionsv1alpha1.File {
	t.Helper()
	found := extensionswebhook.FileWithPath(config.Spec.Files, kubelet.PathKubeletConfig)
	require.NotNil(t, found)
	return found
}

func deployments(t *testing.T, version, name string) (before, after *appsv1.Deployment) {
	t.Helper()
	before, after = &appsv1.Deployment{}, &appsv1.Deployment{}
	readGolden(t, version, name, before, after)
	return before, after
}

func configs(t *testing.T, version, name string) (before, after *extensionsv1alpha1.OperatingSystemConfig) {
	t.Helper()
	before, after = &extensionsv1alpha1.OperatingSystemConfig{}, &extensionsv1alpha1.OperatingSystemConfig{}
	readGolden(t, version, name, before, after)
	return before, after
}

func readGolden(t *testing.T, version, name string, before, after any) {
	t.Helper()
	for suffix, object := range map[string]any{".before.yaml": before, ".after.yaml": after} {
		raw, err := os.ReadFile(goldenFile(t, version, name+suffix))
		require.NoError(t, err)
		require.NoError(t, yaml.UnmarshalStrict(raw, object))
	}
}
