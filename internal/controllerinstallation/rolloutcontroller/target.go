package rolloutcontroller

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/labels"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
)

// target is an installation that the operator serves, with its seed.
type target struct {
	installation *gardencorev1beta1.ControllerInstallation
	seed         *gardencorev1beta1.Seed
	status       *installationv1alpha1.ControllerInstallationStatus
	observation  state.Observation
}

func newTarget(installation *gardencorev1beta1.ControllerInstallation, seed *gardencorev1beta1.Seed, store *state.Store) target {
	status, err := installationv1alpha1.DecodeControllerInstallationStatus(installation.Status.ProviderStatus)
	if err != nil {
		status = installationv1alpha1.NewControllerInstallationStatus() // the controller of installations rewrites it
	}
	s := target{installation: installation, seed: seed, status: status}
	s.observation = store.Observation(installation.Name)
	return s
}

func (s target) compare(other target) int {
	return cmp.Compare(s.installation.Name, other.installation.Name)
}

// rolloutInput collects the input of a decision. config is nil if the deployment's configuration is invalid, newest is nil if its content is not a
// valid revision. known has all revisions, the newest first.
func rolloutInput(
	now time.Time, config *installationv1alpha1.ControllerDeploymentConfig, newest *revision.Info, known []revision.Info, installations []target,
) rollout.Input {
	s := rollout.Input{Now: now, Rollout: rolloutOf(config)}
	if newest != nil {
		s.Newest, s.NewestGood, s.NewestBad = newest.Name, newest.Result == revision.Good, newest.Result == revision.Bad
		s.NewestSince, s.NewestReason = newest.Since, newest.Reason
	}
	stored := map[string]bool{}
	for _, info := range known {
		stored[info.Name] = true
		switch info.Result {
		case revision.Bad:
			s.Bad = append(s.Bad, info.Name)
		case revision.Good:
			s.Good = append(s.Good, info.Name)
			s.LastGood = cmp.Or(s.LastGood, info.Name)
		}
	}
	for _, one := range installations {
		if one.installation.DeletionTimestamp != nil {
			continue
		}
		installation := one.rolloutInstallation()
		if !stored[installation.Assigned] {
			installation.Assigned = "" // the revision was deleted, so the installation gets another one
		}
		s.Installations = append(s.Installations, installation)
	}
	return s
}

// rolloutOf returns the configuration of the rollout. If it is invalid, the rollout is paused and nothing is rolled back; only new installations are served.
func rolloutOf(config *installationv1alpha1.ControllerDeploymentConfig) installationv1alpha1.Rollout {
	if config != nil {
		return *config.Rollout
	}
	config = installationv1alpha1.NewControllerDeploymentConfig()
	installationv1alpha1.Default(config)
	config.Rollout.Paused, config.Rollout.Rollback = true, installationv1alpha1.RollbackNever
	return *config.Rollout
}

// rolloutInstallation returns the state of an installation on which a rollout depends.
func (s target) rolloutInstallation() rollout.Installation {
	annotations, assignment := s.installation.Annotations, state.AssignmentKey(s.installation.Annotations)
	assigned := annotations[installationv1alpha1.AnnotationRevision]
	assignedAt, err := time.Parse(time.RFC3339, annotations[installationv1alpha1.AnnotationRevisionSince])
	if err != nil {
		assignedAt = s.installation.CreationTimestamp.Time // the operator did not write it; this is the earliest possible time
	}
	trial, err := time.Parse(time.RFC3339, annotations[installationv1alpha1.AnnotationRevisionTrial])
	if err != nil {
		trial = time.Time{}
	}
	observed := s.observation.Observed
	if s.observation.Assignment != assignment {
		observed = state.DecodeObserved(s.status, assignment)
	}
	return rollout.Installation{
		Name: s.installation.Name, Seed: s.installation.Spec.SeedRef.Name, SeedLabels: labels.Set(s.seed.Labels),
		Assigned: assigned, AssignedAt: assignedAt, Before: rollout.Before(annotations[installationv1alpha1.AnnotationRevisionBefore]), Trial: trial,
		Applied: s.status.Revision, Healthy: s.status.HealthySince != nil, WasHealthy: s.status.UnhealthySince != nil,
		Observed: observed, Failed: s.failureMessage(assignment),
		Unreachable: s.observation.Unreachable, WatchedSince: s.observation.WatchedSince, TriedAt: s.observation.TriedAt, SeenAt: s.observation.SeenAt,
	}
}

// failureMessage says why the assigned revision cannot be installed.
func (s target) failureMessage(assignment string) string {
	if s.observation.Failure == nil || s.observation.Failure.Assignment != assignment {
		return ""
	}
	return s.observation.Failure.Message
}

// noteOf returns the message for installations that do not get the newest revision, and for empty waves.
func noteOf(s rollout.Input, d rollout.Decision, newest *revision.Info) string {
	var sentences []string
	if s.NewestBad || d.Bad {
		sentences = append(sentences, fmt.Sprintf("Revision %s, which is the newest, has failed: %s.", s.Newest, cmp.Or(d.Reason, s.NewestReason)))
	}
	if len(d.Progress.Empty) > 0 {
		sentences = append(sentences, emptyNote(d.Progress.Empty))
	}
	if newest != nil && newest.Message != "" {
		sentences = append(sentences, fmt.Sprintf("Revision %s: %s.", newest.Name, newest.Message))
	}
	return strings.Join(sentences, " ")
}

// vanishedSeeds returns the seeds whose installations are being deleted while they are not healthy with a candidate, although they were healthy when
// they got it. The evaluation of the candidate lacks their result.
func vanishedSeeds(newest *revision.Info, installations []target) []string {
	var seeds []string
	for _, one := range installations {
		if one.installation.DeletionTimestamp == nil || newest == nil || newest.Result != revision.Candidate {
			continue
		}
		i := one.rolloutInstallation()
		isCounted := i.Assigned == newest.Name && i.Trial.Equal(newest.Since) && !i.Before.Inconclusive()
		if isWell := i.Applied == i.Assigned && i.Healthy && !i.Unreachable; isCounted && !isWell && !slices.Contains(seeds, i.Seed) {
			seeds = append(seeds, i.Seed)
		}
	}
	return seeds
}

// vanishedSeedsMessage appends a sentence about vanished seeds to the message of a revision. It is empty if the message has that sentence already.
func vanishedSeedsMessage(message string, seeds []string) string {
	var added []string
	for _, seed := range seeds {
		if sentence := fmt.Sprintf("seed %s was not healthy with it when its installation was deleted", seed); !strings.Contains(message, sentence) {
			added = append(added, sentence)
		}
	}
	if len(added) == 0 {
		return ""
	}
	if message != "" {
		added = append([]string{message}, added...)
	}
	return strings.Join(added, ", ")
}

func emptyNote(waves []string) string {
	return fmt.Sprintf("No seed that has an installation belongs to these waves of the rollout, so nothing is proven there: %s; see their seedSelector.", strings.Join(waves, ", "))
}
