package manager

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// binaryWithCommand is a binary that can be asked how the garden is.
func binaryWithCommand(run func(context.Context, client.Client, io.Writer) error) Binary {
	b := gardenBinary()
	b.Webhooks = nil
	b.AddToScheme = func(*runtime.Scheme) error { return nil }
	b.Commands = []Command{{Name: "status", Usage: "Print how the garden is.", Run: run}}
	return b
}

// writeKubeconfig names an API server that is not asked for anything.
func writeKubeconfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, []byte(`apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
`), 0o600))
	return path
}

func TestCommand(t *testing.T) {
	printHealthy := func(_ context.Context, garden client.Client, out io.Writer) error {
		require.NotNil(t, garden)
		_, err := fmt.Fprintln(out, "well")
		return err
	}
	path := writeKubeconfig(t)
	for sentence, tt := range map[string]struct {
		answer         func(context.Context, client.Client, io.Writer) error
		args           []string
		code           int
		stdout, stderr string
	}{
		"a question needs a kubeconfig and nothing else": {printHealthy, []string{"--status", "--kubeconfig=" + path}, exitClean, "well\n", ""},
		"it is asked of the garden":                      {printHealthy, []string{"--status", "--kubeconfig=none", "--garden-kubeconfig=" + path}, exitClean, "well\n", ""},
		"there is nobody to ask": {
			printHealthy, []string{"--status", "--kubeconfig=none"}, exitFailure, "", "admission: loading kubeconfig \"none\": stat none: no such file or directory\n",
		},
		"it cannot be answered": {
			func(context.Context, client.Client, io.Writer) error { return errors.New("it sleeps") },
			[]string{"--status", "--kubeconfig=" + path},
			exitFailure, "", "admission: it sleeps\n",
		},
		"a wrong command line comes first": {
			printHealthy,
			[]string{"--status", "--types=none"},
			exitUsage, "",
			"admission: wrong command line:\n  --types: \"none\" has \"none\", which is not compiled in",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, tt.code, binaryWithCommand(tt.answer).run(t.Context(), tt.args, environment{}, &stdout, &stderr))
			assert.Equal(t, tt.stdout, stdout.String())
			assert.Contains(t, stderr.String(), tt.stderr)
		})
	}
	assert.Contains(t, helpText(binaryWithCommand(printHealthy)), "--status\n        Print how the garden is.\n")
}
