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

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// testDelete deletes the Worker.
func testDelete(t *testing.T, w *world) {
	before := time.Now()
	w.destroy(t)
	t.Logf("the deletion took %s", time.Since(before).Round(time.Second))
	w.assertNothingLeft(t)
	w.stopController(t)
	w.removeManager(t)
}

// testCrashInCreate kills the controller and the machine controller in the middle of a creation.
func testCrashInCreate(t *testing.T, w *world) {
	w.Shoot.Workers = []gardencorev1beta1.Worker{openstack.NewPool(cpu, 3, 3)}
	w.Cloud.SetLatency(200 * time.Millisecond)
	w.startController(t)
	component := w.order(t)
	groundtest.Eventually(t, "there is a port without a server, or a server", func() bool {
		return w.Cloud.Log().Count()["neutron POST /v2.0/ports"] > 0
	})
	w.killController()
	assert.Equal(t, 1, w.machines.Kill(w.Shoot.Namespace(), mcm.MachineController))
	w.startController(t)
	groundtest.Eventually(t, "there is a server", func() bool { return len(w.servers("")) > 0 })
	assert.Equal(t, 1, w.machines.Kill(w.Shoot.Namespace(), mcm.MachineController))
	assert.Equal(t, 1, w.machines.Kill(w.Shoot.Namespace(), mcm.Manager))
	w.await(t, component)
	w.Cloud.SetLatency(0)
	w.assertMachines(t)
}

// testCrashInDelete does so in the middle of a deletion.
func testCrashInDelete(t *testing.T, w *world) {
	w.orderDeletion(t)
	groundtest.Eventually(t, "it is said what is waited for", func() bool {
		last := w.object(t).Status.LastOperation
		return last.Type == gardencorev1beta1.LastOperationTypeDelete && strings.Contains(last.Description, "machine")
	})
	t.Log(w.object(t).Status.LastOperation.Description)
	w.killController()
	assert.Equal(t, 1, w.machines.Kill(w.Shoot.Namespace(), mcm.MachineController))
	w.startController(t)
	groundtest.Eventually(t, "a server is deleted", func() bool {
		return len(w.Cloud.Log().Where(func(c wire.Call) bool { return c.Service == wire.Nova && c.Method == http.MethodDelete })) > 0
	})
	assert.Equal(t, 1, w.machines.Kill(w.Shoot.Namespace(), mcm.MachineController))
	require.NoError(t, w.component(t).WaitCleanup(t.Context()))
	w.assertNothingLeft(t)
}

// testForceDelete deletes the Worker of a shoot that is given up: the machines are left to whoever gave it up, and the cloud is not asked.
func testForceDelete(t *testing.T, w *world) {
	w.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeCreate
	w.Shoot.Workers = []gardencorev1beta1.Worker{openstack.NewPool(cpu, 1, 1)}
	w.fulfil(t)
	servers := ids(w.servers(""))
	w.Shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
	require.NoError(t, w.seed.Gardenlet.Prepare(t.Context(), w.Shoot))
	w.removeManager(t)
	w.Cloud.ResetLog()
	require.NoError(t, w.component(t).Destroy(t.Context()))
	require.NoError(t, w.component(t).WaitCleanup(t.Context()))
	w.stopController(t)
	assert.Empty(t, w.Cloud.Log())
	assert.Equal(t, servers, ids(w.servers("")))

	require.NoError(t, w.seed.Gardenlet.ForgetMachines(t.Context(), w.Shoot))
	groundtest.Eventually(t, "nothing of the machines is in the seed", func() bool { return len(w.listMachines(t)) == 0 && len(w.classes(t)) == 0 })
	for _, server := range servers {
		ports := w.portsOf(server)
		w.asMember(t, http.MethodDelete, conformance.Compute, "/v2.1/servers/"+server, nil)
		for _, port := range ports {
			w.asMember(t, http.MethodDelete, conformance.Network, "/v2.0/ports/"+port.ID, nil)
		}
	}
}

// asMember makes a request as the shoot's account, behind everybody's back.
func (w *world) asMember(t *testing.T, method string, service conformance.Service, path string, body any) conformance.Object {
	t.Helper()
	answer, err := w.Account.AsMember(t.Context(), method, service, path, body)
	require.NoError(t, err)
	return answer
}
