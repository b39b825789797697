package manager

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
)

// childVariable makes the test program a binary of ours, so that real signals can be sent to it.
const childVariable = "TRELLIS_TEST_CHILD"

const (
	stopsOnSignal = "obedient" // ends its work when it is told to
	ignoresSignal = "stubborn" // works on
)

func TestMain(m *testing.M) {
	if kind := os.Getenv(childVariable); kind != "" {
		os.Exit(Main(childBinary(kind)))
	}
	os.Exit(m.Run())
}

func childBinary(kind string) Binary {
	binary := testBinary()
	binary.AddToScheme = addNothing
	binary.Setup = func(p *Process) error {
		return p.Manager.Add(ctrlmanager.RunnableFunc(func(ctx context.Context) error {
			p.Log.Info("At work")
			<-ctx.Done()
			if kind == ignoresSignal {
				p.Log.Info("Not listening")
				select {}
			}
			return nil
		}))
	}
	return binary
}

// startChild starts the test program as a binary and returns it with its logs.
func startChild(t *testing.T, kind, kubeconfig string) (*exec.Cmd, *buffer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--types=aws", "--kubeconfig="+kubeconfig,
		"--leader-election=false", "--health-bind-address=0", "--metrics-bind-address=0")
	logs := &buffer{}
	cmd.Stderr = logs
	cmd.Env = append(os.Environ(), childVariable+"="+kind)
	require.NoError(t, cmd.Start())
	waitForLog(t, logs, "At work")
	return cmd, logs
}

func waitForLog(t *testing.T, logs *buffer, message string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(logs.String(), message) }, timeout, interval,
		"%q is not logged", message)
}

func testSignals(t *testing.T, kubeconfig string) {
	t.Helper()
	for name, signal := range map[string]os.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": os.Interrupt} {
		t.Run(name+" ends the process in order", func(t *testing.T) {
			cmd, logs := startChild(t, stopsOnSignal, kubeconfig)
			require.NoError(t, cmd.Process.Signal(signal))
			assert.NoError(t, cmd.Wait(), "logs:\n%s", logs)
			assert.Contains(t, logs.String(), `"msg":"Stopped"`)
		})
	}
	t.Run("a second signal ends it at once", func(t *testing.T) {
		cmd, logs := startChild(t, ignoresSignal, kubeconfig)
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		waitForLog(t, logs, "Not listening")
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))

		require.Error(t, cmd.Wait())
		status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
		require.True(t, ok)
		assert.Equal(t, syscall.SIGTERM, status.Signal())
		assert.NotContains(t, logs.String(), `"msg":"Stopped"`)
	})
}
