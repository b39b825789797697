package rollouts

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// observation is what an installation was like at a moment.
type observation struct {
	installation, seed string
	gone               bool
	// assigned is the revision that it was to have, since when.
	assigned   string
	assignedAt time.Time
	// has is the revision that it had, and healthySince since when it was healthy with it; zero when it was not.
	has          string
	healthySince time.Time
	phase        installationv1alpha1.Phase
}

// settled reports whether it has what it is to have, and is healthy.
func (s observation) settled() bool {
	return s.assigned != "" && s.has == s.assigned && !s.healthySince.IsZero()
}

// record is all that was seen of the installations of the operator, in the order in which it happened.
type record struct {
	mutex        sync.Mutex
	observations []observation
}

func newRecord(t *testing.T, config *rest.Config) *record {
	t.Helper()
	r := &record{}
	watchAll(t, config, gardenScheme(), &gardencorev1beta1.ControllerInstallationList{}, func(event watch.EventType, object client.Object) {
		if installation, is := object.(*gardencorev1beta1.ControllerInstallation); is && installation.Spec.RegistrationRef.Name == registration {
			r.add(observationOf(t, installation, event == watch.Deleted))
		}
	})
	return r
}

func observationOf(t *testing.T, installation *gardencorev1beta1.ControllerInstallation, gone bool) observation {
	s := observation{
		installation: installation.Name, seed: installation.Spec.SeedRef.Name, gone: gone,
		assigned: installation.Annotations[installationv1alpha1.AnnotationRevision],
	}
	if since := installation.Annotations[installationv1alpha1.AnnotationRevisionSince]; since != "" {
		var err error
		s.assignedAt, err = time.Parse(time.RFC3339, since)
		assert.NoError(t, err)
		s.assignedAt = s.assignedAt.UTC()
	}
	status, err := installationv1alpha1.DecodeControllerInstallationStatus(installation.Status.ProviderStatus)
	if !assert.NoError(t, err) {
		return s
	}
	s.has, s.phase = status.Revision, status.Phase
	if status.HealthySince != nil {
		s.healthySince = status.HealthySince.UTC()
	}
	return s
}

func (r *record) add(s observation) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.observations = append(r.observations, s)
}

// len is how much there is so far.
func (r *record) len() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.observations)
}

func (r *record) all() []observation {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Clone(r.observations)
}

// assignment is a sight at which an installation had just been given a revision instead of another one, or for the first time.
type assignment struct {
	observation
	before string
	// others are the last sights of all installations at that moment, this one included, by seed.
	others map[string]observation
}

// assignmentsSince lists what was assigned after the first n sights.
func assignmentsSince(observations []observation, n int) []assignment {
	last := map[string]observation{}
	var found []assignment
	for i, s := range observations {
		before := last[s.seed]
		last[s.seed] = s
		if s.gone {
			delete(last, s.seed)
			continue
		}
		if i < n || s.assigned == before.assigned {
			continue
		}
		found = append(found, assignment{s, before.assigned, maps.Clone(last)})
	}
	return found
}

// assignmentsSince lists what was assigned after the first n sights, up to now.
func (env *environment) assignmentsSince(t *testing.T, n int) []assignment {
	t.Helper()
	eventually(t, "everything is on record", func() error {
		last := map[string]observation{}
		for _, s := range env.record.all() {
			last[s.seed] = s
		}
		for seed, installation := range env.installations(t, registration) {
			if now := observationOf(t, installation, false); last[seed] != now {
				return fmt.Errorf("%+v was seen as %+v", now, last[seed])
			}
		}
		return nil
	})
	return assignmentsSince(env.record.all(), n)
}

// assignedTo lists the revisions that the installation of a seed was given, in order.
func (env *environment) assignedTo(t *testing.T, seed string) []string {
	t.Helper()
	var revisions []string
	for _, a := range env.assignmentsSince(t, 0) {
		if a.seed == seed {
			revisions = append(revisions, a.assigned)
		}
	}
	return revisions
}
