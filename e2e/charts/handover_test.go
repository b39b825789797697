package charts

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	shoots "github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// handOverChart is the chart of the primaries that follow each other, and handOverType the type of their objects.
const handOverChart, handOverType = "infrastructure-controller", "openstack"

// installedPrimary is an installation of a primary: the objects of its chart, and a process with the identity of its ServiceAccount.
type installedPrimary struct {
	*environment
	release charts.Release
	process *controller.Controller
}

// handedOver is an Infrastructure that one primary hands over to another one.
type handedOver struct {
	*environment
	shoot  *shoots.Shoot
	object *unstructured.Unstructured
}

// testHandOver hands an Infrastructure over from one primary to another one in another namespace, and back, in the order of
// docs/operations/secondaries.md. Its guards are those of the charts. A secondary writes its condition all the time.
func testHandOver(t *testing.T, env *environment) {
	h := env.newHandedOver(t)
	present := env.installPrimary(t, "present")
	present.setGuards(t, true)
	present.start(t)
	h.reconcile(t)
	next := env.installPrimary(t, "next")
	h.awaitGuarded(t, next, true)
	h.assertPermitted(t, present, next)
	status := h.read(t)

	for _, step := range []struct{ from, to *installedPrimary }{{present, next}, {next, present}} {
		// 1. The guards of the present primary are disabled.
		step.from.setGuards(t, false)
		h.awaitGuarded(t, step.to, false)
		// 2. The next primary is installed without guards in place of the present one.
		step.from.stop(t)
		h.observe(t)
		step.to.start(t)
		// 3. The first success.
		h.reconcile(t)
		// 4. The guards of the next primary are enabled.
		step.to.setGuards(t, true)
		h.awaitGuarded(t, step.from, true)
		h.assertPermitted(t, step.to, step.from)
		h.reconcile(t)
		for _, field := range []string{"providerStatus", "egressCIDRs", "nodesCIDR"} {
			assert.Equal(t, h.field(t, status, field), h.field(t, h.read(t), field), field)
		}
	}
	require.NoError(t, env.Gardenlet.Infrastructure(h.shoot).Destroy(t.Context()))
	require.NoError(t, env.Gardenlet.Infrastructure(h.shoot).WaitCleanup(t.Context()))
	present.stop(t)
	present.setGuards(t, false) // other parts have guards of their own
	free := guarded{env, handOverChart, "Infrastructure", "infrastructures", handOverType}.create(t, "free", handOverType, nil)
	h.object = free
	h.awaitGuarded(t, next, false)
}

func (env *environment) newHandedOver(t *testing.T) *handedOver {
	t.Helper()
	cloud, err := openstack.NewFake()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, cloud.Close()) })
	account, err := cloud.NewAccount(t.Context(), "handed-over")
	require.NoError(t, err)
	h := &handedOver{environment: env, shoot: account.NewShoot("handed-over"), object: &unstructured.Unstructured{}}
	require.NoError(t, env.Gardenlet.Prepare(t.Context(), h.shoot))
	h.object.SetAPIVersion("extensions.gardener.cloud/v1alpha1")
	h.object.SetKind("Infrastructure")
	h.object.SetName(h.shoot.Name)
	h.object.SetNamespace(h.shoot.Namespace())
	return h
}

// installPrimary creates a primary's namespace, and the objects of its chart that give it its rights.
func (env *environment) installPrimary(t *testing.T, name string) *installedPrimary {
	t.Helper()
	p := &installedPrimary{environment: env, release: charts.Release{Name: name, Namespace: "extension-" + name}}
	require.NoError(t, env.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.release.Namespace}}))
	for _, object := range p.objects(t, false) {
		if strings.Contains(object.GetKind(), "Role") || object.GetKind() == "ServiceAccount" {
			require.NoError(t, env.Client.Create(t.Context(), object))
		}
	}
	return p
}

// objects are those of the chart, with or without guards.
func (p *installedPrimary) objects(t *testing.T, guards bool) []*unstructured.Unstructured {
	t.Helper()
	return renderAs(t, p.release, handOverChart, map[string]any{"statusGuard": map[string]any{"enabled": guards}})
}

// setGuards applies the chart with another value as Helm does, with respect to the objects that depend on the value.
func (p *installedPrimary) setGuards(t *testing.T, enabled bool) {
	t.Helper()
	with, without := p.objects(t, true), p.objects(t, false)
	count := 0
	for _, object := range with {
		if slices.ContainsFunc(without, func(o *unstructured.Unstructured) bool {
			return o.GetKind() == object.GetKind() && o.GetName() == object.GetName()
		}) {
			continue
		}
		count++
		assert.Contains(t, object.GetKind(), "ValidatingAdmissionPolicy")
		if enabled {
			require.NoError(t, p.Client.Create(t.Context(), object))
		} else {
			require.NoError(t, p.Client.Delete(t.Context(), object))
		}
	}
	require.Equal(t, 4, count, "two policies with their bindings")
}

