package signals_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/signals"
)

// childVariable makes the test program a process that says how it hears signals.
const childVariable = "TRELLIS_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childVariable) {
	case "":
		os.Exit(m.Run())
	case "obedient":
		ctx := signals.Context()
		fmt.Println("ready")
		<-ctx.Done()
		fmt.Println("ending")
	case "stubborn":
		ctx := signals.Context()
		fmt.Println("ready")
		<-ctx.Done()
		fmt.Println("ending")
		select {}
	}
}

// start starts the test program as a process of the kind, which is ready to hear signals.
func start(t *testing.T, kind string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+kind)
	output, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	lines := bufio.NewScanner(output)
	requireLine(t, lines, "ready")
	return child, lines
}

func requireLine(t *testing.T, lines *bufio.Scanner, want string) {
	t.Helper()
	require.True(t, lines.Scan(), "the process has ended")
	require.Equal(t, want, lines.Text())
}

func signalOf(t *testing.T, child *exec.Cmd) syscall.Signal {
	t.Helper()
	status, ok := child.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	return status.Signal()
}

func TestContext(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT} {
		t.Run(name+" ends the context", func(t *testing.T) {
			child, lines := start(t, "obedient")
			require.NoError(t, child.Process.Signal(signal))
			requireLine(t, lines, "ending")
			assert.NoError(t, child.Wait())
		})
		t.Run("a second "+name+" ends the process", func(t *testing.T) {
			child, lines := start(t, "stubborn")
			require.NoError(t, child.Process.Signal(signal))
			requireLine(t, lines, "ending")
			require.NoError(t, child.Process.Signal(signal))
			require.Error(t, child.Wait())
			assert.Equal(t, signal, signalOf(t, child))
		})
	}
	t.Run("a second signal that comes at once ends the process", func(t *testing.T) {
		for range 20 {
			child, _ := start(t, "stubborn")
			require.NoError(t, child.Process.Signal(syscall.SIGTERM))
			require.NoError(t, child.Process.Signal(syscall.SIGINT))
			require.Error(t, child.Wait())
		}
	})
}
