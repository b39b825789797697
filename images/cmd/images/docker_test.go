//go:build kind

package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What docker loads is what runs: as the user of the image, with nothing else in it, on a file system that nobody can write to.
func TestDocker_LoadsAndRuns(t *testing.T) {
	const binary, name = "network-controller", "registry.example/images-test/network-controller:v1.2.3"
	out := t.TempDir()
	mustRun(t, append(stamp(), "--source", root, "--out", out, "--binary", binary, "--platform", "linux/"+runtime.GOARCH,
		"--repository", "registry.example/images-test")...)

	assert.Contains(t, docker(t, "load", "-i", filepath.Join(out, binary+".tar")), name)
	t.Cleanup(func() { docker(t, "rmi", name) })
	output := docker(t, "run", "--rm", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--network", "none", name, "--version")
	assert.Contains(t, output, "network-controller v1.2.3 (commit 0123abc, 2026-01-02T03:04:05Z, ")
	assert.Equal(t, "65532:65532\n", docker(t, "inspect", "--format", "{{.Config.User}}", name))
}

func docker(t *testing.T, args ...string) string {
	t.Helper()
	output, err := exec.Command("docker", args...).CombinedOutput()
	require.NoError(t, err, "docker %v: %s", args, output)
	return string(output)
}
