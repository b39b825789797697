package rendering

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

// What Go writes when it ends a process, as it was written by processes that were ended so.
func TestRender_Crash(t *testing.T) {
	const trace = "\n\ngoroutine 1 gp=0x2fb9f44041e0 m=0 mp=0x5af600 [running]:\nruntime.throw({0x4df995?, 0x8?})\n"
	const beyond = "takes more than 256 MiB of memory, or goes too deep"
	for sentence, test := range map[string]struct {
		wantText string
		isCharts bool
		want     string
	}{
		"a large text": {
			"runtime: out of memory: cannot allocate 2000683008-byte block (8093696 in use)\nfatal error: out of memory" + trace, true, beyond,
		},
		"many small texts": {
			"runtime: out of memory: cannot allocate 4194304-byte block (536543232 in use)\nfatal error: out of memory" + trace, true, beyond,
		},
		"a deep stack": {
			"runtime: goroutine stack exceeds 1000000000-byte limit\nruntime: sp=0xc0200e0390\nfatal error: stack overflow" + trace, true, beyond,
		},
		"a machine without threads": {
			"runtime: failed to create new OS thread (have 5 already; errno=11)\nruntime: may need to increase max user processes (ulimit -u)\nfatal error: newosproc" + trace,
			false, "it crashed: runtime: failed to create new OS thread (have 5 already; errno=11)",
		},
		"a machine without memory": {
			"runtime: out of memory: cannot allocate 4194304-byte block (12582912 in use)\nfatal error: out of memory" + trace,
			false, "it crashed: runtime: out of memory: cannot allocate 4194304-byte block (12582912 in use)",
		},
		"a machine without memory that was promised": {
			"fatal error: runtime: cannot allocate memory" + trace, false, "it crashed: fatal error: runtime: cannot allocate memory",
		},
		"a fault in Helm": {
			"panic: runtime error: invalid memory address or nil pointer dereference" + trace,
			false, "it crashed: panic: runtime error: invalid memory address or nil pointer dereference",
		},
		"a fault in Helm that quotes a Secret": {`panic: wrong: "hunter\"2"` + trace, false, `it crashed: panic: wrong: "[from a resource]"`},
		"a quote that was cut":                 {"panic: " + strings.Repeat("a", maxCrash-10) + "hunter2" + trace, false, "it crashed"},
		"nothing":                              {"", false, "it crashed"},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := newRenderer(t, Limits{Memory: 256 << 20})
			folder := t.TempDir()
			r.program = filepath.Join(folder, "crash")
			require.NoError(t, os.WriteFile(filepath.Join(folder, "says"), []byte(test.wantText), 0o600))
			require.NoError(t, os.WriteFile(r.program, []byte("#!/bin/sh\ncat "+folder+"/says >&2\nexit 2\n"), 0o700))
			one := request(t, configMap, nil)
			one.Resources = map[string]any{"login": map[string]any{"data": map[string]any{"password": `hunter"2`}}}
			_, err := r.Render(t.Context(), one)
			found, isProblem := problem.In(err)
			assert.Equal(t, test.isCharts, isProblem, "%v", err)
			if isProblem {
				assert.Contains(t, found.Message, test.want)
				return
			}
			assert.EqualError(t, err, "rendering the chart in a process of its own: "+test.want)
			assert.NotContains(t, err.Error(), "hunter")
			assert.Zero(t, r.cache.len(), "it is tried again")
		})
	}
}
