package infrastructuretest

import (
	"context"
	"os"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// CasesVariable is the environment variable that selects cases of the exploration, by number or by a part of the name.
const CasesVariable = "TRELLIS_CASES"

// unreachedPercent is how many of the cases may miss their call. What is written to the API server depends a little on how
// tasks happen to run side by side; a driver that calls its cloud at random would exceed it.
const unreachedPercent = 2

// Run plays the whole suite.
func Run(t *testing.T, server *contracttest.APIServer, subject Subject) {
	t.Helper()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			w, err := newWorld(subject, &expectation{want: subject.Want})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, w.Close()) })
			s.play(t, server, w)
		})
	}
	t.Run("every call goes wrong in every way", func(t *testing.T) { explore(t, server, subject) })
}

func explore(t *testing.T, server *contracttest.APIServer, subject Subject) {
	only := os.Getenv(CasesVariable)
	report, err := Explore(t.Context(), server, subject, contracttest.Options{Only: only})
	require.NoError(t, err)
	t.Log(report)
	for _, failure := range report.Failures {
		t.Errorf("%s\nTo play it alone: %s=%d go test -run '^%s$' .", failure, CasesVariable, failure.Case.Number, t.Name())
	}
	for _, c := range report.Unreached {
		t.Logf("not reached: %s", c)
	}
	assert.LessOrEqual(t, len(report.Unreached)*100, report.Total()*unreachedPercent, "too many cases missed their call")
	for _, phase := range contracttest.Phases() {
		assert.Truef(t, only != "" || report.Cases[phase] > 0, "no case in phase %q was played", phase)
	}
}

// Explore plays the exploration alone and returns what it found: for drivers that are to be rejected.
func Explore(
	ctx context.Context, server *contracttest.APIServer, subject Subject, options contracttest.Options,
) (*contracttest.Report, error) {
	expected := &expectation{want: subject.Want}
	return contracttest.Explore(ctx, server, contracttest.Subject[*extensionsv1alpha1.Infrastructure]{
		New: newInfrastructure,
		NewWorld: func() (contracttest.World[*extensionsv1alpha1.Infrastructure], error) {
			return newWorld(subject, expected)
		},
		Refusals: subject.Refusals,
	}, options)
}
