package component_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

func TestContainer_Build(t *testing.T) {
	plugin := component.Container{
		Name: "plugin", Command: []string{"/bin/plugin"}, Args: []string{"--v=3"},
		Requests:    corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("11m")},
		Files:       []component.Files{{Source: "cloud", Path: "/etc/cloud"}, {Source: component.CABundleOf("peer"), Path: "/etc/peer"}},
		ShootAccess: "csi-plugin",
		Shared:      []component.SharedFolder{{Name: "socket", Path: "/csi"}},
	}
	built := plugin.Build("registry/plugin:v1")

	assert.Equal(t, "plugin", built.Name)
	assert.Equal(t, "registry/plugin:v1", built.Image)
	assert.Equal(t, []string{"/bin/plugin"}, built.Command)
	assert.Equal(t, []string{"--v=3"}, built.Args)
	assert.Equal(t, plugin.Requests, built.Resources.Requests)
	assert.Empty(t, built.Resources.Limits)
	assert.Equal(t, []corev1.VolumeMount{
		{Name: "cloud", MountPath: "/etc/cloud", ReadOnly: true},
		{Name: "peer-ca", MountPath: "/etc/peer", ReadOnly: true},
		{Name: "kubeconfig-csi-plugin", MountPath: "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig", ReadOnly: true},
		{Name: "socket", MountPath: "/csi"},
	}, built.VolumeMounts)
	assert.False(t, *built.SecurityContext.AllowPrivilegeEscalation)
	assert.True(t, *built.SecurityContext.ReadOnlyRootFilesystem)
	assert.Equal(t, []corev1.Capability{"ALL"}, built.SecurityContext.Capabilities.Drop)
}

func TestVolumes(t *testing.T) {
	values := component.Values{GenericKubeconfig: "generic-1a2b3c4d", Secrets: map[string]string{"cloud": "cloud-5e6f7a8b", "peer/ca": "ca-peer-bundle-9c0d1e2f"}}
	socket := []component.SharedFolder{{Name: "socket", Path: "/csi"}}
	volumes, err := component.Volumes([]component.Container{
		{Name: "plugin", Files: []component.Files{{Source: "cloud", Path: "/etc/cloud"}}, Shared: socket},
		{Name: "sidecar", ShootAccess: "csi-sidecar", Shared: []component.SharedFolder{{Name: "socket", Path: "/elsewhere"}}},
		{Name: "second", ShootAccess: "csi-sidecar", Files: []component.Files{{Source: "cloud", Path: "/other"}, {Source: "peer/ca", Path: "/etc/peer"}}},
	}, values)
	require.NoError(t, err)
	projection := func(secret, key string) corev1.VolumeProjection {
		return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: secret},
			Items:                []corev1.KeyToPath{{Key: key, Path: key}}, Optional: new(false),
		}}
	}
	assert.Empty(t, cmp.Diff([]corev1.Volume{
		{Name: "cloud", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "cloud-5e6f7a8b", DefaultMode: new(int32(0o440))}}},
		{Name: "kubeconfig-csi-sidecar", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			DefaultMode: new(int32(420)),
			Sources: []corev1.VolumeProjection{
				projection("generic-1a2b3c4d", "kubeconfig"),
				projection("shoot-access-csi-sidecar", "token"),
			},
		}}},
		{Name: "peer-ca", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "ca-peer-bundle-9c0d1e2f", DefaultMode: new(int32(0o440))}}},
		{Name: "socket", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}, volumes))
}

func TestVolumes_Errors(t *testing.T) {
	for name, test := range map[string]struct {
		containers []component.Container
		complaint  string
	}{
		"files that the plan has not": {
			[]component.Container{{Name: "plugin", Files: []component.Files{{Source: "cluod", Path: "/etc/cloud"}}}},
			`container "plugin" mounts "cluod", which the plan has not`,
		},
		"a shared folder with the name of files": {
			[]component.Container{{Files: []component.Files{{Source: "cloud", Path: "/a"}}, Shared: []component.SharedFolder{{Name: "cloud", Path: "/b"}}}},
			`two volumes of one pod are called "cloud"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := component.Volumes(test.containers, component.Values{Secrets: map[string]string{"cloud": "cloud-5e6f7a8b"}})
			assert.ErrorContains(t, err, test.complaint)
		})
	}
}
