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
}

func newServed(installation *gardencorev1beta1.ControllerInstallation, seed *gardencorev1beta1.Seed) served {
	status, err := installationv1alpha1.DecodeControllerInstallationStatus(installation.Status.ProviderStatus)
	if err != nil {
		status = installationv1alpha1.NewControllerInstallationStatus() // the reconciler of installations writes it anew
	}
	return served{installation: installation, seed: seed, status: status}
}

func (s served) compare(other served) int {
	return cmp.Compare(s.installation.Name, other.installation.Name)
}

// situationOf puts together what a decision depends on. config is nil when what the deployment says cannot be understood, newest is nil when it asks for
// no revision. known are all revisions, the newest first.
func situationOf(
	now time.Time, config *installationv1alpha1.ControllerDeploymentConfig, newest *revision.Info, known []revision.Info, installations []served,
) rollout.Situation {
	if config == nil {
		config = installationv1alpha1.NewControllerDeploymentConfig()
		installationv1alpha1.Default(config)
	}
	s := rollout.Situation{Now: now, Rollout: *config.Rollout}
	if newest != nil {
		s.Newest, s.NewestGood, s.NewestBad = newest.Name, newest.Verdict == revision.Good, newest.Verdict == revision.Bad
	}
	for _, info := range known {
		switch {
		case info.Verdict == revision.Bad:
			s.Bad = append(s.Bad, info.Name)
		case info.Verdict == revision.Good && s.LastGood == "":
			s.LastGood = info.Name
		}
	}
	for _, one := range installations {
		if one.installation.DeletionTimestamp == nil {
			s.Installations = append(s.Installations, one.forRollout())
		}
	}
	return s
}

// forRollout is what matters of an installation for a rollout.
func (s served) forRollout() rollout.Installation {
	annotations := s.installation.Annotations
	assignedAt, err := time.Parse(time.RFC3339, annotations[installationv1alpha1.AnnotationRevisionSince])
	if err != nil {
		assignedAt = s.installation.CreationTimestamp.Time // somebody else wrote it; whenever that was, it was after this
	}
	result := rollout.Installation{
		Name: s.installation.Name, Seed: s.installation.Spec.SeedRef.Name, SeedLabels: labels.Set(s.seed.Labels),
		Assigned: annotations[installationv1alpha1.AnnotationRevision], AssignedAt: assignedAt,
		Applied:      s.status.Revision,
		HealthySince: timeOf(s.status.HealthySince), UnhealthySince: timeOf(s.status.UnhealthySince),
		Unreachable: s.status.Phase == installationv1alpha1.PhaseUnreachable,
	}
	failure := s.status.LastError
	if s.status.Phase != installationv1alpha1.PhaseFailed || failure == nil {
		return result
	}
	switch tried := cmp.Or(s.status.TargetRevision, s.status.Revision); {
	case !isOfRevision(failure.Reason):
		result.Unreachable = true // whatever the revision is like, it cannot be seen there
	case tried == result.Assigned:
		result.Failed = failure.Message
	}
	return result
}

// isOfRevision reports whether a problem comes from what the revision consists of.
func isOfRevision(reason string) bool {
	return slices.Contains([]string{
		problem.ChartInformationInvalid, problem.ValuesInvalid, problem.ChartCannotBeRendered, problem.RenderingHelmValuesFailed,
		problem.GardenAccessNeedsGardenlet, problem.ProviderConfigInvalid,
	}, reason)
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// noteOf is what installations say of a newest revision that they don't get.
func noteOf(s rollout.Situation, d rollout.Decision, known []revision.Info) string {
	if !s.NewestBad && !d.Bad {
		return ""
	}
	reason := d.Reason
	for _, info := range known {
		if info.Name == s.Newest && info.Verdict == revision.Bad {
			reason = info.Reason
		}
	}
	return fmt.Sprintf("Revision %s, which is the newest, has failed: %s.", s.Newest, reason)
}
