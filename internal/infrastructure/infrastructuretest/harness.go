package infrastructuretest

import (
	"context"
	"testing"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// operationTimeout is how long a scenario waits for one operation.
const operationTimeout = 3 * time.Minute

// harness is a namespace with a process under test, for scenarios.
type harness struct {
	t         *testing.T
	env       *environment
	host      contracttest.Host
	object    *extensionsv1alpha1.Infrastructure
	gardenlet *contracttest.Gardenlet[*extensionsv1alpha1.Infrastructure]
	process   *contracttest.Process
	stopped   bool
}

// newHarness makes a namespace of its own; several stages can share one world. The changes are applied to the object that
// will be deployed.
func newHarness(t *testing.T, server *contracttest.APIServer, env *environment, changes ...func(*extensionsv1alpha1.Infrastructure)) *harness {
	t.Helper()
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	before, object, err := env.Objects(namespace)
	require.NoError(t, err)
	for _, prerequisite := range before {
		require.NoError(t, server.Client.Create(t.Context(), prerequisite))
	}
	for _, change := range changes {
		change(object)
	}
	s := &harness{
		t: t, env: env, object: object,
		host: contracttest.Host{
			Server: server, Namespace: namespace, Faults: &contracttest.Faults{}, Journal: &contracttest.Journal{},
			CacheTransform: infrastructure.CacheTransform,
		},
		gardenlet: contracttest.NewGardenlet(server, client.ObjectKeyFromObject(object), newInfrastructure),
	}
	s.process, err = s.host.Run(context.WithoutCancel(t.Context()), env.Program, nil)
	require.NoError(t, err)
	t.Cleanup(s.stop)
	return s
}

func (s *harness) stop() {
	if s.stopped {
		return
	}
	s.stopped = true
	assert.NoError(s.t, s.process.Stop())
	if s.t.Failed() {
		s.t.Log("what happened lately:\n", s.host.Journal)
	}
}

func (s *harness) deploy(operation string) {
	s.t.Helper()
	require.NoError(s.t, s.gardenlet.Deploy(s.t.Context(), s.object, operation))
}

func (s *harness) create() *extensionsv1alpha1.Infrastructure {
	s.t.Helper()
	s.deploy(v1beta1constants.GardenerOperationReconcile)
	return s.waitReady()
}

func (s *harness) waitReady() *extensionsv1alpha1.Infrastructure {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), operationTimeout)
	defer cancel()
	object, err := s.gardenlet.WaitReady(ctx)
	require.NoError(s.t, err)
	require.Empty(s.t, s.env.Inspect(true))
	return object
}

func (s *harness) delete() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), operationTimeout)
	defer cancel()
	require.NoError(s.t, s.gardenlet.Destroy(ctx))
	require.NoError(s.t, s.gardenlet.WaitGone(ctx))
	require.Empty(s.t, s.env.Inspect(false))
}
