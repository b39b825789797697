package installationcontroller

import (
	"cmp"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
)

// historyLimit is the configured limit, or the default while the configuration is invalid.
func historyLimit(of *assignment) *int32 {
	config := of.config
	if config == nil {
		config = installationv1alpha1.NewControllerDeploymentConfig()
		installationv1alpha1.Default(config)
	}
	return config.HistoryLimit
}

// recordApplied records that a revision was applied in the seed.
func (rec *reconciliation) recordApplied(revision string, historyLimit int) {
	status := rec.status
	status.TargetRevision = ""
	if status.Revision == revision {
		return
	}
	now := rec.now()
	if status.Revision != "" {
		entry := installationv1alpha1.HistoryEntry{
			Revision: status.Revision, AppliedAt: status.AppliedAt, EndedAt: &now,
			Outcome: cmp.Or(rec.lastPhase(), installationv1alpha1.PhaseProgressing),
		}
		status.History = append([]installationv1alpha1.HistoryEntry{entry}, status.History...)
	}
	status.Revision, status.AppliedAt, status.HealthySince, status.UnhealthySince = revision, &now, nil, nil
	status.History = status.History[:min(len(status.History), historyLimit)]
}

// lastPhase is the phase of the installation with its former revision.
func (rec *reconciliation) lastPhase() installationv1alpha1.Phase {
	switch {
	case rec.status.HealthySince != nil:
		return installationv1alpha1.PhaseHealthy
	case rec.status.UnhealthySince != nil:
		return installationv1alpha1.PhaseUnhealthy
	}
	return installationv1alpha1.PhaseProgressing
}

// recordHealth records the health of the installation.
func (rec *reconciliation) recordHealth(o *workload.Observation) {
	now := rec.now()
	healthy := o.Exists && o.Revision == rec.status.Revision && o.Installed == nil && o.Healthy == nil && o.Progressing == nil
	switch {
	case healthy && rec.status.HealthySince == nil:
		rec.status.HealthySince, rec.status.UnhealthySince = &now, nil
	case !healthy && rec.status.HealthySince != nil:
		rec.status.HealthySince, rec.status.UnhealthySince = nil, &now
	}
	rec.status.Phase = rec.lastPhase()
}

// careCondition is a condition as gardenlet's care controller would report it (gardener/pkg/gardenlet/controller/controllerinstallation/care).
type careCondition struct {
	conditionType   gardencorev1beta1.ConditionType
	status          gardencorev1beta1.ConditionStatus
	reason, message string
}

func careConditions(o *workload.Observation) []careCondition {
	installed := careCondition{
		gardencorev1beta1.ControllerInstallationInstalled, gardencorev1beta1.ConditionTrue, "InstallationSuccessful",
		"The controller was successfully installed in the seed cluster.",
	}
	healthy := careCondition{
		gardencorev1beta1.ControllerInstallationHealthy, gardencorev1beta1.ConditionTrue, "ControllerHealthy",
		"The controller running in the seed cluster is healthy.",
	}
	progressing := careCondition{
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
	return []careCondition{installed, healthy, progressing}
}

// writeCareConditions writes gardenlet's conditions if no gardenlet does: there is none, or its last condition contradicts a ManagedResource that has
// not changed for a long time. The age of a condition alone does not matter, since gardenlet does not update one that is right.
func (rec *reconciliation) writeCareConditions(o *workload.Observation) {
	if !o.Exists {
		return
	}
	for _, report := range careConditions(o) {
		if rec.isMaintainedByGardenlet(report, o) {
			continue
		}
		rec.setCondition(report.conditionType, report.status, report.reason, report.message)
	}
}

func (rec *reconciliation) isMaintainedByGardenlet(report careCondition, o *workload.Observation) bool {
	if !hasGardenlet(rec.seed) {
		return false
	}
	current := v1beta1helper.GetCondition(rec.installation.Status.Conditions, report.conditionType)
	if current != nil && current.Status == report.status {
		return true
	}
	changed := o.ChangedAt
	if current != nil && current.LastUpdateTime.After(changed) {
		changed = current.LastUpdateTime.Time
	}
	return rec.clock.Since(changed) < careTimeout
}
