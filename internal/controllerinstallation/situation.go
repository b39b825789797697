package controllerinstallation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
)

// served is an installation that the operator serves, with its seed.
type served struct {
	installation *gardencorev1beta1.ControllerInstallation
	seed         *gardencorev1beta1.Seed
	status       *installationv1alpha1.ControllerInstallationStatus
	look         look
}

func newServed(installation *gardencorev1beta1.ControllerInstallation, seed *gardencorev1beta1.Seed, watch *watch) served {
	status, err := installationv1alpha1.DecodeControllerInstallationStatus(installation.Status.ProviderStatus)
	if err != nil {
		status = installationv1alpha1.NewControllerInstallationStatus() // the reconciler of installations writes it anew
	}
	s := served{installation: installation, seed: seed, status: status}
	s.look = watch.of(installation.Name)
	return s
}

func (s served) compare(other served) int {
	return cmp.Compare(s.installation.Name, other.installation.Name)
}

// situationOf puts together what a decision depends on. config is nil when what the deployment says cannot be understood, newest is nil when it asks for
// no revision. known are all revisions, the newest first.
func situationOf(
	now time.Time, config *installationv1alpha1.ControllerDeploymentConfig, newest *revision.Info, known []revision.Info, installations []served,
) rollout.Situation {
	s := rollout.Situation{Now: now, Rollout: rolloutOf(config)}
	if newest != nil {
		s.Newest, s.NewestGood, s.NewestBad = newest.Name, newest.Verdict == revision.Good, newest.Verdict == revision.Bad
		s.NewestSince, s.NewestReason = newest.Since, newest.Reason
	}
	kept := map[string]bool{}
	for _, info := range known {
		kept[info.Name] = true
		switch {
		case info.Verdict == revision.Bad:
			s.Bad = append(s.Bad, info.Name)
		case info.Verdict == revision.Good && s.LastGood == "":
			s.LastGood = info.Name
		}
	}
	for _, one := range installations {
		if one.installation.DeletionTimestamp != nil {
			continue
		}
		state := one.forRollout(s.NewestSince)
		if !kept[state.Assigned] {
			state.Assigned = "" // somebody has removed the revision: it gets one that there is
		}
		s.Installations = append(s.Installations, state)
	}
	return s
}

// rolloutOf is the admin's wish. While nobody can understand it, nothing is changed but that new installations are served.
func rolloutOf(config *installationv1alpha1.ControllerDeploymentConfig) installationv1alpha1.Rollout {
	if config != nil {
		return *config.Rollout
	}
	config = installationv1alpha1.NewControllerDeploymentConfig()
	installationv1alpha1.Default(config)
	config.Rollout.Paused, config.Rollout.Rollback = true, installationv1alpha1.RollbackNever
	return *config.Rollout
}

// forRollout is what matters of an installation for a rollout whose revision is what it is since then.
func (s served) forRollout(newestSince time.Time) rollout.Installation {
	annotations := s.installation.Annotations
	assignedAt, err := time.Parse(time.RFC3339, annotations[installationv1alpha1.AnnotationRevisionSince])
	if err != nil {
		assignedAt = s.installation.CreationTimestamp.Time // somebody else wrote it; whenever that was, it was after this
	}
	return rollout.Installation{
		Name: s.installation.Name, Seed: s.installation.Spec.SeedRef.Name, SeedLabels: labels.Set(s.seed.Labels),
		Assigned: annotations[installationv1alpha1.AnnotationRevision], AssignedAt: assignedAt,
		Applied: s.status.Revision, AppliedAt: timeOf(s.status.AppliedAt),
		HealthySince: timeOf(s.status.HealthySince), UnhealthySince: timeOf(s.status.UnhealthySince),
		Failed:      s.refused(annotations[installationv1alpha1.AnnotationRevision], newestSince),
		Unreachable: s.look.lost, WatchedSince: s.look.first, TriedAt: s.look.tried, SeenAt: s.look.seen,
	}
}

// refused says why a revision cannot be installed, if that was found by a look that began after a time.
func (s served) refused(revision string, since time.Time) string {
	refusal := s.look.refusal
	if refusal == nil || refusal.revision != revision || s.look.seen.Before(since) {
		return ""
	}
	return refusal.message
}

// isOfRevision reports whether a problem comes from what the revision consists of.
func isOfRevision(reason string) bool {
	return slices.Contains([]string{
		problem.ChartInformationInvalid, problem.ValuesInvalid, problem.ChartCannotBeRendered, problem.RenderingHelmValuesFailed,
		problem.GardenAccessNeedsGardenlet, problem.ProviderConfigInvalid, problem.ChartTooLarge,
	}, reason)
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// noteOf is what installations say of a newest revision that they don't get.
func noteOf(s rollout.Situation, d rollout.Decision) string {
	if !s.NewestBad && !d.Bad {
		return ""
	}
	return fmt.Sprintf("Revision %s, which is the newest, has failed: %s.", s.Newest, cmp.Or(d.Reason, s.NewestReason))
}
