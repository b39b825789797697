package workertest

import (
	"context"
	"errors"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/observer"
	"github.com/trellis-garden/trellis/internal/worker"
)

// observationInterval is the interval of the secondary controller in the suite.
const observationInterval = 200 * time.Millisecond

// RunObserver runs a secondary controller beside the primary, and checks that each of its conditions becomes False and True again, and that the primary's
// result stays.
func RunObserver(t *testing.T, server *contracttest.APIServer, subject Previewed) {
	t.Helper()
	p := newPreviewedShoot(t, newTestEnvironment(t, server, subject.Subject, operationTimeout), subject)
	p.startSecondary()
	pool := &p.shoot.Spec.Provider.Workers[0]
	offer := func(usable bool, expiry time.Duration) {
		p.profile.Spec.MachineTypes = []gardencorev1beta1.MachineType{{Name: pool.Machine.Type, Usable: &usable}}
		p.profile.Spec.MachineImages = []gardencorev1beta1.MachineImage{{Name: pool.Machine.Image.Name, Versions: []gardencorev1beta1.MachineImageVersion{
			{ExpirableVersion: gardencorev1beta1.ExpirableVersion{
				Version: *pool.Machine.Image.Version, Lifecycle: []gardencorev1beta1.LifecycleStage{
					{Classification: gardencorev1beta1.ClassificationSupported},
					{Classification: gardencorev1beta1.ClassificationExpired, StartTime: new(metav1.NewTime(time.Now().Add(expiry)))},
				},
			}},
		}}}
		p.writeCluster()
	}
	year := 365 * 24 * time.Hour
	offer(true, year)
	p.waitForConditions(gardencorev1beta1.ConditionTrue, worker.Observations())

	offer(false, time.Hour)
	kubernetes := p.shoot.Spec.Kubernetes.Version
	p.shoot.Spec.Kubernetes.Version = "1.99.0"
	p.writeCluster()
	p.waitForConditions(gardencorev1beta1.ConditionFalse, worker.Observations()[:3])

	p.shoot.Spec.Kubernetes.Version = kubernetes
	offer(true, year)
	p.waitForConditions(gardencorev1beta1.ConditionTrue, worker.Observations())
	p.s.reconcile()
	p.s.delete()
}

func (p *previewedShoot) startSecondary() {
	p.t.Helper()
	process, err := p.s.host.Start(context.WithoutCancel(p.t.Context()), func(mgr manager.Manager, _ contracttest.Transport) error {
		observers := map[string]worker.Observer{p.subject.Type: p.subject.Observer}
		return errors.Join(worker.AddToScheme(mgr.GetScheme()), worker.AddObserver(mgr, observers, observer.Options{
			Types: []string{p.subject.Type}, Interval: observationInterval, Registerer: prometheus.NewRegistry(),
		}))
	})
	require.NoError(p.t, err)
	p.t.Cleanup(func() { require.NoError(p.t, process.Stop()) })
}

func (p *previewedShoot) waitForConditions(status gardencorev1beta1.ConditionStatus, observations []observer.Observation) {
	p.t.Helper()
	p.s.wait("conditions are "+string(status), func(object *extensionsv1alpha1.Worker) bool {
		for _, observation := range observations {
			condition := v1beta1helper.GetCondition(object.Status.Conditions, observation.Condition)
			if condition == nil || condition.Status != status {
				return false
			}
		}
		return true
	})
}
