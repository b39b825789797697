package stack

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseStatus(t *testing.T) {
	const tail = " 1 4242 4200 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876543 10 11"
	for description, test := range map[string]struct {
		line string
		want status
		fail bool
	}{
		"a process that sleeps":                       {line: "4242 (uwsgi) S" + tail, want: status{identity{4242, 9876543}, 1, 4200, false}},
		"a zombie is dead":                            {line: "4242 (uwsgi) Z" + tail, want: status{identity{4242, 9876543}, 1, 4200, true}},
		"a name with a blank and parentheses":         {line: "4242 (a) S 1 (b) R" + tail, want: status{identity{4242, 9876543}, 1, 4200, false}},
		"a line that ends early is not understood":    {line: "4242 (uwsgi) S 1 2", fail: true},
		"a line without a program is not understood":  {line: "4242", fail: true},
		"a line without numbers is not understood":    {line: "x (uwsgi) S" + tail, fail: true},
		"parentheses the wrong way are not either":    {line: ")4242( S" + tail, fail: true},
		"the number of a parent must be a number":     {line: "4242 (uwsgi) S x 4242 4200 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 9876543", fail: true},
		"the number of a session must be a number":    {line: "4242 (uwsgi) S 1 4242 x 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 9876543", fail: true},
		"the beginning of a process must be a number": {line: "4242 (uwsgi) S 1 4242 4200 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 x", fail: true},
	} {
		t.Run(description, func(t *testing.T) {
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
}

func TestAncestors(t *testing.T) {
	line := withAncestors(os.Getpid())
	assert.True(t, line[os.Getpid()])
	assert.True(t, line[os.Getppid()])
	child := exec.Command("/bin/sh", "-c", "read -r line")
	input, err := child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	assert.False(t, line[child.Process.Pid], "a child is no ancestor")
	assert.True(t, withAncestors(child.Process.Pid)[os.Getpid()])
	require.NoError(t, input.Close())
	_ = child.Wait()
}

func TestBootID(t *testing.T) {
	first, err := bootID()
	require.NoError(t, err)
	second, err := bootID()
	require.NoError(t, err)
	assert.Equal(t, first, second)
	assert.Regexp(t, `^[0-9a-f-]{36}/pid:\[\d+\]$`, first)
}
