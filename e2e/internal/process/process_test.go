package process

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func shell(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start("/bin/sh", []string{"-c", script}, []string{"GREETING=hello"}, filepath.Join(t.TempDir(), "output"))
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	return p
}

func TestTerminate(t *testing.T) {
	const ready = `echo "$GREETING"; `
	for description, test := range map[string]struct{ script, want string }{
		"a process that ends cleanly is fine":      {script: `trap 'exit 0' TERM; ` + ready + `while :; do sleep 0.01; done`},
		"a process that ends with an error is not": {script: `trap 'exit 3' TERM; ` + ready + `while :; do sleep 0.01; done`, want: "exit status 3"},
		"a process that does not listen is killed": {script: `trap '' TERM; ` + ready + `while :; do sleep 0.01; done`, want: "was killed"},
	} {
		t.Run(description, func(t *testing.T) {
			p := shell(t, test.script)
			require.Eventually(t, func() bool {
				output, err := p.Output()
				return err == nil && output == "hello\n"
			}, 10*time.Second, time.Millisecond)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := p.Terminate(ctx)
			if test.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, test.want)
			}
			<-p.Exited()
		})
	}
}

func TestWaitForOK(t *testing.T) {
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	require.NoError(t, shell(t, "sleep 60").WaitForOK(t.Context(), server.URL))
	assert.Equal(t, 3, calls)

	address, err := FreeAddress()
	require.NoError(t, err)
	err = shell(t, "echo no such flag; exit 2").WaitForOK(t.Context(), "http://"+address)
	assert.ErrorContains(t, err, "exit status 2\nno such flag", "the output says why")
}

func TestWaitForTLS_UnknownCA(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	_, err := http.Get(server.URL)
	require.ErrorContains(t, err, "certificate")
	require.NoError(t, shell(t, "sleep 60").WaitForTLS(t.Context(), server.URL))
}

func TestEnd_ExitError(t *testing.T) {
	for description, script := range map[string]string{
		"a process that ends with an error": `trap 'exit 3' TERM; echo hello; while :; do sleep 0.01; done`,
		"a process that does not listen":    `trap '' TERM; echo hello; while :; do sleep 0.01; done`,
	} {
		t.Run(description, func(t *testing.T) {
			p := shell(t, script)
			require.Eventually(t, func() bool {
				output, err := p.Output()
				return err == nil && output == "hello\n"
			}, 10*time.Second, time.Millisecond)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			p.End(ctx)
			<-p.Exited()
		})
	}
}

func TestStartBare_Environment(t *testing.T) {
	p, err := StartBare("/usr/bin/env", nil, []string{"GREETING=hello"}, filepath.Join(t.TempDir(), "output"))
	require.NoError(t, err)
	<-p.Exited()
	output, err := p.Output()
	require.NoError(t, err)
	assert.Equal(t, "GREETING=hello\n", output)
}

func TestParseMemory(t *testing.T) {
	const rollup = `55cc5d5a4000-7ffd7b9f1000 ---p 00000000 00:00 0                          [rollup]
Rss:               40960 kB
Pss:               30000 kB
Private_Dirty:     40960 kB
Anonymous:         10240 kB
`
	memory, err := parseMemory(rollup)
	require.NoError(t, err)
	assert.Equal(t, Memory{All: 40 << 20, Private: 10 << 20}, memory)

	_, err = parseMemory("")
	assert.Error(t, err)
}
