package networktest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/network"
)

// RunSideBySide lets one process serve several types: each deploys its first configuration into one shoot, all become healthy, and deleting one after
// the other does not affect the rest.
func RunSideBySide(t *testing.T, server *contracttest.APIServer, subjects ...Subject) {
	t.Helper()
	s := newHarness(t, server, subjects[0])
	shoot, err := s.fixture.shoot(subjects[0].Configurations[0])
	require.NoError(t, err)
	objects, err := s.fixture.objects(shoot)
	require.NoError(t, err)
	for _, object := range objects {
		require.NoError(t, server.Client.Create(t.Context(), object))
	}
	host := contracttest.Host{
		Server: server, Namespace: s.Namespace, Faults: &contracttest.Faults{}, Journal: s.journal, OnWrite: s.Manager.OnWrite,
		CacheTransform: network.CacheTransform,
	}
	instance, err := host.Start(t.Context(), func(mgr manager.Manager, _ contracttest.Transport) error { return addControllers(subjects, mgr) })
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, instance.Stop()) })

	var all []*contracttest.Gardenlet[*extensionsv1alpha1.Network]
	var counts []int
	for _, subject := range subjects {
		object := shootFixture{networkType: subject.Type, namespace: s.Namespace}.network(shoot)
		object.Name = subject.Type
		gardenlet := contracttest.NewGardenlet(server, client.ObjectKeyFromObject(object), newNetwork)
		require.NoError(t, gardenlet.Deploy(t.Context(), object, v1beta1constants.GardenerOperationReconcile))
		_, err := gardenlet.WaitFor(s.timeoutContext(), checkHealthy)
		require.NoError(t, err, subject.Type)
		counts = append(counts, len(s.Manager.Shoot().Keys()))
		all = append(all, gardenlet)
	}
	for i, gardenlet := range slices.Backward(all) {
		_, err := gardenlet.WaitFor(s.timeoutContext(), checkHealthy)
		require.NoError(t, err, subjects[i].Type)
		assert.Len(t, s.Manager.Shoot().Keys(), counts[i], "what the others brought stays")
		require.NoError(t, gardenlet.Destroy(t.Context()))
		require.NoError(t, gardenlet.WaitGone(s.timeoutContext()))
	}
	assert.Empty(t, s.inspector.checkGone(t.Context()))
}

// addControllers adds the controllers of all subjects to a manager.
func addControllers(subjects []Subject, mgr manager.Manager) error {
	if err := network.AddToScheme(mgr.GetScheme()); err != nil {
		return err
	}
	drivers := map[string]network.Driver{}
	var all images.Vector
	options := contract.Options{Retry: contract.Retry{Base: 5 * time.Millisecond, Max: 100 * time.Millisecond}, HealthInterval: checkInterval}
	for _, subject := range subjects {
		drivers[subject.Type] = subject.Driver
		options.Types = append(options.Types, subject.Type)
		all = all.With(subject.Images)
	}
	if err := network.AddWithIntervals(mgr, drivers, all, options, network.Intervals{GateInterval: checkInterval}); err != nil {
		return err
	}
	return network.AddHealth(mgr, options)
}

// checkHealthy returns why a Network is not ready or not healthy.
func checkHealthy(object *extensionsv1alpha1.Network) error {
	var errs []error
	for _, kind := range []gardencorev1beta1.ConditionType{gardencorev1beta1.ShootSystemComponentsHealthy, gardencorev1beta1.ShootObservabilityComponentsHealthy} {
		status := gardencorev1beta1.ConditionUnknown
		for _, condition := range object.Status.Conditions {
			if condition.Type == kind {
				status = condition.Status
			}
		}
		if status != gardencorev1beta1.ConditionTrue {
			errs = append(errs, fmt.Errorf("condition %s is %s", kind, status))
		}
	}
	return errors.Join(append(errs, reconciled(object))...)
}
