package controlplanetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

const (
	// CasesVariable is the environment variable that selects cases of the exploration by a part of their names.
	CasesVariable = "TRELLIS_CASES"
	// EveryCaseVariable is the environment variable that, when set, makes a case of each call and each thing that can happen to
	// it. That takes five times as long.
	EveryCaseVariable = "TRELLIS_EVERY_CASE"
	// ReportVariable is the environment variable that names a file to which the numbers of the exploration are appended.
	ReportVariable = "TRELLIS_REPORT"
)

// RunExploration explores the failures that the options select, and fails the test for every case with a wrong result. Failures are merged
// unless the environment variable selects every case.
func RunExploration(t *testing.T, server *contracttest.APIServer, subject Subject, options contracttest.Options) {
	t.Helper()
	selection := os.Getenv(CasesVariable)
	options.MergeFaults = os.Getenv(EveryCaseVariable) == ""
	if !options.MergeFaults || selection != "" {
		options.Filter = selection
	}
	report, err := Explore(t.Context(), server, subject, options)
	require.NoError(t, err)
	publishReport(t, fmt.Sprintf("%s: %s", t.Name(), report))
	for _, failure := range report.Failures {
		t.Errorf("%s\nTo play it alone: %s='%s' go test -run '^%s$' .", failure, CasesVariable, failure.Case, t.Name())
	}
	for _, c := range report.Unreached {
		t.Logf("not reached: %s", c)
	}
	assert.False(t, report.TooManyMissed(), "too many cases missed their call")
	assert.True(t, selection != "" || report.Total() > 0, "no case was played")
}

// publishReport prints the numbers, and keeps them where go test shows nothing of what passes.
func publishReport(t *testing.T, numbers string) {
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

// Explore lets every write to the API server go wrong in every way, one at a time, and returns what it found: for controllers
// that are to be rejected.
func Explore(
	ctx context.Context, server *contracttest.APIServer, subject Subject, options contracttest.Options,
) (*contracttest.Report, error) {
	expected := &expectation{}
	return contracttest.Explore(ctx, server, contracttest.Subject[*extensionsv1alpha1.ControlPlane]{
		New: newControlPlane,
		NewEnvironment: func() (contracttest.Environment[*extensionsv1alpha1.ControlPlane], error) {
			return &environment{server: server, subject: subject, expected: expected}, nil
		},
		// There is no cloud to refuse anything.
		ErrorResponses: func(contracttest.Call) []contracttest.ErrorResponse { return nil },
	}, options)
}
