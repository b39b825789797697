package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfigOf(t *testing.T) {
	for what, test := range map[string]struct {
		args     []string
		file     string
		isBundle bool
	}{
		"a container is created": {
			args: []string{"--root", "/run/x", "create", "--bundle", "/b", "--pid-file", "/b/pid", "id"}, file: "/b/config.json", isBundle: true,
		},
		"a container is run from here":      {args: []string{"run", "id"}, file: "config.json", isBundle: true},
		"a bundle behind an equals sign":    {args: []string{"run", "-b=/b", "id"}, file: "/b/config.json", isBundle: true},
		"a process is run in a container":   {args: []string{"--log", "/l", "exec", "--process", "/p.json", "id"}, file: "/p.json"},
		"a process that is not in any file": {args: []string{"exec", "id", "true"}},
		"nothing is started":                {args: []string{"state", "id"}},
	} {
		t.Run(what, func(t *testing.T) {
			file, isBundle := configOf(test.args)
			assert.Equal(t, test.file, file)
			assert.Equal(t, test.isBundle, isBundle)
		})
	}
}

func TestCapabilitiesOf(t *testing.T) {
	assert.Equal(t, []string{"CAP_CHOWN", "CAP_DAC_READ_SEARCH"}, capabilitiesOf("Name:\tx\nCapPrm:\t0000000000000007\nCapBnd:\t0000000000000005\n"))
	all := capabilitiesOf("")
	assert.Len(t, all, 41)
	assert.Equal(t, resource, all[24])
	assert.NotContains(t, capabilitiesOf("CapBnd:\t000001fffeffffff\n"), resource)
}

func TestRights_Limit(t *testing.T) {
	few := rights{capabilities: []string{"CAP_CHOWN"}, oomScoreAdj: -5, limits: map[string]uint64{"RLIMIT_NOFILE": 1024}}
	all := rights{capabilities: []string{"CAP_CHOWN", "CAP_SYS_ADMIN", resource}}
	const process = `{"args":["a"],"capabilities":{"bounding":["CAP_CHOWN","CAP_SYS_ADMIN"],"ambient":null},"oomScoreAdj":-998,` +
		`"rlimits":[{"hard":1048576,"soft":10,"type":"RLIMIT_NOFILE"},{"hard":18446744073709551615,"soft":1,"type":"RLIMIT_OTHER"}]}`
	for what, test := range map[string]struct {
		own      rights
		isBundle bool
		in, out  string
	}{
		"a process with few rights": {
			own: few, in: process,
			out: `{"args":["a"],"capabilities":{"bounding":["CAP_CHOWN"],"ambient":null},"oomScoreAdj":-5,` +
				`"rlimits":[{"hard":1024,"soft":10,"type":"RLIMIT_NOFILE"},{"hard":18446744073709551615,"soft":1,"type":"RLIMIT_OTHER"}]}`,
		},
		"a process with all rights": {own: all, in: process, out: process},
		"a container": {
			own: few, isBundle: true,
			in:  `{"ociVersion":"1.0","process":{"oomScoreAdj":-998},"linux":{"resources":{"memory":{"limit":9223372036854771712}}}}`,
			out: `{"ociVersion":"1.0","process":{"oomScoreAdj":-5},"linux":{"resources":{"memory":{"limit":9223372036854771712}}}}`,
		},
		"a score that may be had":             {own: few, in: `{"oomScoreAdj":100}`, out: `{"oomScoreAdj":100}`},
		"a container that is only prepared":   {own: few, isBundle: true, in: `{"ociVersion":"1.0"}`, out: `{"ociVersion":"1.0"}`},
		"something that says nothing of this": {own: few, in: `{"args":["a"]}`, out: `{"args":["a"]}`},
	} {
		t.Run(what, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.json")
			require.NoError(t, os.WriteFile(file, []byte(test.in), 0o600))
			require.NoError(t, edit(file, test.isBundle, test.own))
			got, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.JSONEq(t, test.out, string(got))
		})
	}
}

func TestEdit_UnreadableConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	assert.ErrorContains(t, edit(file, true, rights{}), "reading the configuration")
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	assert.ErrorContains(t, edit(file, true, rights{}), "decoding")
}

func TestFindRunc(t *testing.T) {
	t.Setenv("RUNC", "/nowhere/runc")
	_, err := findRunc()
	assert.ErrorContains(t, err, "/nowhere/runc")
	t.Setenv("RUNC", os.Args[0])
	found, err := findRunc()
	require.NoError(t, err)
	assert.Equal(t, os.Args[0], found)
}
