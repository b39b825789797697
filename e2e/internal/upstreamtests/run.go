package upstreamtests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Run describes a run of tests.
type Run struct {
	// Focus and Skip are regular expressions for names of tests. One without a match is an error.
	Focus, Skip string
	// Kubeconfig is an administrator's.
	Kubeconfig string
	// Dir is an existing folder for the report and the output.
	Dir string
	// Nodes is how many nodes pods may run on.
	Nodes int
	// Processes is how many tests run at once.
	Processes int
	// Timeout bounds all of them.
	Timeout time.Duration
}

// Result is that of one test.
type Result struct {
	Name     string
	Passed   bool
	Duration time.Duration
	// Failure says why it has not passed.
	Failure string
}

// Tests runs tests against a cluster and returns their results, sorted by name. What a run prints is in a file in its folder. That tests fail is no error, but that
// none have run is.
func (s *Suite) Tests(ctx context.Context, run Run) ([]Result, error) {
	const report = "report.json"
	log, err := os.Create(filepath.Join(run.Dir, "tests.log"))
	if err != nil {
		return nil, fmt.Errorf("creating the log of upstream's tests: %w", err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(ctx, s.path("ginkgo"),
		fmt.Sprintf("--procs=%d", max(run.Processes, 1)), "--timeout="+run.Timeout.String(), "--no-color", "--silence-skips", "--json-report="+report, "--output-dir="+run.Dir,
		"--focus="+run.Focus, "--skip="+run.Skip,
		s.path("e2e.test"), "--", "--kubeconfig="+run.Kubeconfig, "--provider=local", fmt.Sprintf("--num-nodes=%d", run.Nodes), "--kubectl-path="+s.path("kubectl"), "--disable-log-dump", "--dump-logs-on-failure=false")
	cmd.Stdout, cmd.Stderr = log, log
	failed := cmd.Run() // also when a test has
	content, err := os.ReadFile(filepath.Join(run.Dir, report))
	if err != nil {
		return nil, fmt.Errorf("upstream's tests have not run: %w; see %s", errors.Join(failed, err), log.Name())
	}
	results, err := decode(content)
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("no test of upstream's has run for %q without %q: %w; see %s", run.Focus, run.Skip, failed, log.Name())
	}
	return results, nil
}

// decode reads Ginkgo's report. Besides tests it has nodes that set up and clean up, which only count if they fail.
func decode(content []byte) ([]Result, error) {
	var reports []struct {
		SpecReports []struct {
			ContainerHierarchyTexts []string      `json:"ContainerHierarchyTexts"`
			LeafNodeType            string        `json:"LeafNodeType"`
			LeafNodeText            string        `json:"LeafNodeText"`
			State                   string        `json:"State"`
			RunTime                 time.Duration `json:"RunTime"`
			Failure                 struct {
				Message string `json:"Message"`
			} `json:"Failure"`
		} `json:"SpecReports"`
	}
	if err := json.Unmarshal(content, &reports); err != nil {
		return nil, fmt.Errorf("reading the report of upstream's tests: %w", err)
	}
	var results []Result
	for _, report := range reports {
		for _, spec := range report.SpecReports {
			passed := spec.State == "passed"
			if (spec.State == "skipped" && spec.Failure.Message == "") || spec.State == "pending" || spec.LeafNodeType != "It" && passed {
				continue
			}
			name := strings.Join(append(spec.ContainerHierarchyTexts, spec.LeafNodeText), " ")
			if spec.LeafNodeType != "It" {
				name = strings.TrimSpace(spec.LeafNodeType + " " + name)
			}
			result := Result{Name: name, Passed: passed, Duration: spec.RunTime}
			if !passed {
				result.Failure = spec.State + ": " + spec.Failure.Message
			}
			results = append(results, result)
		}
	}
	slices.SortFunc(results, func(a, b Result) int { return strings.Compare(a.Name, b.Name) })
	return results, nil
}

// Print writes a line for each result.
func Print(out io.Writer, results []Result) {
	for _, result := range results {
		word := "passed"
		if !result.Passed {
			word = "FAILED"
		}
		fmt.Fprintf(out, "%s %6.1f s  %s\n", word, result.Duration.Seconds(), result.Name)
	}
}
