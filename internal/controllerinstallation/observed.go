package controllerinstallation

import (
	"cmp"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
)

// historyLimit is the admin's, and the default's while what the admin says cannot be understood.
func historyLimit(of *assignment) *int32 {
	config := of.config
	if config == nil {
		config = installationv1alpha1.NewControllerDeploymentConfig()
		installationv1alpha1.Default(config)
	}
	return config.HistoryLimit
}

// applied notes that the seed has a revision now.
func (p *pass) applied(revision string, historyLimit int) {
	status := p.status
	status.TargetRevision = ""
	if status.Revision == revision {
		return
	}
	now := p.now()
	if status.Revision != "" {
		entry := installationv1alpha1.HistoryEntry{
			Revision: status.Revision, AppliedAt: status.AppliedAt, EndedAt: &now,
			Outcome: cmp.Or(p.lastKnown(), installationv1alpha1.PhaseProgressing),
		}
		status.History = append([]installationv1alpha1.HistoryEntry{entry}, status.History...)
	}
	status.Revision, status.AppliedAt, status.HealthySince, status.UnhealthySince = revision, &now, nil, nil
	status.History = status.History[:min(len(status.History), historyLimit)]
}

// lastKnown is how the installation was with the revision that it had.
func (p *pass) lastKnown() installationv1alpha1.Phase {
	switch {
	case p.status.HealthySince != nil:
		return installationv1alpha1.PhaseHealthy
	case p.status.UnhealthySince != nil:
		return installationv1alpha1.PhaseUnhealthy
	}
	return installationv1alpha1.PhaseProgressing
}

// observed notes how the installation is.
func (p *pass) observed(o *workload.Observation) {
	now := p.now()
	healthy := o.Exists && o.Revision == p.status.Revision && o.Installed == nil && o.Healthy == nil && o.Progressing == nil
	switch {
	case healthy && p.status.HealthySince == nil:
		p.status.HealthySince, p.status.UnhealthySince = &now, nil
	case !healthy && p.status.HealthySince != nil:
		p.status.HealthySince, p.status.UnhealthySince = nil, &now
	}
	p.status.Phase = p.lastKnown()
}

// reported is a condition as gardenlet's care controller would report it (gardener/pkg/gardenlet/controller/controllerinstallation/care).
type reported struct {
	conditionType   gardencorev1beta1.ConditionType
	status          gardencorev1beta1.ConditionStatus
	reason, message string
}

func careReport(o *workload.Observation) []reported {
	installed := reported{
		gardencorev1beta1.ControllerInstallationInstalled, gardencorev1beta1.ConditionTrue, "InstallationSuccessful",
		"The controller was successfully installed in the seed cluster.",
	}
	healthy := reported{
		gardencorev1beta1.ControllerInstallationHealthy, gardencorev1beta1.ConditionTrue, "ControllerHealthy",
		"The controller running in the seed cluster is healthy.",
	}
	progressing := reported{
		gardencorev1beta1.ControllerInstallationProgressing, gardencorev1beta1.ConditionFalse, "ControllerRolledOut",
		"The controller has been rolled out successfully.",
	}
	if o.Installed != nil {
		installed.status, installed.reason, installed.message = gardencorev1beta1.ConditionFalse, "InstallationPending", o.Installed.Error()
	}
	if o.Healthy != nil {
		healthy.status, healthy.reason, healthy.message = gardencorev1beta1.ConditionFalse, "ControllerNotHealthy", o.Healthy.Error()
	}
	if o.Progressing != nil {
		progressing.status, progressing.reason, progressing.message = gardencorev1beta1.ConditionTrue, "ControllerNotRolledOut", o.Progressing.Error()
	}
	return []reported{installed, healthy, progressing}
}

// careInstead writes the conditions that are gardenlet's where no gardenlet writes them: there is none, or what it wrote last contradicts a
// ManagedResource that has not changed for a long time. That a condition has not changed for long says nothing: gardenlet does not touch one that is
// right.
func (p *pass) careInstead(o *workload.Observation) {
	if !o.Exists {
		return
	}
	for _, report := range careReport(o) {
		if p.leavesToGardenlet(report, o) {
			continue
		}
		p.condition(report.conditionType, report.status, report.reason, report.message)
	}
}

func (p *pass) leavesToGardenlet(report reported, o *workload.Observation) bool {
	if !hasGardenlet(p.seed) {
		return false
	}
	said := v1beta1helper.GetCondition(p.installation.Status.Conditions, report.conditionType)
	if said != nil && said.Status == report.status {
		return true
	}
	changed := o.ChangedAt
	if said != nil && said.LastUpdateTime.After(changed) {
		changed = said.LastUpdateTime.Time
	}
	return p.clock.Since(changed) < careSilence
}
