package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseScale(t *testing.T) {
	for text, want := range map[string][]int{"1,10, 100": {1, 10, 100}, "7": {7}, "": nil, "none": nil} {
		got, err := parseScale(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"1,ten": `"ten" is not a number of shoots; give numbers with commas, such as 1,10,100`,
		"0":     `"0" is not a number of shoots; give numbers with commas, such as 1,10,100`,
		"10,1":  "1 does not exceed the number before it; give them in ascending order",
		"10,10": "10 does not exceed the number before it; give them in ascending order",
	} {
		_, err := parseScale(text)
		assert.EqualError(t, err, want, text)
	}
}

func TestResults_Write(t *testing.T) {
	record, err := readMonolith()
	require.NoError(t, err)
	r := winner()
	r.Date, r.Commit = "2026-11-28", "0123456789ab"
	r.Machine = machine{CPU: "Some CPU", CPUs: 2, MemoryMegabytes: 25_279, System: "linux/amd64", Go: "go1.26", Load: 1.5}
	r.Scale[0].Steps = append(r.Scale[0].Steps, stepResult{Name: stepDelete, Seconds: 3, Calls: map[string]int{"neutron DELETE /v2.0/networks/{id}": 200}})
	r.Comparison = compareAll(r, record)
	folder := t.TempDir()
	single := filepath.Join(t.TempDir(), "file.json")
	require.NoError(t, r.write(options{folder: folder, json: single}))

	content, err := os.ReadFile(filepath.Join(folder, "results.json"))
	require.NoError(t, err)
	read := &results{}
	require.NoError(t, json.Unmarshal(content, read))
	assert.Equal(t, r, read, "nothing is lost")
	again, err := os.ReadFile(single)
	require.NoError(t, err)
	assert.Equal(t, content, again)

	page, err := os.ReadFile(filepath.Join(folder, "results.md"))
	require.NoError(t, err)
	for _, want := range []string{
		"# Results of 2026-11-28", "Commit `0123456789ab`; Some CPU with 2 processors, 25.3 GB of memory, linux/amd64, go1.26; load average before the run 1.5.",
		"| Infrastructure, first: calls and logins | 8, 0 | 23, 2 |  | won |", "## 200 shoots", "neutron DELETE /v2.0/networks/{id}", "![Processor time of all controllers](cpu.svg)",
	} {
		assert.Contains(t, string(page), want)
	}
	for _, p := range pictures(r.Scale, record) {
		assert.FileExists(t, filepath.Join(folder, p.file))
	}
	require.NoError(t, r.write(options{folder: filepath.Join(folder, "missing")}))
	assert.FileExists(t, filepath.Join(folder, "missing", "results.md"))
	assert.Error(t, r.write(options{folder: filepath.Join(folder, "results.md", "below-a-file")}))
}

func TestNewResults(t *testing.T) {
	r, err := newResults(t.Context())
	require.NoError(t, err)
	assert.Regexp(t, `^\d{4}-\d\d-\d\d$`, r.Date)
	assert.NotEmpty(t, r.Commit)
	assert.Positive(t, r.Machine.CPUs)
	assert.NotEmpty(t, r.Machine.String())
}
