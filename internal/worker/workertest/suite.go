package workertest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/worker"
)

const (
	// operationTimeout bounds the wait for one operation, rejectionTimeout that for an operation that must not succeed.
	operationTimeout = 3 * time.Minute
	rejectionTimeout = 20 * time.Second
)

// T is the part of testing.TB that scenarios use.
type T interface {
	require.TestingT
	Helper()
	Context() context.Context
	Cleanup(func())
	Failed() bool
}

// Run runs all scenarios without faults. The exploration is a test of its own.
func Run(t *testing.T, server *contracttest.APIServer, subject Subject) {
	t.Helper()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t, newTestEnvironment(t, server, subject, operationTimeout))
		})
	}
}

// Violations runs the scenarios whose names contain a text, one after the other, and returns the failures of the first that
// fails: for drivers that must be rejected.
func Violations(ctx context.Context, server *contracttest.APIServer, subject Subject, selection string) []string {
	for _, s := range scenarios() {
		if !strings.Contains(s.name, selection) {
			continue
		}
		r := &recorder{context: ctx}
		r.run(func(t T) { s.run(t, newTestEnvironment(t, server, subject, rejectionTimeout)) })
		if r.Failed() {
			return append([]string{s.name}, r.violations...)
		}
	}
	return nil
}

func newTestEnvironment(t T, server *contracttest.APIServer, subject Subject, timeout time.Duration) *environment {
	t.Helper()
	env, err := newEnvironment(server, subject, &expectation{want: subject.Want})
	require.NoError(t, err)
	env.timeout = timeout
	t.Cleanup(func() { assert.NoError(t, env.Close()) })
	return env
}

// RunExploration explores the failures that the options select, and fails the test for every case with a wrong result.
func RunExploration(t *testing.T, server *contracttest.APIServer, subject Subject, options contracttest.Options) {
	t.Helper()
	contracttest.RunExploration(t, options, func(ctx context.Context, options contracttest.Options) (*contracttest.Report, error) {
		return Explore(ctx, server, subject, options)
	})
}

// Explore runs the exploration only and returns its report: for drivers that must be rejected.
func Explore(
	ctx context.Context, server *contracttest.APIServer, subject Subject, options contracttest.Options,
) (*contracttest.Report, error) {
	expected := &expectation{want: subject.Want}
	return contracttest.Explore(ctx, server, contracttest.Subject[*extensionsv1alpha1.Worker]{
		CacheTransform: worker.CacheTransform,
		New:            newWorker,
		NewEnvironment: func() (contracttest.Environment[*extensionsv1alpha1.Worker], error) {
			return newEnvironment(server, subject, expected)
		},
		ErrorResponses: subject.ErrorResponses,
	}, options)
}

// recorder is a T that records failures without failing a test.
type recorder struct {
	context context.Context //nolint:containedctx // it is what a test has

	mutex      sync.Mutex
	violations []string
	cleanups   []func()
}

var _ T = (*recorder)(nil)

// run runs a scenario and cleans up.
func (r *recorder) run(do func(T)) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		do(r)
	}()
	<-ended
	for _, clean := range slices.Backward(r.cleanups) {
		clean()
	}
}

// Errorf implements T.
func (r *recorder) Errorf(format string, args ...any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.violations = append(r.violations, fmt.Sprintf(format, args...))
}

// FailNow implements T.
func (r *recorder) FailNow() {
	r.Errorf("the scenario is aborted")
	runtime.Goexit()
}

// Helper implements T.
func (r *recorder) Helper() {}

// Context implements T.
func (r *recorder) Context() context.Context { return r.context }

// Cleanup implements T.
func (r *recorder) Cleanup(clean func()) { r.cleanups = append(r.cleanups, clean) }

// Failed implements T.
func (r *recorder) Failed() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.violations) > 0
}
