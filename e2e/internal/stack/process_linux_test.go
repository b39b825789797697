package stack

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

func TestParseStatus(t *testing.T) {
	const tail = " 1 4242 4200 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876543 10 11"
	for sentence, test := range map[string]struct {
		line string
		want status
		fail bool
	}{
		"a process that sleeps":                       {line: "4242 (uwsgi) S" + tail, want: status{identity{4242, 9876543}, 4200, false}},
		"a zombie is dead":                            {line: "4242 (uwsgi) Z" + tail, want: status{identity{4242, 9876543}, 4200, true}},
		"a name with a blank and parentheses":         {line: "4242 (a) S 1 (b) R" + tail, want: status{identity{4242, 9876543}, 4200, false}},
		"a line that ends early is not understood":    {line: "4242 (uwsgi) S 1 2", fail: true},
		"a line without a program is not understood":  {line: "4242", fail: true},
		"a line without numbers is not understood":    {line: "x (uwsgi) S" + tail, fail: true},
		"parentheses the wrong way are not either":    {line: ")4242( S" + tail, fail: true},
		"the number of a session must be a number":    {line: "4242 (uwsgi) S 1 4242 x 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 9876543", fail: true},
		"the beginning of a process must be a number": {line: "4242 (uwsgi) S 1 4242 4200 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 x", fail: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := parseStatus(test.line)
			if test.fail {
				assert.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestIdentity(t *testing.T) {
	me, err := statusOf(os.Getpid())
	require.NoError(t, err)
	assert.True(t, me.isAlive())
	reused := identity{me.pid, me.start - 1}
	assert.False(t, reused.isAlive(), "the number is the same, the process is another")
	leader, err := statusOf(me.session)
	require.NoError(t, err)
	assert.NotEmpty(t, leader.identity.session(processes()))
	assert.Empty(t, identity{leader.pid, leader.start - 1}.session(processes()), "nobody of a foreign session is touched")
}

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

func TestDownEndsEverything(t *testing.T) {
	for sentence, script := range map[string]string{
		"a daemon that ends when asked":                 `trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done`,
		"a daemon that does not listen, nor its child":  `trap '' TERM; sh -c 'trap "" TERM; while :; do sleep 0.01; done' & echo ready; wait; while :; do sleep 0.01; done`,
		"a child whose parent has gone":                 `sh -c 'while :; do sleep 0.01; done' & echo ready`,
		"a child that has moved into another session":   `setsid sh -c 'while :; do sleep 0.01; done' & echo ready`,
		"a daemon that has ended by itself, leaving no": `echo ready`,
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newTestLayout(t)
			require.NoError(t, l.create())
			require.NoError(t, l.start(shell("daemon", script)))
			waitForLog(t, l, "daemon", "ready")

			_, err := l.stop(t.Context(), false)
			require.NoError(t, err)
			assert.Empty(t, marked(l.dir, processes()))
			assert.NoFileExists(t, l.record("daemon"))
		})
	}
}

func TestAReusedNumberIsNotTouched(t *testing.T) {
	l, other := newTestLayout(t), newTestLayout(t)
	require.NoError(t, l.create())
	require.NoError(t, other.create())
	require.NoError(t, other.start(shell("bystander", "while :; do sleep 0.01; done")))
	bystander, found := other.recorded("bystander")
	require.True(t, found)
	require.NoError(t, os.WriteFile(l.record("daemon"), fmt.Appendf(nil, "%d %d\n", bystander.pid, bystander.start-1), 0o600))

	assert.False(t, l.isRunning("daemon"))
	_, err := l.stop(t.Context(), false)
	require.NoError(t, err)
	assert.True(t, bystander.isAlive())
	_, err = other.stop(t.Context(), false)
	require.NoError(t, err)
	assert.False(t, bystander.isAlive())
}

func TestStartingTwiceStartsOnce(t *testing.T) {
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

func TestADaemonThatDiesIsNamedWithItsLog(t *testing.T) {
	l := newTestLayout(t)
	require.NoError(t, l.create())
	d := shell("neutron", "echo no such option; exit 1")
	d.ready = l.listening("rabbitmq-nobody")
	err := l.startAndWait(t.Context(), d)
	require.ErrorContains(t, err, "neutron has ended by itself")
	require.ErrorContains(t, err, l.log("neutron"))
	require.ErrorContains(t, err, "no such option")

	require.NoError(t, l.forgetDead(t.Context()))
	assert.NoFileExists(t, l.record("neutron"))
}

func TestAToolThatFailsIsNamedWithItsLog(t *testing.T) {
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

	require.NoError(t, s.Down(t.Context(), false), "nothing is there, nothing is to be done")
	require.NoError(t, s.layout.create())
	require.NoError(t, s.layout.start(shell("daemon", "while :; do sleep 0.01; done")))
	i, _ := s.layout.recorded("daemon")

	require.NoError(t, s.Down(t.Context(), true))
	assert.False(t, i.isAlive())
	assert.DirExists(t, dir)
	require.NoError(t, s.Down(t.Context(), false))
	assert.NoDirExists(t, dir)

	require.NoError(t, write(filepath.Join(dir, "letters"), []byte("dear")))
	require.ErrorIs(t, s.Down(t.Context(), false), errForeign)
	assert.FileExists(t, filepath.Join(dir, "letters"))

	_, err = file.Seek(0, io.SeekStart)
	require.NoError(t, err)
	output, err := io.ReadAll(file)
	require.NoError(t, err)
	assert.Contains(t, string(output), "nothing to do")
	assert.Contains(t, string(output), dir+" is gone")
}

func TestEndGivesTimeBeforeItKills(t *testing.T) {
	l := newTestLayout(t)
	require.NoError(t, l.create())
	require.NoError(t, l.start(shell("slow", `trap 'sleep 0.5; echo tidy; exit 0' TERM; echo ready; while :; do sleep 0.01; done`)))
	waitForLog(t, l, "slow", "ready")
	require.NoError(t, l.stopRecorded(t.Context(), 10*time.Second, []string{"slow"}))
	waitForLog(t, l, "slow", "tidy")
}
