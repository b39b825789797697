package workload

import (
	"context"
	"errors"
	"time"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// Observation is the state of an installation's ManagedResource, evaluated as by gardenlet (gardener/pkg/utils/kubernetes/health).
type Observation struct {
	// Exists is false if there is no ManagedResource; no other field is set then.
	Exists bool
	// Revision is the revision for which the ManagedResource was last written; empty if this package did not write it.
	Revision string
	// ChangedAt is when the ManagedResource was created, or a condition of it changed last.
	ChangedAt time.Time
	// Installed, Healthy and Progressing are nil if the state is right (applied, healthy, not progressing), and say otherwise what is wrong.
	Installed, Healthy, Progressing error
}

// maxRevision is more than the length of a revision's name.
const maxRevision = 64

// Observe reads the state in the seed. No text of the result is longer than truncate.MaxExternal, since the seed may be compromised.
func Observe(ctx context.Context, cluster *seeds.Cluster, installation string) (*Observation, error) {
	resource, err := readManagedResource(ctx, cluster.Client, installation)
	if resource == nil {
		if isNotFound(err) {
			err = nil
		}
		return &Observation{}, err
	}
	return &Observation{
		Exists:      true,
		Revision:    truncate.Line(resource.Annotations[installationv1alpha1.AnnotationRevision], maxRevision),
		ChangedAt:   changedAt(resource),
		Installed:   truncateError(health.CheckManagedResourceApplied(resource)),
		Healthy:     truncateError(health.CheckManagedResourceHealthy(resource)),
		Progressing: truncateError(health.CheckManagedResourceProgressing(resource)),
	}, nil
}

// truncateError truncates a text from the seed, which is going to be written to the garden.
func truncateError(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(truncate.Text(err.Error(), truncate.MaxExternal))
}

func changedAt(resource *resourcesv1alpha1.ManagedResource) time.Time {
	last := resource.CreationTimestamp.Time
	for _, condition := range resource.Status.Conditions {
		for _, moment := range []time.Time{condition.LastTransitionTime.Time, condition.LastUpdateTime.Time} {
			if moment.After(last) {
				last = moment
			}
		}
	}
	return last
}
