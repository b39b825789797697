package networktest

import (
	"context"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/network"
)

// RunExploration explores the failures that the options select, and fails the test for every case with a wrong result. The shoot changes its
// configuration as given when it moves to another seed.
func RunExploration(t *testing.T, server *contracttest.APIServer, subject Subject, change Change, options contracttest.Options) {
	t.Helper()
	options.MergeFaults = true
	contracttest.RunExploration(t, options, func(ctx context.Context, options contracttest.Options) (*contracttest.Report, error) {
		return Explore(ctx, server, subject, change, options)
	})
}

// Explore fails every write to the API server in every way, one at a time, and returns what it found: for drivers that must be rejected.
func Explore(
	ctx context.Context, server *contracttest.APIServer, subject Subject, change Change, options contracttest.Options,
) (*contracttest.Report, error) {
	known := &baseline{contents: map[bool]*content{}}
	return contracttest.Explore(ctx, server, contracttest.Subject[*extensionsv1alpha1.Network]{
		CacheTransform: network.CacheTransform,
		New:            newNetwork,
		NewEnvironment: func() (contracttest.Environment[*extensionsv1alpha1.Network], error) {
			return &environment{server: server, subject: subject, change: change, baseline: known, driver: &checkedDriver{driver: subject.Driver}}, nil
		},
		// There is no cloud whose calls could be refused.
		ErrorResponses: func(contracttest.Call) []contracttest.ErrorResponse { return nil },
	}, options)
}
