package process

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseCPU(t *testing.T) {
	used, err := parseCPU("4711 (a) (b) c) S 1 4711 4711 0 -1 4194304 1000 0 0 0 150 50 0 0 20 0 9 0 12345 1 2 3")
	require.NoError(t, err)
	assert.Equal(t, 2*time.Second, used)
	for _, stat := range []string{"", "4711 (a) S 1", "4711 (a) S 1 4711 4711 0 -1 4194304 1000 0 0 0 x 50 0"} {
		_, err := parseCPU(stat)
		assert.Error(t, err, stat)
	}
}

func TestCPUOf(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the kernel is another one")
	}
	before, err := CPUOf(os.Getpid())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		for range 1_000_000 { // uses the processor
		}
		used, err := CPUOf(os.Getpid())
		return err == nil && used > before
	}, time.Minute, time.Microsecond)
}

func TestParseWaits(t *testing.T) {
	waits, err := parseWaits("Name:\ta\nnonvoluntary_ctxt_switches:\t7\nvoluntary_ctxt_switches:\t150\n")
	require.NoError(t, err)
	assert.Equal(t, int64(150), waits)
	for _, status := range []string{"", "Name:\ta\nvoluntary_ctxt_switches:\tmany\n"} {
		_, err := parseWaits(status)
		assert.Error(t, err, status)
	}
}

func TestWaitsOf(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("the kernel is another one")
	}
	before, err := WaitsOf(os.Getpid())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		waits, err := WaitsOf(os.Getpid())
		return err == nil && waits > before
	}, time.Minute, time.Millisecond)
	_, err = WaitsOf(-1)
	require.ErrorIs(t, err, os.ErrNotExist)
}
