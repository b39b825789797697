// Package testenv is the environment of a controller's tests: real API servers with the CustomResourceDefinitions of seeds, the binary as it is
// released, and for each test an Env in which it can start and end that binary, request operations as gardenlet does, and examine the seed and
// the cloud. It must not depend on a controller.
package testenv

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

const (
	// timeout bounds each wait. It is long, because it only takes time if a test fails.
	timeout  = 5 * time.Minute
	interval = 50 * time.Millisecond
)

// Fixture is shared by the tests of one controller: two empty seeds, of which the second is for migrations, and the binary as it is released.
// Each test runs its own process of it, so the tests do not run in parallel.
type Fixture struct {
	// Controller is the controller, Binary its path.
	Controller          controller.Binary
	Binary              string
	Source, Destination *clusters.Seed
	// Provider is that of the tests' clouds.
	Provider Provider
}

// Provider says what a test gets of a provider.
type Provider struct {
	// Type is the provider type.
	Type string
	// OpenCloud starts the cloud of a test, which closes it.
	OpenCloud func() (cloud.Cloud, error)
	// Resources are those of an account with one default shoot, by kind, and Logins the calls by which a new process logs in to it.
	Resources map[string]int
	Logins    int
}

// Account is an account of a cloud whose resources can be counted.
type Account interface {
	cloud.Account
	CountByKind(ctx context.Context) (map[string]int, error)
}

// New builds the binary and starts the seeds.
func New(t *testing.T, provider Provider) *Fixture {
	t.Helper()
	what := controller.Infrastructure()
	binary, err := what.Build(t.Context())
	require.NoError(t, err)
	started := clusterstest.New(t, clusters.Options{Bare: true, Seeds: 2})
	t.Cleanup(func() {
		for _, s := range started.Seeds {
			clusterstest.AssertNoWriteForbidden(t, s.Seed)
		}
	})
	return &Fixture{Controller: what, Binary: binary, Source: started.Source, Destination: started.Destination, Provider: provider}
}

// With returns the same seeds and binary for tests of another provider.
func (f *Fixture) With(provider Provider) *Fixture {
	other := *f
	other.Provider = provider
	return &other
}

// timeoutContext is for cleaning up after the end of the test.
func timeoutContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), timeout)
}
