package calico

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/golden"
)

func TestMultusObjects(t *testing.T) {
	forAllSettings(t, func(t *testing.T, s *settings, objects []client.Object) {
		found := strings.Contains(golden.Manifest(t, objects), "multus")
		require.Equal(t, s.config.Multus.Enabled, found)
	})
	require.False(t, testSettings(nil).config.Multus.Enabled, "the default")
}

func TestMultusObjects_Plugins(t *testing.T) {
	for sentence, test := range map[string]struct {
		install *bool
		want    []string
	}{
		"not said": {nil, []string{"install-multus-cni"}},
		"no":       {new(false), []string{"install-multus-cni"}},
		"yes":      {new(true), []string{"install-multus-cni", "install-cni-plugins"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			objects, err := testSettings(func(s *settings) {
				withMultus(s)
				s.config.Multus.InstallCNIPlugins = test.install
			}).multusObjects()
			require.NoError(t, err)
			var steps []string
			for _, container := range named[*appsv1.DaemonSet](t, objects, "multus").Spec.Template.Spec.InitContainers {
				steps = append(steps, container.Name)
			}
			require.Equal(t, test.want, steps)
		})
	}
}

func TestMultusObjects_PluginsPresent(t *testing.T) {
	objects, err := testSettings(func(s *settings) {
		withMultus(s)
		s.config.Multus.InstallCNIPlugins = new(true)
	}).multusObjects()
	require.NoError(t, err)
	container := named[*appsv1.DaemonSet](t, objects, "multus").Spec.Template.Spec.InitContainers[1]
	image, node := t.TempDir(), t.TempDir()
	for _, name := range []string{"host-local", "loopback", "portmap", "tuning", "bandwidth", "macvlan", "vlan"} {
		require.NoError(t, os.WriteFile(filepath.Join(image, name), []byte("of the image"), 0o700))
	}
	for _, name := range []string{"host-local", "loopback", "portmap", "tuning", "bandwidth", "calico"} {
		require.NoError(t, os.WriteFile(filepath.Join(node, name), []byte("of Calico"), 0o700))
	}
	sleep, err := exec.LookPath("sleep")
	require.NoError(t, err)
	program, err := os.ReadFile(sleep)
	require.NoError(t, err)
	running := filepath.Join(node, "macvlan")
	require.NoError(t, os.WriteFile(running, program, 0o700))
	process := exec.CommandContext(t.Context(), running, "60")
	require.NoError(t, process.Start())
	t.Cleanup(func() { _ = process.Process.Kill(); _ = process.Wait() })

	script := strings.NewReplacer("/usr/src/cni/bin", image, container.VolumeMounts[0].MountPath, node).Replace(container.Args[0])
	output, err := exec.CommandContext(t.Context(), "sh", "-c", script).CombinedOutput()
	require.NoError(t, err, string(output))
	contents := map[string]string{}
	entries, err := os.ReadDir(node)
	require.NoError(t, err)
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(node, entry.Name()))
		require.NoError(t, err)
		contents[entry.Name()] = string(content)
	}
	assert.Equal(t, map[string]string{
		"bandwidth": "of Calico", "calico": "of Calico", "host-local": "of Calico", "loopback": "of Calico", "portmap": "of Calico", "tuning": "of Calico",
		"macvlan": "of the image", "vlan": "of the image",
	}, contents)
}

// As long as there is a configuration the container runtime asks Multus, which could not answer any more.
func TestMultusCleanup(t *testing.T) {
	objects, err := testSettings(withMultus).multusObjects()
	require.NoError(t, err)
	pod := named[*appsv1.DaemonSet](t, objects, "multus").Spec.Template.Spec
	container := pod.Containers[1]
	require.Equal(t, []string{"/bin/bash", "-c"}, container.Command[:2])

	folder := t.TempDir()
	for _, name := range []string{"00-multus.conf", "00-multus.conflist", "10-calico.conflist", "calico-kubeconfig"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
	}
	script := strings.ReplaceAll(container.Command[2], container.VolumeMounts[0].MountPath, folder)
	shell := exec.CommandContext(t.Context(), "bash", "-c", "echo ready\n"+script)
	output, err := shell.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, shell.Start())
	_, err = output.Read(make([]byte, len("ready\n")))
	require.NoError(t, err)
	time.Sleep(100 * time.Millisecond)
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, left, 4, "while it runs nothing is removed")

	begin := time.Now()
	require.NoError(t, shell.Process.Signal(syscall.SIGTERM))
	require.NoError(t, shell.Wait())
	assert.Less(t, time.Since(begin), time.Duration(*pod.TerminationGracePeriodSeconds)*time.Second)
	left, err = os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, file := range left {
		names = append(names, file.Name())
	}
	require.Equal(t, []string{"10-calico.conflist", "calico-kubeconfig"}, names)
}

// Multus refuses to work with a configuration of Calico's that is of another version of CNI than it is told.
func TestMultusObjects_CNIVersion(t *testing.T) {
	objects, err := testSettings(withMultus).multusObjects()
	require.NoError(t, err)
	for _, arg := range named[*appsv1.DaemonSet](t, objects, "multus").Spec.Template.Spec.Containers[0].Args {
		require.NotContains(t, arg, "cni-version")
	}
}

func TestMultusObjects_WaitForCalico(t *testing.T) {
	objects, err := testSettings(withMultus).multusObjects()
	require.NoError(t, err)
	args := named[*appsv1.DaemonSet](t, objects, "multus").Spec.Template.Spec.Containers[0].Args
	require.Contains(t, args, "--readiness-indicator-file=/etc/cni/net.d/10-calico.conflist")
	require.Contains(t, args, "--multus-master-cni-file-name=10-calico.conflist")
}
