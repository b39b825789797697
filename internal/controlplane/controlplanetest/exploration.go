package controlplanetest

import (
	"context"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/controlplane"
)

// RunExploration explores the failures that the options select, and fails the test for every case with a wrong result.
func RunExploration(t *testing.T, server *contracttest.APIServer, subject Subject, options contracttest.Options) {
	t.Helper()
	options.MergeFaults = true
	contracttest.RunExploration(t, options, func(ctx context.Context, options contracttest.Options) (*contracttest.Report, error) {
		return Explore(ctx, server, subject, options)
	})
}

// Explore lets every write to the API server go wrong in every way, one at a time, and returns what it found: for controllers
// that are to be rejected.
func Explore(
	ctx context.Context, server *contracttest.APIServer, subject Subject, options contracttest.Options,
) (*contracttest.Report, error) {
	expected := &expectation{}
	return contracttest.Explore(ctx, server, contracttest.Subject[*extensionsv1alpha1.ControlPlane]{
		CacheTransform: controlplane.CacheTransform,
		New:            newControlPlane,
		NewEnvironment: func() (contracttest.Environment[*extensionsv1alpha1.ControlPlane], error) {
			return &environment{server: server, subject: subject, expected: expected}, nil
		},
		// There is no cloud to refuse anything.
		ErrorResponses: func(contracttest.Call) []contracttest.ErrorResponse { return nil },
	}, options)
}
