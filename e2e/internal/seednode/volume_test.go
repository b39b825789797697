package seednode

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/trellis-garden/trellis/e2e/internal/kubelet"
)

func TestVolume(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "secret"}, Data: map[string][]byte{"a": []byte("1"), "b": []byte("1"), "c": []byte("1")}}
	c := fake.NewClientBuilder().WithObjects(secret).Build()
	pod := &kubelet.Pod{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}}, Reader: c}
	source := &corev1.SecretVolumeSource{SecretName: "secret", DefaultMode: new(int32(0o440)), Items: []corev1.KeyToPath{
		{Key: "a", Path: "a"}, {Key: "b", Path: "folder/b"},
	}}
	v := newVolume(&corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{Secret: source}}, filepath.Join(t.TempDir(), "v"))
	require.NoError(t, v.update(t.Context(), pod))
	assert.Equal(t, map[string]string{"a": "1", "folder/b": "1"}, contents(t, v.dir))
	info, err := os.Stat(filepath.Join(v.dir, "a"))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o440), info.Mode())

	open, err := os.Readlink(filepath.Join(v.dir, present))
	require.NoError(t, err)
	require.NoError(t, v.update(t.Context(), pod))
	again, err := os.Readlink(filepath.Join(v.dir, present))
	require.NoError(t, err)
	assert.Equal(t, open, again, "nothing is written if nothing has changed")

	patch := client.MergeFrom(secret.DeepCopy())
	secret.Data["a"], secret.Data["c"] = []byte("2"), []byte("2")
	require.NoError(t, c.Patch(t.Context(), secret, patch))
	source.Items = []corev1.KeyToPath{{Key: "a", Path: "a"}, {Key: "c", Path: "c"}}
	require.NoError(t, v.update(t.Context(), pod))
	assert.Equal(t, map[string]string{"a": "2", "c": "2"}, contents(t, v.dir))
	assert.NoDirExists(t, filepath.Join(v.dir, open), "all files change at once, by one link")
	assert.NoFileExists(t, filepath.Join(v.dir, "folder"))

	source.SecretName = "none"
	require.ErrorContains(t, v.update(t.Context(), pod), `secrets "none" not found`)
	assert.Equal(t, map[string]string{"a": "2", "c": "2"}, contents(t, v.dir), "present files stay")
}

// contents reads what a program finds in a volume: all but hidden names.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "..") {
			continue
		}
		target, err := filepath.EvalSymlinks(filepath.Join(dir, entry.Name()))
		require.NoError(t, err)
		require.NoError(t, filepath.WalkDir(target, func(path string, file fs.DirEntry, err error) error {
			if err != nil || file.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			found[entry.Name()+strings.TrimPrefix(path, target)] = string(content)
			return err
		}))
	}
	return found
}

func TestVolume_OfNode(t *testing.T) {
	dir := t.TempDir()
	empty := newVolume(&corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}, filepath.Join(dir, "empty"))
	require.NoError(t, empty.update(t.Context(), nil))
	info, err := os.Stat(empty.dir)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o777), info.Mode().Perm())

	host := &corev1.HostPathVolumeSource{Path: filepath.Join(dir, "host")}
	v := newVolume(&corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{HostPath: host}}, filepath.Join(dir, "unused"))
	require.ErrorContains(t, v.update(t.Context(), nil), "looking at volume v")
	host.Type = new(corev1.HostPathDirectoryOrCreate)
	require.NoError(t, v.update(t.Context(), nil))
	assert.DirExists(t, host.Path)
}
