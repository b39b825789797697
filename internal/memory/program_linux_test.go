package memory

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProgramIn(t *testing.T) {
	const smaps = `00400000-01a00000 r-xp 00000000 fe:00 123 /bin/controller
Size:              22528 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
01a00000-02b00000 r--p 01600000 fe:00 123 /bin/controller
Anonymous:             0 kB
02b00000-02b10000 r--p 02600000 fe:00 123 /bin/controller
Anonymous:            12 kB
02b10000-02c00000 rw-p 02610000 fe:00 123 /bin/controller
Anonymous:             0 kB
02c00000-02d00000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7f0000000000-7f0000100000 r-xp 00000000 fe:00 456 /lib/libc.so.6
Anonymous:             0 kB
`
	assert.Equal(t, program{{0x400000, 0x1a00000}, {0x1a00000, 0x2b00000}}, programIn(strings.NewReader(smaps), "/bin/controller"),
		"neither what was written to, nor data, nor other files")
	assert.Empty(t, programIn(strings.NewReader("?"), "/bin/controller"))
}

func TestUnmapProgram(t *testing.T) {
	require.NotEmpty(t, readProgram())
	before := residentFiles(t)
	UnmapProgram()
	assert.Less(t, residentFiles(t), before, "pages of files in memory; this function uses some at once")
	assert.NotEmpty(t, readProgram(), "the code is still there")
}

// residentFiles returns the number of pages of files that the process has in memory.
func residentFiles(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(text))[2])
	require.NoError(t, err)
	return pages
}
