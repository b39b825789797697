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

// Observation is what gardener-resource-manager says of an installation, judged as gardenlet judges it (gardener/pkg/utils/kubernetes/health).
type Observation struct {
	// Exists is false when there is no ManagedResource; nothing else is said then.
	Exists bool
	// Revision is what the ManagedResource was last written for; empty where that was not by this package.
	Revision string
	// ChangedAt is when the ManagedResource was created, or a condition of it changed last.
	ChangedAt time.Time
	// Installed, Healthy and Progressing are nil when they are as they should be (applied, healthy, not progressing), or say what is not.
	Installed, Healthy, Progressing error
}

// maxRevision is more than a name of a revision has.
const maxRevision = 64

// Observe looks. No text of the result is longer than truncate.MaxExternal: the seed may be in other hands.
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

// truncateError cuts what somebody in the seed has written: it goes on into the garden.
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
