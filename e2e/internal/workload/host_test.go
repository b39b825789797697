package workload

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestRunContainer_Pod(t *testing.T) {
	if err := CanNameHosts(t.Context()); err != nil {
		t.Skip(err)
	}
	pod := &corev1.Pod{ObjectMeta: objectMeta("app-1")}
	pod.Spec.Containers = []corev1.Container{{
		Name: "main", Command: []string{"/usr/bin/sh"}, Args: []string{"-c", `hostname; echo "$@"; exec sleep 60`, "sh", "--of=pod"},
	}}
	c := fake.NewClientBuilder().WithObjects(pod, deploymentOf()).Build()
	options := run(t.TempDir())
	options.Pod, options.Hostname, options.Dir = "app-1", "app-1", filepath.Join(t.TempDir(), "container")
	container, err := RunContainer(t.Context(), c, options)
	require.NoError(t, err)
	t.Cleanup(container.Stop)
	eventually(t, "it speaks", func() bool { return strings.Contains(logOutput(t, container), "--of") })
	assert.Equal(t, "app-1\n--of=pod --extra=yes --port=1234\n", logOutput(t, container))
}
