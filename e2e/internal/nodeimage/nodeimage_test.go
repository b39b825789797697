package nodeimage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

func TestEnsure_ImageFromEnvironment(t *testing.T) {
	t.Setenv(Variable, "mirror.example/kindest/node:v1")
	image, err := Ensure(t.Context(), t.Output())
	require.NoError(t, err)
	assert.Equal(t, "mirror.example/kindest/node:v1", image)
	assert.Equal(t, image, Present(t.Context()))
}

func TestDigest(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	sum := func(text string) string {
		sum, err := digest(text, dir)
		require.NoError(t, err)
		return sum
	}
	write("main.go", "package main")
	first := sum("go1")
	assert.Len(t, first, 64)
	assert.NotEqual(t, first, sum("go2"), "another toolchain")
	write("main_test.go", "package main")
	write("testdata/golden", "x")
	write("README.md", "x")
	assert.Equal(t, first, sum("go1"), "what only tests or people read")
	write("main.go", "package main // changed")
	assert.NotEqual(t, first, sum("go1"), "another program")
}

// The build compares the versions of what kubeadm deploys; this test checks that all are pinned.
func TestPinned(t *testing.T) {
	b := sources(t)
	programs, err := b.programs()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, p := range programs {
		names[p.name] = true
		assert.FileExists(t, filepath.Join(b.module(p.module), "go.sum"))
	}
	for _, name := range []string{"kubernetes", "etcd", "containerd", "containerd-shim-runc-v2", "ctr", "runc", "crictl", "coredns", "pause", "cni/ptp", networkAgent, networkRenderer} {
		assert.True(t, names[name], name)
	}
	assert.Contains(t, kubernetesFlags("v1.36.3"), "-X k8s.io/component-base/version.gitVersion=v1.36.3")
	assert.Contains(t, kubernetesFlags("v1.36.3"), "-X k8s.io/client-go/pkg/version.gitMinor=36")
	_, err = pinned(b.module("kubernetes"), "example.org/nowhere")
	assert.ErrorContains(t, err, "does not require example.org/nowhere")
}

// The nodes' version of Kubernetes is that of the API servers in other suites.
func TestPinned_Kubernetes(t *testing.T) {
	b := sources(t)
	binaries, err := repo.Path("e2e", "binaries")
	require.NoError(t, err)
	for _, module := range []string{"k8s.io/kubernetes", "go.etcd.io/etcd/server/v3"} {
		here, err := pinned(b.module("kubernetes"), module)
		require.NoError(t, err)
		there, err := pinned(binaries, module)
		require.NoError(t, err)
		assert.Equal(t, there, here, module)
	}
}

func TestKindFiles(t *testing.T) {
	files, err := sources(t).kindFiles(t.Context(), []string{"registry.k8s.io/pause:9"})
	require.NoError(t, err)
	modes := map[string]os.FileMode{}
	for _, file := range files {
		modes[file.Path] = file.Mode
		if file.Path == "/etc/containerd/config.toml" {
			assert.Contains(t, string(file.Content), `sandbox_image = "registry.k8s.io/pause:9"`)
		}
	}
	assert.Equal(t, os.FileMode(0o755), modes["/usr/local/bin/entrypoint"])
	assert.Equal(t, os.FileMode(0o755), modes["/kind/bin/mount-product-files.sh"])
	assert.Contains(t, modes, "/etc/systemd/system/kubelet.service")
	assert.NotContains(t, modes, "/usr/local/bin/clean-install")
}

func TestWithPause_UnknownImage(t *testing.T) {
	_, err := withPause([]byte("version = 2\n"), []string{"registry.k8s.io/pause:9"})
	assert.ErrorContains(t, err, "names no image for pods")
	_, err = withPause([]byte("sandbox_image = \"x\"\n"), nil)
	assert.Error(t, err)
}

func TestContainerSpec(t *testing.T) {
	got, err := withHook([]byte(`{"ociVersion": "1.2.0", "process": {"rlimits": [{}], "cwd": "/"}}`))
	require.NoError(t, err)
	assert.JSONEq(t, `{"ociVersion": "1.2.0", "process": {"cwd": "/"}, "hooks": {"createContainer": [{"path": "/kind/bin/mount-product-files.sh"}]}}`, string(got))
	_, err = withHook([]byte(`{}`))
	assert.Error(t, err)
}

func TestMirrorIn(t *testing.T) {
	assert.Equal(t, "http://mirror/debian", mirrorIn("bookworm-security stable-security Debian http://security\nbookworm oldstable Debian http://mirror/debian\n"))
	assert.Equal(t, "http://mirror/debian", mirrorIn("stable bookworm http://mirror/debian\n"), "a mirror that does not name its origin")
	assert.Empty(t, mirrorIn("bookworm stable Docker http://docker\nnoble stable Ubuntu http://ubuntu\n"))
}

func TestWithLibraries(t *testing.T) {
	files, err := withLibraries("/", "/usr/bin/env") // of this machine, if it is a Debian
	require.NoError(t, err)
	var paths []string
	for _, file := range files {
		paths = append(paths, file.Path)
	}
	all := strings.Join(paths, " ")
	assert.Contains(t, all, "/usr/bin/env")
	assert.Contains(t, all, "libc.so.6")
	assert.Contains(t, all, "ld-linux")
	_, err = withLibraries("/", "/etc/passwd")
	assert.ErrorContains(t, err, "taking /etc/passwd")
}

func TestStorageManifest(t *testing.T) {
	object := map[string]any{}
	require.NoError(t, yaml.UnmarshalStrict(storageManifest, &object))
	assert.Equal(t, "StorageClass", object["kind"])
}

func TestDigestPackages(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	sum := func(text, pkg string) string {
		sum, err := digestPackages(t.Context(), text, root, pkg)
		require.NoError(t, err)
		return sum
	}
	first := sum("go1", "./internal/gardenet/config")
	assert.Len(t, first, 64)
	assert.Equal(t, first, sum("go1", "./internal/gardenet/config"))
	assert.NotEqual(t, first, sum("go2", "./internal/gardenet/config"), "another toolchain")
	assert.NotEqual(t, first, sum("go1", "./internal/gardenet/desired"), "other packages")
	_, err = digestPackages(t.Context(), "", root, "./internal/nowhere")
	assert.Error(t, err)
}

func sources(t *testing.T) *build {
	t.Helper()
	dir, err := repo.Path("e2e", "nodeimage")
	require.NoError(t, err)
	return &build{sources: dir, version: "v1.36.3"}
}

func TestKeyedStage(t *testing.T) {
	dir := t.TempDir()
	b := &build{cache: dir, progress: t.Output()}
	result := filepath.Join(dir, "result")
	done := 0
	do := func() error { done++; return os.WriteFile(result, nil, 0o644) }
	for _, key := range []string{"a", "a", "b", "b"} {
		require.NoError(t, b.keyedStage("a/stage", key, result, do))
	}
	assert.Equal(t, 2, done, "once per key")
	require.NoError(t, os.Remove(result))
	require.NoError(t, b.keyedStage("a/stage", "b", result, do))
	assert.Equal(t, 3, done, "the result is gone")
	require.ErrorContains(t, b.keyedStage("a/stage", "c", result, func() error { return os.ErrPermission }), "a/stage: permission denied")
	require.NoError(t, b.keyedStage("a/stage", "b", result, do))
	assert.Equal(t, 4, done, "what failed has left who knows what")
}
