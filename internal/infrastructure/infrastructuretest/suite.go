package infrastructuretest

import (
	"context"
	"os"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// unreachedPercent is the percentage of cases that may miss their call. Cases of saved state count here, unlike in Report.TooManyMissed: state is what
// this contract must not lose.
const unreachedPercent = 2

// Run runs the whole suite.
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
	isSelection := os.Getenv(contracttest.CasesVariable) != ""
	report := contracttest.RunExploration(t, contracttest.Options{Filter: subject.Cases, MergeFaults: subject.MergeFaults}, func(ctx context.Context, options contracttest.Options) (*contracttest.Report, error) {
		return Explore(ctx, server, subject, options)
	})
	for _, c := range report.Unreached {
		assert.NotEqual(t, contracttest.Cloud, c.Fault.Call.Target, "%s: a driver calls its cloud in one run and not in the next", c)
	}
	assert.LessOrEqual(t, len(report.Unreached)*100, report.Total()*unreachedPercent, "too many cases missed their call")
	for _, phase := range contracttest.Phases() {
		assert.Truef(t, isSelection || report.Cases[phase] > 0, "no case in phase %q was run", phase)
	}
}

// Explore runs the exploration only and returns what it found: for drivers that are to be rejected.
func Explore(
	ctx context.Context, server *contracttest.APIServer, subject Subject, options contracttest.Options,
) (*contracttest.Report, error) {
	expected := &expectation{want: subject.Want}
	return contracttest.Explore(ctx, server, contracttest.Subject[*extensionsv1alpha1.Infrastructure]{
		CacheTransform: infrastructure.CacheTransform,
		New:            newInfrastructure,
		NewEnvironment: func() (contracttest.Environment[*extensionsv1alpha1.Infrastructure], error) {
			return newEnvironment(subject, expected)
		},
		ErrorResponses: subject.ErrorResponses,
	}, options)
}
