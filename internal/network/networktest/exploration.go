package networktest

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
	// EveryCaseVariable is the environment variable that, when set, makes a case of each combination of call and failure. That takes five times as long.
	EveryCaseVariable = "TRELLIS_EVERY_CASE"
	// ReportVariable is the environment variable that names a file to which the numbers of the exploration are appended.
	ReportVariable = "TRELLIS_REPORT"
)

// RunExploration explores the failures that the options select, and fails the test for every case with a wrong result. The shoot changes its
// configuration as given when it moves to another seed. Nodes roll out at once, unless the environment variable selects every case.
func RunExploration(t *testing.T, server *contracttest.APIServer, subject Subject, change Change, options contracttest.Options) {
	t.Helper()
	selection := os.Getenv(CasesVariable)
	options.MergeFaults = os.Getenv(EveryCaseVariable) == ""
	if !options.MergeFaults || selection != "" {
		options.Filter = selection
	}
	report, err := Explore(t.Context(), server, subject, change, options)
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

// Explore fails every write to the API server in every way, one at a time, and returns what it found: for drivers that must be rejected.
func Explore(
	ctx context.Context, server *contracttest.APIServer, subject Subject, change Change, options contracttest.Options,
) (*contracttest.Report, error) {
	known := &baseline{contents: map[bool]*content{}}
	return contracttest.Explore(ctx, server, contracttest.Subject[*extensionsv1alpha1.Network]{
		New: newNetwork,
		NewEnvironment: func() (contracttest.Environment[*extensionsv1alpha1.Network], error) {
			return &environment{server: server, subject: subject, change: change, baseline: known, driver: &checkedDriver{driver: subject.Driver}}, nil
		},
		// There is no cloud whose calls could be refused.
		ErrorResponses: func(contracttest.Call) []contracttest.ErrorResponse { return nil },
	}, options)
}
