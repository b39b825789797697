package controlplane

import (
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// apiServer is that of all tests with a process.
var apiServer contracttest.Shared

// APIServer is that of all tests with a process, those inside of the package and those outside.
func APIServer() *contracttest.Shared { return &apiServer }

// Actuator is what Add adds.
type Actuator = contract.Actuator[*extensionsv1alpha1.ControlPlane]

// AddWithActuator is Add with another timeout for pods that come from upstream, and with an actuator that change has made of
// the right one.
func AddWithActuator(
	mgr manager.Manager, drivers map[string]Driver, images Images, options contract.Options,
	rolloutWait time.Duration, change func(Actuator) Actuator,
) error {
	actuator, err := newActuator(drivers, images, rolloutWait)
	if err != nil {
		return err
	}
	return contract.Add(mgr, contractOf(change(actuator)), options)
}
