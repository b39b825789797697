package seednode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newTestPod returns a pod of a node that has a program for containers of the image "known". It does not run.
func newTestPod(t *testing.T, spec corev1.PodSpec) *pod {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, nil, 0o600))
	n := &node{
		Config:   Config{Dir: t.TempDir(), Programs: func(image, _ string) (string, bool) { return program, image == "known" }, Log: t.Output()},
		stopping: closed(), standIns: &standIns{},
	}
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pod", UID: "1234"}, Spec: spec}
	return newPod(n, object, n.Address)
}

func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestMounts(t *testing.T) {
	spec := corev1.PodSpec{
		Volumes: []corev1.Volume{
			{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "conf", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{
				{Path: "name", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}},
			}}}},
		},
		Containers: []corev1.Container{
			{Name: "unknown", Image: "unknown"},
			{
				Name: "main", Image: "known", Command: []string{"/opt/it's"}, SecurityContext: &corev1.SecurityContext{ReadOnlyRootFilesystem: new(true)},
				VolumeMounts: []corev1.VolumeMount{
					{Name: "data", MountPath: "/conf/data"},
					{Name: "conf", MountPath: "/conf/"},
					{Name: "conf", MountPath: "/name", SubPath: "name"},
					{Name: "data", MountPath: "/part", SubPath: "part", ReadOnly: true},
				},
			},
		},
	}
	p := newTestPod(t, spec)
	require.NoError(t, p.writeVolumes(t.Context(), p.view()))
	require.NoError(t, p.containers[1].prepare())
	mounts, err := p.mounts()
	require.NoError(t, err)
	require.NoError(t, createMountPoints(mounts))
	root, volumes := filepath.Join(p.dir, "roots/main"), filepath.Join(p.dir, "volumes")
	readable := strings.NewReplacer(root, "ROOT", volumes, "VOLUMES", p.containers[1].program, "PROGRAM").Replace(mountScript("pod", mounts))
	assert.Equal(t, `hostname 'pod'
mount --bind -o ro 'ROOT' 'ROOT'
mount --rbind '/dev' 'ROOT/dev'
mount --rbind '/proc' 'ROOT/proc'
mount --bind -o ro 'VOLUMES/conf' 'ROOT/conf'
mount --bind -o ro 'VOLUMES/conf/name' 'ROOT/name'
mount --bind -o ro 'VOLUMES/data/part' 'ROOT/part'
mount --bind -o ro 'PROGRAM' 'ROOT/opt/it'\''s'
mount --bind 'VOLUMES/data' 'ROOT/conf/data'
echo mounted
exec sleep infinity`, readable)
	assert.DirExists(t, filepath.Join(volumes, "conf/data"), "the mount point of a mount below another one")
	assert.FileExists(t, filepath.Join(root, "opt/it's"))
	assert.FileExists(t, filepath.Join(root, "name"))
	assert.DirExists(t, filepath.Join(volumes, "data/part"))
}

func TestMounts_Errors(t *testing.T) {
	volumes := []corev1.Volume{{Name: "conf", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{}}}}
	for description, test := range map[string]struct {
		mount corev1.VolumeMount
		want  string
	}{
		"an unknown volume":                 {corev1.VolumeMount{Name: "none", MountPath: "/x"}, "mount path /x is not supported here"},
		"a part with variables":             {corev1.VolumeMount{Name: "conf", MountPath: "/x", SubPathExpr: "$(A)"}, "mount path /x is not supported here"},
		"a part that the Secret never has ": {corev1.VolumeMount{Name: "conf", MountPath: "/x", SubPath: "none"}, "no such file"},
	} {
		t.Run(description, func(t *testing.T) {
			container := corev1.Container{Name: "main", Image: "known", VolumeMounts: []corev1.VolumeMount{test.mount}}
			p := newTestPod(t, corev1.PodSpec{Volumes: volumes, Containers: []corev1.Container{container}})
			require.NoError(t, p.writeVolumes(t.Context(), p.view()))
			_, err := p.mounts()
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestContainer_Path(t *testing.T) {
	for _, test := range []struct {
		command []string
		want    string
	}{
		{nil, "/usr/local/bin/program"},
		{[]string{"/opt/bin/server", "--flag"}, "/opt/bin/server"},
		{[]string{"server"}, "/usr/local/bin/server"},
	} {
		p := newTestPod(t, corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "known", Command: test.command}}})
		assert.Equal(t, test.want, p.containers[0].path())
	}
}
