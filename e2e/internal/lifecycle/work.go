package lifecycle

import (
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/timeline"
)

// episode is a time in which an object was busy without a pause, whatever its states were.
type episode struct {
	timeline.Object
	operation string // the last
	from, to  time.Time
}

// episodes returns what objects did, in the order of their begin. What is not over yet ends at the end.
func episodes(samples []timeline.Sample, end time.Time) []episode {
	open, all := map[timeline.Object]int{}, []episode{}
	for _, sample := range samples {
		at, isOpen := open[sample.Object]
		if !isOpen && !sample.State.IsBusy() {
			continue
		}
		if !isOpen {
			at = len(all)
			open[sample.Object] = at
			all = append(all, episode{Object: sample.Object, from: sample.Time, to: end})
		}
		all[at].operation = sample.Operation
		if !sample.State.IsBusy() { // it says what has been done, also if that took no time
			all[at].to = sample.Time
			delete(open, sample.Object)
		}
	}
	return all
}

// workIn counts what was done in a time.
func workIn(samples []timeline.Sample, from, to time.Time) openstack.Work {
	var work openstack.Work
	for _, e := range episodes(samples, to) {
		if e.from.Before(to) && !e.to.Before(from) {
			e.addTo(&work)
		}
	}
	seen := map[timeline.Object]bool{}
	for _, sample := range samples {
		if sample.Kind != timeline.KindMachine {
			continue
		}
		isIn := !sample.Time.Before(from) && sample.Time.Before(to)
		if isIn && sample.State == timeline.Gone {
			work.MachinesDeleted++
		} else if isIn && !seen[sample.Object] {
			work.MachinesCreated++
		}
		seen[sample.Object] = true
	}
	return work
}

func (e episode) addTo(work *openstack.Work) {
	switch e.Kind {
	case extensionsv1alpha1.WorkerResource:
		work.Workers++
	case extensionsv1alpha1.ControlPlaneResource:
		work.ControlPlanes++
	case extensionsv1alpha1.InfrastructureResource:
		switch gardencorev1beta1.LastOperationType(e.operation) {
		case gardencorev1beta1.LastOperationTypeCreate, gardencorev1beta1.LastOperationTypeRestore:
			work.Created++
		case gardencorev1beta1.LastOperationTypeDelete:
			work.Deleted++
		default:
			work.Repeated++
		}
	}
}
