package contracttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// CasesVariable is the environment variable that selects cases of explorations by a part of their names.
	CasesVariable = "TRELLIS_CASES"
	// EveryCaseVariable is the environment variable that, when set, makes a case of each combination of call and failure. That takes five times as long.
	EveryCaseVariable = "TRELLIS_EVERY_CASE"
	// ReportVariable is the environment variable that names a file to which the numbers of explorations are appended.
	ReportVariable = "TRELLIS_REPORT"
)

// RunExploration runs the exploration of one contract with the options and the environment variables, and fails the test for every case with a wrong
// result, if too many cases missed their call, or if no case was run. It returns the report for further checks.
func RunExploration(t *testing.T, options Options, explore func(context.Context, Options) (*Report, error)) *Report {
	t.Helper()
	selection := os.Getenv(CasesVariable)
	if os.Getenv(EveryCaseVariable) != "" {
		options.MergeFaults, options.Filter = false, ""
	}
	if selection != "" {
		options.Filter = selection
	}
	report, err := explore(t.Context(), options)
	require.NoError(t, err)
	publish(t, fmt.Sprintf("%s: %s", t.Name(), report))
	for _, failure := range report.Failures {
		t.Errorf("%s\nTo run it alone: %s='%s' go test -run '^%s$' .", failure, CasesVariable, failure.Case, t.Name())
	}
	for _, c := range report.Unreached {
		t.Logf("not reached: %s", c)
	}
	assert.False(t, report.TooManyMissed(), "too many cases missed their call")
	assert.True(t, selection != "" || report.Total() > 0, "no case was run")
	return report
}

// publish logs the numbers, and appends them to a file, since go test does not show the output of tests that pass.
func publish(t *testing.T, numbers string) {
	t.Helper()
	t.Log(numbers)
	path := os.Getenv(ReportVariable)
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	_, err = fmt.Fprintln(file, numbers)
	require.NoError(t, errors.Join(err, file.Close()))
}
