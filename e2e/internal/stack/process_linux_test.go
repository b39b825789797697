package stack

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

// shell is a daemon that runs a script.
func shell(name, script string) daemon {
	return daemon{name: name, command: []string{"/bin/sh", "-c", script}}
}

func waitForLog(t *testing.T, l layout, name, want string) {
	t.Helper()
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(l.log(name))
		return err == nil && strings.Contains(string(content), want)
	}, 10*time.Second, 10*time.Millisecond)
}

func TestDown_AllProcesses(t *testing.T) {
	for description, script := range map[string]string{
		"a daemon that ends when asked":                 `trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done`,
		"a daemon that does not listen, nor its child":  `trap '' TERM; sh -c 'trap "" TERM; while :; do sleep 0.01; done' & echo ready; wait; while :; do sleep 0.01; done`,
		"a child whose parent has gone":                 `sh -c 'while :; do sleep 0.01; done' & echo ready`,
		"a child that has moved into another session":   `setsid sh -c 'while :; do sleep 0.01; done' & echo ready`,
		"a daemon that has ended by itself, leaving no": `echo ready`,
	} {
		t.Run(description, func(t *testing.T) {
			l := newTestLayout(t)
			require.NoError(t, l.create())
			require.NoError(t, l.start(shell("daemon", script)))
			waitForLog(t, l, "daemon", "ready")

			_, err := l.stop(t.Context(), false)
			require.NoError(t, err)
			assert.Empty(t, markedProcesses(l.dir, processes()))
			assert.NoFileExists(t, l.record("daemon"))
		})
	}
}

// A record that doesn't mean what it says must neither show a stranger as ours nor end it.
func TestDown_OtherProcesses(t *testing.T) {
	now, err := bootID()
	require.NoError(t, err)
	const forever = "while :; do sleep 0.01; done"
	for description, test := range map[string]struct {
		script string
		record func(bystander identity) string
	}{
		"a number that was given away again": {forever, func(i identity) string {
			return fmt.Sprintf("%d %d %s\n", i.pid, i.start-1, now)
		}},
		"a session whose leader has gone, below a number that was given away again": {forever + " & echo $!", func(i identity) string {
			return fmt.Sprintf("%d %d %s\n", i.pid, i.start-1, now)
		}},
		"a record of another boot": {forever, func(i identity) string {
			return fmt.Sprintf("%d %d %s\n", i.pid, i.start, strings.Replace(now, now[:8], "01234567", 1))
		}},
		"a record of another namespace": {forever, func(i identity) string {
			return fmt.Sprintf("%d %d %s\n", i.pid, i.start, now[:36]+"/pid:[1]")
		}},
		"a record without an era": {forever, func(i identity) string {
			return fmt.Sprintf("%d %d\n", i.pid, i.start)
		}},
	} {
		t.Run(description, func(t *testing.T) {
			l, other := newTestLayout(t), newTestLayout(t)
			require.NoError(t, l.create())
			require.NoError(t, other.create())
			require.NoError(t, other.start(shell("bystander", test.script)))
			bystander, found := other.recorded("bystander")
			require.True(t, found)
			if test.script != forever {
				waitForLog(t, other, "bystander", "\n")
				require.Eventually(t, func() bool { return !bystander.isAlive() }, 10*time.Second, 10*time.Millisecond)
			}
			require.NoError(t, os.WriteFile(l.record("daemon"), []byte(test.record(bystander)), 0o600))

			assert.False(t, l.isRunning("daemon"))
			_, err := l.stop(t.Context(), false)
			require.NoError(t, err)
			assert.NoFileExists(t, l.record("daemon"))
			assert.NotEmpty(t, other.session(bystander, processes()), "they live on")
			_, err = other.stop(t.Context(), false)
			require.NoError(t, err)
			assert.Empty(t, markedProcesses(other.dir, processes()))
		})
	}
}

// An older build wrote another mark and no era. Some daemons have lost their environment.
func TestRecorded_WithoutBootID(t *testing.T) {
	l := newTestLayout(t)
	require.NoError(t, l.create())
	older := exec.Command("/bin/sh", "-c", "while :; do sleep 0.01; done")
	older.Dir, older.Env = l.dir, []string{"PATH=/usr/bin:/bin"}
	older.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	require.NoError(t, older.Start())
	s, err := statusOf(older.Process.Pid)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(l.record("daemon"), fmt.Appendf(nil, "%d %d\n", s.pid, s.start), 0o600))

	assert.True(t, l.isRunning("daemon"))
	_, err = l.stop(t.Context(), false)
	require.NoError(t, err)
	assert.False(t, s.isAlive())
	require.Error(t, older.Wait(), "a signal has ended it")
}

// The test runs itself once more, below a shell, both with the mark in their environment.
func TestDown_Caller(t *testing.T) {
	if dir := os.Getenv(processMarker); dir != "" {
		l := layout{dir: dir}
		require.NoError(t, l.create())
		require.NoError(t, l.start(shell("daemon", "while :; do sleep 0.01; done")))
		_, err := l.stop(t.Context(), false)
		require.NoError(t, err)
		return
	}
	l := newTestLayout(t)
	command := exec.Command("/bin/sh", "-c", `sleep 60 & "$0" -test.run="^$1\$" -test.count=1 && echo the shell is there; wait; echo the sleeper is gone`,
		os.Args[0], t.Name())
	command.Env = append(os.Environ(), processMarker+"="+l.dir)
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	assert.Contains(t, string(output), "PASS")
	assert.Contains(t, string(output), "the shell is there")
	assert.Contains(t, string(output), "the sleeper is gone", "beside them, the mark says who belongs to the cloud")
}

