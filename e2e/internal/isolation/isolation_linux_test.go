package isolation

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// caseVariable names the environment variable with which the test binary is the program to isolate.
const caseVariable = "TRELLIS_ISOLATION_TEST"

func TestMain(m *testing.M) {
	what := os.Getenv(caseVariable)
	if what == "" {
		os.Exit(m.Run())
	}
	isolated := Begin(Network{
		Local:   []netip.Prefix{netip.MustParsePrefix("10.240.0.0/16"), netip.MustParsePrefix("2001:db8:1::/64")},
		Bridges: []Bridge{{Name: "pods1", Address: netip.MustParsePrefix("10.241.128.1/17")}},
	})
	if !isolated {
		code, err := Run()
		if err != nil {
			fmt.Println(err)
			os.Exit(99)
		}
		os.Exit(code)
	}
	os.Exit(program(what))
}

// program is what runs isolated.
func program(what string) int {
	switch what {
	case "listen":
		for _, address := range []string{"127.0.0.1:443", "10.240.3.4:443", "10.241.128.1:443", "[2001:db8:1::5]:443"} {
			listener, err := net.Listen("tcp", address)
			if err != nil {
				fmt.Println(err)
				return 1
			}
			connection, err := net.Dial("tcp", address)
			if err != nil {
				fmt.Println(err)
				return 1
			}
			_, _ = connection.Close(), listener.Close()
		}
	case "processes":
		entries, _ := os.ReadDir("/proc")
		for _, entry := range entries {
			if _, err := strconv.Atoi(entry.Name()); err == nil {
				fmt.Println(entry.Name())
			}
		}
	case "orphan": // it must not be left as a zombie
		output, err := exec.Command("sh", "-c", "sleep 0.1 > /dev/null 2>&1 & echo $!").Output()
		if err != nil {
			return 1
		}
		for range 100 {
			if _, err := os.Stat("/proc/" + strings.TrimSpace(string(output))); os.IsNotExist(err) {
				return 0
			}
			time.Sleep(50 * time.Millisecond)
		}
		return 1
	case "signal":
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		fmt.Println("waits")
		<-signals
		return 7
	case "child": // leaves a process that outlives its parent
		child := exec.Command("sleep", "3600")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if child.Start() != nil {
			return 1
		}
		fmt.Println("waits")
		time.Sleep(time.Hour)
	}
	return 0
}

func command(t *testing.T, what string) *exec.Cmd {
	t.Helper()
	if err := Check(); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), caseVariable+"="+what)
	return cmd
}

// start starts a program that prints a line once it waits.
func start(t *testing.T, what string) *exec.Cmd {
	t.Helper()
	cmd := command(t, what)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "waits\n", line)
	return cmd
}

func TestRun(t *testing.T) {
	t.Run("listens on all local addresses", func(t *testing.T) {
		output, err := command(t, "listen").CombinedOutput()
		require.NoError(t, err, "%s", output)
	})
	t.Run("has processes of its own", func(t *testing.T) {
		output, err := command(t, "processes").CombinedOutput()
		require.NoError(t, err, "%s", output)
		pids := strings.Fields(string(output))
		assert.Len(t, pids, 2, "the first process and the program")
		assert.Contains(t, pids, "1")
	})
	t.Run("collects orphans", func(t *testing.T) {
		output, err := command(t, "orphan").CombinedOutput()
		require.NoError(t, err, "%s", output)
	})
}

func TestRun_PassesSignalsAndExitCodeOn(t *testing.T) {
	cmd := start(t, "signal")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	assert.Equal(t, 7, exit.ExitCode())
}

func TestRun_NothingOutlivesAKilledCaller(t *testing.T) {
	cmd := start(t, "child")
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid))
	require.NoError(t, err)
	var first string
	for _, thread := range threads {
		children, err := os.ReadFile(thread)
		require.NoError(t, err)
		first += strings.TrimSpace(string(children))
	}
	require.NotEmpty(t, first)
	network, err := os.Readlink("/proc/" + first + "/ns/net")
	require.NoError(t, err)
	require.Len(t, processesIn(network), 3)

	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()

	assert.Eventually(t, func() bool { return len(processesIn(network)) == 0 }, 10*time.Second, 50*time.Millisecond)
}

// processesIn lists the processes of a network namespace.
func processesIn(network string) []string {
	var found []string
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if its, err := os.Readlink("/proc/" + entry.Name() + "/ns/net"); err == nil && its == network {
			found = append(found, entry.Name())
		}
	}
	return found
}
