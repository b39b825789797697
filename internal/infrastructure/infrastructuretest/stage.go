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
)

// patience is how long a scenario waits for one operation.
const patience = time.Minute

// stage is a namespace with a process under test, for scenarios.
type stage struct {
	t         *testing.T
	world     *world
	host      contracttest.Host
	object    *extensionsv1alpha1.Infrastructure
	gardenlet *contracttest.Gardenlet[*extensionsv1alpha1.Infrastructure]
	process   *contracttest.Process
	stopped   bool
}

// newStage makes a namespace of its own; several stages can share one world. The changes are applied to the object that
// will be deployed.
func newStage(t *testing.T, server *contracttest.APIServer, w *world, changes ...func(*extensionsv1alpha1.Infrastructure)) *stage {
	t.Helper()
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	before, object, err := w.Objects(namespace)
	require.NoError(t, err)
	for _, prerequisite := range before {
		require.NoError(t, server.Client.Create(t.Context(), prerequisite))
	}
	for _, change := range changes {
		change(object)
	}
	s := &stage{
		t: t, world: w, object: object,
		host:      contracttest.Host{Server: server, Namespace: namespace, Faults: &contracttest.Faults{}, Journal: &contracttest.Journal{}},
		gardenlet: contracttest.NewGardenlet(server, client.ObjectKeyFromObject(object), newInfrastructure),
	}
	s.process, err = s.host.Run(context.WithoutCancel(t.Context()), w.Program, nil)
	require.NoError(t, err)
	t.Cleanup(s.stop)
	return s
}

func (s *stage) stop() {
	if s.stopped {
		return
	}
	s.stopped = true
	assert.NoError(s.t, s.process.Stop())
	if s.t.Failed() {
		s.t.Log("what happened lately:\n", s.host.Journal)
	}
}

func (s *stage) deploy(operation string) {
	s.t.Helper()
	require.NoError(s.t, s.gardenlet.Deploy(s.t.Context(), s.object, operation))
}

func (s *stage) create() *extensionsv1alpha1.Infrastructure {
	s.t.Helper()
	s.deploy(v1beta1constants.GardenerOperationReconcile)
	return s.waitReady()
}

func (s *stage) waitReady() *extensionsv1alpha1.Infrastructure {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	object, err := s.gardenlet.WaitReady(ctx)
	require.NoError(s.t, err)
	require.Empty(s.t, s.world.Inspect(true))
	return object
}

func (s *stage) delete() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	require.NoError(s.t, s.gardenlet.Destroy(ctx))
	require.NoError(s.t, s.gardenlet.WaitGone(ctx))
	require.Empty(s.t, s.world.Inspect(false))
}
