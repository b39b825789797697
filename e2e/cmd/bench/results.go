package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// results are what a run has measured. Parts that were not run are missing.
type results struct {
	Date    string  `json:"date"`
	Commit  string  `json:"commit"`
	Machine machine `json:"machine"`
	// Infrastructure has the operations on one shoot's Infrastructure by their rows, with that latency of a call.
	Infrastructure      map[string]operationResult `json:"infrastructure,omitempty"`
	LatencyMilliseconds int64                      `json:"latencyMilliseconds,omitempty"`
	AWS                 *awsResult                 `json:"aws,omitempty"`
	Machines            *machinesResult            `json:"machines,omitempty"`
	Scale               []scaleResult              `json:"scale,omitempty"`
	Secondaries         *secondariesResult         `json:"secondaries,omitempty"`
	Comparison          []comparison               `json:"comparison,omitempty"`
}

// operationResult is one operation.
type operationResult struct {
	Calls   int     `json:"calls"`
	Logins  int     `json:"logins"`
	Seconds float64 `json:"seconds"`
}

func (c cost) result() operationResult {
	return operationResult{Calls: c.calls, Logins: c.logins, Seconds: c.wall.Seconds()}
}

// machine is where a run has measured. Load is the kernel's load average of the minute before the run.
type machine struct {
	CPU             string  `json:"cpu"`
	CPUs            int     `json:"cpus"`
	MemoryMegabytes int64   `json:"memoryMegabytes"`
	System          string  `json:"system"`
	Go              string  `json:"go"`
	Load            float64 `json:"load"`
}

// newResults describes the machine and the checkout.
func newResults(ctx context.Context) (*results, error) {
	root, err := repo.Root()
	if err != nil {
		return nil, err
	}
	describe := exec.CommandContext(ctx, "git", "describe", "--always", "--abbrev=12", "--dirty", "--exclude", "*")
	describe.Dir = root
	commit, err := describe.Output()
	if err != nil {
		commit = []byte("unknown") // an archive without history
	}
	return &results{Date: time.Now().UTC().Format(time.DateOnly), Commit: strings.TrimSpace(string(commit)), Machine: thisMachine()}, nil
}

// thisMachine describes what Linux tells. On other systems it stays unknown.
func thisMachine() machine {
	m := machine{CPU: "unknown", CPUs: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	if model := field("/proc/cpuinfo", "model name"); model != "" {
		m.CPU = model
	}
	if kilobytes, err := strconv.ParseInt(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB"), 10, 64); err == nil {
		m.MemoryMegabytes = kilobytes * 1024 / megabyte
	}
	if content, err := os.ReadFile("/proc/loadavg"); err == nil {
		minute, _, _ := strings.Cut(string(content), " ")
		m.Load, _ = strconv.ParseFloat(minute, 64)
	}
	return m
}

// field returns the first value of a name in a file of lines "name: value".
func field(path, name string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(content)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// String describes the machine in a sentence.
func (m machine) String() string {
	return fmt.Sprintf("%s with %s, %.1f GB of memory, %s, %s; load average before the run %.1f",
		m.CPU, count(m.CPUs, "processor"), float64(m.MemoryMegabytes)/1000, m.System, m.Go, m.Load)
}

// writeJSON writes the results to a file.
func (r *results) writeJSON(path string) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}
