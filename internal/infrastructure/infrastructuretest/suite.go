package infrastructuretest

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

// CasesVariable is the environment variable that selects cases of the exploration by a part of their names.
const CasesVariable = "TRELLIS_CASES"

// ReportVariable is the environment variable that names a file to which the numbers of the exploration are appended.
const ReportVariable = "TRELLIS_REPORT"

// unreachedPercent is the percentage of cases that may miss their call. Cases of saved state count here, unlike in Report.TooManyMissed: state is what
// this contract must not lose.
const unreachedPercent = 2

// Run plays the whole suite.
func Run(t *testing.T, server *contracttest.APIServer, subject Subject) {
	t.Helper()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			env, err := newEnvironment(subject, &expectation{want: subject.Want})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, env.Close()) })
			s.run(t, server, env)
		})
	}
	t.Run("every call goes wrong in every way", func(t *testing.T) { explore(t, server, subject) })
}

func explore(t *testing.T, server *contracttest.APIServer, subject Subject) {
	only := os.Getenv(CasesVariable)
	report, err := Explore(t.Context(), server, subject, contracttest.Options{Filter: only})
	require.NoError(t, err)
	publishReport(t, fmt.Sprintf("infrastructure, type %s: %s", subject.Type, report))
	for _, failure := range report.Failures {
		t.Errorf("%s\nTo play it alone: %s='%s' go test -run '^%s$' .", failure, CasesVariable, failure.Case, t.Name())
	}
	for _, c := range report.Unreached {
		t.Logf("not reached: %s", c)
		assert.NotEqual(t, contracttest.Cloud, c.Fault.Call.Target, "a driver calls its cloud in one run and not in the next")
	}
	assert.LessOrEqual(t, len(report.Unreached)*100, report.Total()*unreachedPercent, "too many cases missed their call")
	for _, phase := range contracttest.Phases() {
		assert.Truef(t, only != "" || report.Cases[phase] > 0, "no case in phase %q was played", phase)
	}
}

// publishReport prints the numbers, and keeps them where go test shows nothing of what passes.
func publishReport(t *testing.T, numbers string) {
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

// Explore plays the exploration alone and returns what it found: for drivers that are to be rejected.
func Explore(
	ctx context.Context, server *contracttest.APIServer, subject Subject, options contracttest.Options,
) (*contracttest.Report, error) {
	expected := &expectation{want: subject.Want}
	return contracttest.Explore(ctx, server, contracttest.Subject[*extensionsv1alpha1.Infrastructure]{
		New: newInfrastructure,
		NewEnvironment: func() (contracttest.Environment[*extensionsv1alpha1.Infrastructure], error) {
			return newEnvironment(subject, expected)
		},
		ErrorResponses: subject.ErrorResponses,
	}, options)
}