func (p *installedPrimary) account() string {
	return "system:serviceaccount:" + p.release.Namespace + ":gardener-extension-" + p.release.Name
}

// start starts the process, by a kubeconfig of an administrator that acts as the ServiceAccount: this API server has no tokens for those.
func (p *installedPrimary) start(t *testing.T) {
	t.Helper()
	kubeconfig, err := clientcmd.LoadFromFile(p.Kubeconfig)
	require.NoError(t, err)
	for _, user := range kubeconfig.AuthInfos {
		user.Impersonate = p.account()
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*kubeconfig, path))
	binary := controller.Binary{Name: p.release.Namespace, Command: handOverChart, Types: []string{handOverType}}
	built, err := binary.Build(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	p.process, err = binary.Start(ctx, controller.Options{
		Path: built, Kubeconfig: path, Output: filepath.Join(t.TempDir(), "log"), LeaderElection: true,
		Args: []string{"--leader-election-id=" + p.release.Name + "-leader-election"},
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		p.process.Kill()
		if output, err := p.process.Output(); t.Failed() {
			t.Log(p.release.Name, output, err)
		}
	})
}

func (p *installedPrimary) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	require.NoError(t, p.process.Terminate(ctx))
}

// reconcile reconciles as gardenlet does, and waits for the primary that runs.
func (h *handedOver) reconcile(t *testing.T) {
	t.Helper()
	before := time.Time{}
	if object, err := h.Gardenlet.Get(t.Context(), h.shoot); err == nil {
		before = object.Status.LastOperation.LastUpdateTime.Time
		shoots.AwaitNextSecond(before)
	}
	component := h.Gardenlet.Infrastructure(h.shoot)
	require.NoError(t, component.Deploy(t.Context()))
	require.NoError(t, component.Wait(t.Context()))
	object, err := h.Gardenlet.Get(t.Context(), h.shoot)
	require.NoError(t, err)
	require.Equal(t, gardencorev1beta1.LastOperationStateSucceeded, object.Status.LastOperation.State)
	require.True(t, object.Status.LastOperation.LastUpdateTime.After(before))
	h.observe(t)
}

// writeStatus changes what only the primary may change, as a dry run.
func (h *handedOver) writeStatus(t *testing.T, user string) error {
	t.Helper()
	return h.as(t, user).Status().Patch(t.Context(), h.object.DeepCopy(),
		client.RawPatch(types.MergePatchType, []byte(`{"status":{"observedGeneration":77}}`)), client.DryRunAll)
}

// writeFinalizers is writeStatus for the object itself.
func (h *handedOver) writeFinalizers(t *testing.T, user string) error {
	t.Helper()
	return h.as(t, user).Patch(t.Context(), h.object.DeepCopy(),
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":["extensions.gardener.cloud/infrastructure","example.org/other"]}}`)), client.DryRunAll)
}

// awaitGuarded waits until the guards of another primary take effect for one, or do not any more.
func (h *handedOver) awaitGuarded(t *testing.T, p *installedPrimary, guarded bool) {
	t.Helper()
	for end := time.Now().Add(timeout); ; time.Sleep(interval) {
		status, object := h.writeStatus(t, p.account()), h.writeFinalizers(t, p.account())
		if apierrors.IsForbidden(status) == guarded && apierrors.IsForbidden(object) == guarded {
			return
		}
		require.True(t, time.Now().Before(end), "%s guarded: %t; %v, %v", p.release.Name, guarded, status, object)
	}
}

// assertPermitted asserts that one primary may write the object, and the other one may not.
func (h *handedOver) assertPermitted(t *testing.T, yes, no *installedPrimary) {
	t.Helper()
	require.NoError(t, h.writeStatus(t, yes.account()))
	require.NoError(t, h.writeFinalizers(t, yes.account()))
	require.ErrorContains(t, h.writeStatus(t, no.account()), "Only "+yes.account()+" and Gardener may change the status")
	require.ErrorContains(t, h.writeFinalizers(t, no.account()), "metadata.finalizers, which are those of "+yes.account())
	h.observe(t)
}

// observe writes a condition as a secondary, which must always be possible, and reads it.
func (h *handedOver) observe(t *testing.T) {
	t.Helper()
	current := h.read(t)
	before := current.DeepCopy()
	observed := condition("True")
	observed["message"] = time.Now().String()
	require.NoError(t, unstructured.SetNestedSlice(current.Object, []any{observed}, "status", "conditions"))
	require.NoError(t, h.as(t, secondary, writersGroup).Status().Patch(t.Context(), current, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

func (h *handedOver) read(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	current := h.object.DeepCopy()
	require.NoError(t, h.Client.Get(t.Context(), client.ObjectKeyFromObject(h.object), current))
	return current
}

func (h *handedOver) field(t *testing.T, object *unstructured.Unstructured, name string) any {
	t.Helper()
	value, _, err := unstructured.NestedFieldNoCopy(object.Object, "status", name)
	require.NoError(t, err)
	return value
}
