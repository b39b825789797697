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

// RunBeside has one process serve several types: each brings its first configuration into one shoot, all are well, and when one
// after the other goes nothing happens to those that stay.
func RunBeside(t *testing.T, server *contracttest.APIServer, subjects ...Subject) {
	t.Helper()
	s := newStage(t, server, subjects[0])
	shoot, err := s.gardener.shoot(subjects[0].Configurations[0])
	require.NoError(t, err)
	objects, err := s.gardener.objects(shoot)
	require.NoError(t, err)
	for _, object := range objects {
		require.NoError(t, server.Client.Create(t.Context(), object))
	}
	host := contracttest.Host{
		Server: server, Namespace: s.Namespace, Faults: &contracttest.Faults{}, Journal: s.journal, Bystander: s.Manager.Bystander,
	}
	life, err := host.Start(t.Context(), func(mgr manager.Manager, _ contracttest.Transport) error { return together(subjects, mgr) })
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, life.Stop()) })

	var all []*contracttest.Gardenlet[*extensionsv1alpha1.Network]
	var there []int
	for _, subject := range subjects {
		object := gardener{networkType: subject.Type, namespace: s.Namespace}.network(shoot)
		object.Name = subject.Type
		gardenlet := contracttest.NewGardenlet(server, client.ObjectKeyFromObject(object), newNetwork)
		require.NoError(t, gardenlet.Deploy(t.Context(), object, v1beta1constants.GardenerOperationReconcile))
		_, err := gardenlet.WaitFor(s.patience(), isWell)
		require.NoError(t, err, subject.Type)
		there = append(there, len(s.Manager.Shoot().Keys()))
		all = append(all, gardenlet)
	}
	for i, gardenlet := range slices.Backward(all) {
		_, err := gardenlet.WaitFor(s.patience(), isWell)
		require.NoError(t, err, subjects[i].Type)
		assert.Len(t, s.Manager.Shoot().Keys(), there[i], "what the others brought stays")
		require.NoError(t, gardenlet.Destroy(t.Context()))
		require.NoError(t, gardenlet.WaitGone(s.patience()))
	}
	assert.Empty(t, s.inspector.gone(t.Context()))
}

// together adds the controllers of all subjects to a manager.
func together(subjects []Subject, mgr manager.Manager) error {
	if err := network.AddToScheme(mgr.GetScheme()); err != nil {
		return err
	}
	drivers := map[string]network.Driver{}
	var all images.Vector
	options := contract.Options{Retry: contract.Retry{Base: 5 * time.Millisecond, Max: 100 * time.Millisecond}, HealthInterval: lookInterval}
	for _, subject := range subjects {
		drivers[subject.Type] = subject.Driver
		options.Types = append(options.Types, subject.Type)
		all = all.With(subject.Images)
	}
	if err := network.AddPaced(mgr, drivers, all, options, network.Pace{Interval: lookInterval}); err != nil {
		return err
	}
	return network.AddHealth(mgr, options)
}

// isWell says why a Network is not ready, or not healthy.
func isWell(object *extensionsv1alpha1.Network) error {
	var errs []error
	for _, kind := range []gardencorev1beta1.ConditionType{gardencorev1beta1.ShootSystemComponentsHealthy, gardencorev1beta1.ShootObservabilityComponentsHealthy} {
		is := gardencorev1beta1.ConditionUnknown
		for _, condition := range object.Status.Conditions {
			if condition.Type == kind {
				is = condition.Status
			}
		}
		if is != gardencorev1beta1.ConditionTrue {
			errs = append(errs, fmt.Errorf("condition %s is %s", kind, is))
		}
	}
	return errors.Join(append(errs, reconciled(object))...)
}
