package worker

import (
	"net/http"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// testDelete deletes the Worker.
func testDelete(t *testing.T, env *environment) {
	before := time.Now()
	env.destroy(t)
	t.Logf("the deletion took %s", time.Since(before).Round(time.Second))
	env.assertNothingLeft(t)
	env.stopController(t)
	env.removeManager(t)
}

// testCrashInCreate kills the controller and the machine controller in the middle of a creation.
func testCrashInCreate(t *testing.T, env *environment) {
	env.Shoot.Workers = []gardencorev1beta1.Worker{openstack.NewPool(cpu, 3, 3)}
	env.Cloud.SetLatency(200 * time.Millisecond)
	env.startController(t)
	component := env.requestReconcile(t)
	clusterstest.Eventually(t, "there is a port without a server, or a server", func() bool {
		return env.Cloud.Log().Count()["neutron POST /v2.0/ports"] > 0
	})
	env.killController()
	assert.Equal(t, 1, env.seed.Machines.Kill(env.Shoot.Namespace(), openstack.MachineController))
	env.startController(t)
	clusterstest.Eventually(t, "there is a server", func() bool { return len(env.servers("")) > 0 })
	assert.Equal(t, 1, env.seed.Machines.Kill(env.Shoot.Namespace(), openstack.MachineController))
	assert.Equal(t, 1, env.seed.Machines.Kill(env.Shoot.Namespace(), mcm.Manager))
	env.await(t, component)
	env.Cloud.SetLatency(0)
	env.assertMachines(t)
}

// testCrashInDelete does so in the middle of a deletion.
func testCrashInDelete(t *testing.T, env *environment) {
	env.requestDeletion(t)
	clusterstest.Eventually(t, "it is said what is waited for", func() bool {
		last := env.object(t).Status.LastOperation
		return last.Type == gardencorev1beta1.LastOperationTypeDelete && strings.Contains(last.Description, "machine")
	})
	t.Log(env.object(t).Status.LastOperation.Description)
	env.killController()
	assert.Equal(t, 1, env.seed.Machines.Kill(env.Shoot.Namespace(), openstack.MachineController))
	env.startController(t)
	clusterstest.Eventually(t, "a server is deleted", func() bool {
		return len(env.Cloud.Log().Where(func(c wire.Call) bool { return c.Service == services.Nova && c.Method == http.MethodDelete })) > 0
	})
	assert.Equal(t, 1, env.seed.Machines.Kill(env.Shoot.Namespace(), openstack.MachineController))
	require.NoError(t, env.component(t).WaitCleanup(t.Context()))
	env.assertNothingLeft(t)
}

// testForceDelete deletes the Worker of a shoot that is given up: the machines are left to whoever gave it up, and the cloud is not asked.
func testForceDelete(t *testing.T, env *environment) {
	env.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeCreate
	env.Shoot.Workers = []gardencorev1beta1.Worker{openstack.NewPool(cpu, 1, 1)}
	env.reconcile(t)
	servers := ids(env.servers(""))
	env.Shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
	require.NoError(t, env.seed.Gardenlet.Prepare(t.Context(), env.Shoot))
	env.removeManager(t)
	env.Cloud.ResetLog()
	require.NoError(t, env.component(t).Destroy(t.Context()))
	require.NoError(t, env.component(t).WaitCleanup(t.Context()))
	env.stopController(t)
	assert.Empty(t, env.Cloud.Log())
	assert.Equal(t, servers, ids(env.servers("")))

	require.NoError(t, env.seed.Gardenlet.ForgetMachines(t.Context(), env.Shoot))
	clusterstest.Eventually(t, "nothing of the machines is in the seed", func() bool { return len(env.listMachines(t)) == 0 && len(env.classes(t)) == 0 })
	for _, server := range servers {
		ports := env.portsOf(server)
		env.asMember(t, http.MethodDelete, conformance.Compute, "/v2.1/servers/"+server, nil)
		for _, port := range ports {
			env.asMember(t, http.MethodDelete, conformance.Network, "/v2.0/ports/"+port.ID, nil)
		}
	}
}

// asMember makes a request as the shoot's account, behind everybody's back.
func (env *environment) asMember(t *testing.T, method string, service conformance.Service, path string, body any) conformance.Object {
	t.Helper()
	answer, err := env.openstack.Account.DoAsMember(t.Context(), method, service, path, body)
	require.NoError(t, err)
	return answer
}
