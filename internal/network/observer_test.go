package network_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/network"
	"github.com/trellis-garden/trellis/internal/observer"
)

// nativeObserver observes a plugin that lets the cloud route, with an MTU that is part of the name of the Network.
type nativeObserver struct{}

func (nativeObserver) Routing(object *extensionsv1alpha1.Network) (*network.Routing, error) {
	routing := &network.Routing{CloudRoutes: true, MTUField: "mtu"}
	_, err := fmt.Sscanf(object.Name, "mtu-%d", &routing.MTU)
	return routing, err
}

func TestObserver(t *testing.T) {
	t.Parallel()
	server := network.APIServer().Get(t)
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	s := &seed{Client: server.Client, t: t, server: server, namespace: namespace}
	withWorkers := func(most int32) func(*gardencorev1beta1.Shoot) {
		return func(shoot *gardencorev1beta1.Shoot) {
			shoot.Spec.Provider.Type, shoot.Spec.Provider.Workers = "azure", []gardencorev1beta1.Worker{{Name: "a", Maximum: most}}
		}
	}
	require.NoError(t, s.Create(t.Context(), s.clusterWith(withWorkers(1000))))
	fits, tooLarge := s.requestNetwork("mtu-1500", "example-net"), s.requestNetwork("mtu-1501", "example-net")
	for one, stage := range map[*testNetwork]string{fits: `,"stage":{"name":"setting posts","gate":{"routes":true}}`, tooLarge: ""} {
		require.NoError(t, one.Request(t.Context(), ""))
		require.NoError(t, one.PatchStatus(t.Context(), func(object *extensionsv1alpha1.Network) {
			object.Status.LastOperation = &gardencorev1beta1.LastOperation{
				Type: gardencorev1beta1.LastOperationTypeReconcile, State: gardencorev1beta1.LastOperationStateSucceeded, LastUpdateTime: metav1.NewTime(time.Now().Add(-2 * time.Hour)),
			}
			object.Status.State = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"network.trellis.garden/v1alpha1","kind":"NetworkState","form":"posts"` + stage + `}`)}
		}))
	}
	host := contracttest.Host{Server: server, Namespace: namespace, Faults: &contracttest.Faults{}, Journal: &contracttest.Journal{}}
	instance, err := host.Start(context.WithoutCancel(t.Context()), func(mgr manager.Manager, _ contracttest.Transport) error {
		return errors.Join(network.AddToScheme(mgr.GetScheme()), network.AddObserver(mgr,
			map[string]network.Observer{"example-net": nativeObserver{}}, observer.Options{Types: []string{"example-net"}, Interval: 100 * time.Millisecond}))
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, instance.Stop()) })

	assert.Contains(t, fits.waitForObservation(network.ObservationMTU, gardencorev1beta1.ConditionTrue), "Pods have an MTU of 1500, and may have 1500.")
	assert.Contains(t, tooLarge.waitForObservation(network.ObservationMTU, gardencorev1beta1.ConditionFalse), "Pods have an MTU of 1501: packets of more than 1500 bytes")
	assert.Contains(t, fits.waitForObservation(network.ObservationDataPlane, gardencorev1beta1.ConditionFalse), `The change "setting posts" has not been completed`)
	assert.Contains(t, tooLarge.waitForObservation(network.ObservationDataPlane, gardencorev1beta1.ConditionTrue), "No change of the network is in progress.")
	fits.waitForObservation(network.ObservationRoutes, gardencorev1beta1.ConditionTrue)
	s.changeShoot(withWorkers(1001))
	assert.Contains(t, fits.waitForObservation(network.ObservationRoutes, gardencorev1beta1.ConditionFalse), "The workers may have 1001 nodes at their maximum.")
}

// waitForObservation waits until the condition of an observation has the status, and returns its message.
func (a *testNetwork) waitForObservation(name string, status gardencorev1beta1.ConditionStatus) string {
	a.seed.t.Helper()
	message := ""
	_, err := a.WaitFor(a.seed.t.Context(), func(object *extensionsv1alpha1.Network) error {
		for _, observation := range network.Observations() {
			condition := v1beta1helper.GetCondition(object.Status.Conditions, observation.Condition)
			if observation.Name == name && (condition == nil || condition.Status != status) {
				return fmt.Errorf("condition %s is not %s: %v", observation.Condition, status, condition)
			}
			if observation.Name == name {
				message = condition.Message
			}
		}
		return nil
	})
	require.NoError(a.seed.t, err)
	return message
}