func TestStart_AlreadyRunning(t *testing.T) {
	l := newTestLayout(t)
	require.NoError(t, l.create())
	d := shell("daemon", "while :; do sleep 0.01; done")
	require.NoError(t, l.start(d))
	first, _ := l.recorded("daemon")
	require.NoError(t, l.start(d))
	second, _ := l.recorded("daemon")
	assert.Equal(t, first, second)
	_, err := l.stop(t.Context(), false)
	require.NoError(t, err)
}

func TestStartAndWait_DaemonExits(t *testing.T) {
	l := newTestLayout(t)
	require.NoError(t, l.create())
	d := shell("neutron", "echo no such option; exit 1")
	d.ready = l.listening("rabbitmq-nobody")
	err := l.startAndWait(t.Context(), d)
	require.ErrorContains(t, err, "neutron has ended by itself")
	require.ErrorContains(t, err, l.log("neutron"))
	require.ErrorContains(t, err, "no such option")

	require.NoError(t, l.cleanUpDead(t.Context()))
	assert.NoFileExists(t, l.record("neutron"))
}

func TestEnded(t *testing.T) {
	l := newTestLayout(t)
	s := &Stack{layout: l}
	require.NoError(t, l.create())
	t.Cleanup(func() {
		_, err := l.stop(context.WithoutCancel(t.Context()), false)
		require.NoError(t, err)
	})
	for _, d := range l.daemons() {
		require.NoError(t, l.start(shell(d.name, "exec sleep 60")))
	}
	require.NoError(t, s.Ended())
	ended, found := l.running("octavia")
	require.True(t, found)
	require.NoError(t, syscall.Kill(ended.pid, syscall.SIGKILL))
	require.Eventually(t, func() bool { return s.Ended() != nil }, 10*time.Second, 10*time.Millisecond)
	require.ErrorContains(t, s.Ended(), "octavia has ended by itself")
	assert.NotContains(t, s.Ended().Error(), "neutron")
}

func TestTool_Failure(t *testing.T) {
	l := newTestLayout(t)
	require.NoError(t, l.create())
	err := l.tool(t.Context(), "schema", []string{"GREETING=hello"}, "/bin/sh", "-c", `echo "$GREETING"; exit 3`)
	require.ErrorContains(t, err, "exit status 3")
	require.ErrorContains(t, err, l.log("schema")+":\n    hello")
}

func TestDown(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	screen := terminal.New(file)
	dir := filepath.Join(t.TempDir(), "state")
	s, err := New(dir, screen)
	require.NoError(t, err)

	s.policy = policyFile(filepath.Join(t.TempDir(), "policy-rc.d"))

	require.NoError(t, s.Down(t.Context(), false), "nothing is there, nothing is to be done")
	require.NoError(t, s.layout.create())
	require.NoError(t, s.layout.start(shell("daemon", "while :; do sleep 0.01; done")))
	i, _ := s.layout.recorded("daemon")
	require.NoError(t, s.policy.forbid())

	require.NoError(t, s.Down(t.Context(), true))
	assert.NoFileExists(t, string(s.policy), "what a killed Up has left goes")
	assert.False(t, i.isAlive())
	assert.DirExists(t, dir)
	require.NoError(t, s.Down(t.Context(), false))
	assert.NoDirExists(t, dir)

	require.NoError(t, write(filepath.Join(dir, "letters"), []byte("dear")))
	require.ErrorIs(t, s.Down(t.Context(), false), errNotStateDir)
	assert.FileExists(t, filepath.Join(dir, "letters"))

	_, err = file.Seek(0, io.SeekStart)
	require.NoError(t, err)
	output, err := io.ReadAll(file)
	require.NoError(t, err)
	assert.Contains(t, string(output), "nothing to do")
	assert.Contains(t, string(output), dir+" is gone")
}

func TestEnd_Timeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const beyondAllNumbers = 1 << 30
		stubborn := []status{{identity: identity{pid: beyondAllNumbers}}, {identity: identity{pid: beyondAllNumbers + 1}}}
		begin := time.Now()
		err := end(t.Context(), time.Minute, func() []status { return stubborn })
		require.ErrorContains(t, err, "processes 1073741824, 1073741825")
		assert.InDelta(t, time.Minute+killTimeout, time.Since(begin), float64(time.Second))
	})
}

func TestEnd_GracePeriod(t *testing.T) {
	l := newTestLayout(t)
	require.NoError(t, l.create())
	require.NoError(t, l.start(shell("slow", `trap 'sleep 0.5; echo tidy; exit 0' TERM; echo ready; while :; do sleep 0.01; done`)))
	waitForLog(t, l, "slow", "ready")
	require.NoError(t, l.stopRecorded(t.Context(), 10*time.Second, []string{"slow"}))
	waitForLog(t, l, "slow", "tidy")
}
