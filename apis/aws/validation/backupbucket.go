package validation

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

const day = 24 * time.Hour

// ValidateBackupBucketConfig checks the configuration of a bucket for backups.
func ValidateBackupBucketConfig(config *v1alpha1.BackupBucketConfig, fldPath *field.Path) field.ErrorList {
	immutability := config.Immutability
	if immutability == nil {
		return nil
	}
	path := fldPath.Child("immutability")
	var errs field.ErrorList
	if immutability.RetentionType != v1alpha1.RetentionTypeBucket {
		errs = append(errs, field.Invalid(path.Child("retentionType"), immutability.RetentionType, "set it to "+v1alpha1.RetentionTypeBucket))
	}
	if period := immutability.RetentionPeriod.Duration; period < day || period%day != 0 {
		errs = append(errs, field.Invalid(path.Child("retentionPeriod"), period.String(), "S3 counts in days: give a multiple of 24h"))
	}
	if immutability.Mode != v1alpha1.ModeCompliance && immutability.Mode != v1alpha1.ModeGovernance {
		errs = append(errs, field.Invalid(path.Child("mode"), immutability.Mode, fmt.Sprintf("choose one of %q, %q", v1alpha1.ModeGovernance, v1alpha1.ModeCompliance)))
	}
	return errs
}

// ValidateBackupBucketConfigUpdate rejects what S3 rejects: less protection of a bucket than compliance promises. Switching immutability off is possible, and
// has no effect on existing backups.
func ValidateBackupBucketConfigUpdate(oldConfig, newConfig *v1alpha1.BackupBucketConfig, fldPath *field.Path) field.ErrorList {
	before, after := oldConfig.Immutability, newConfig.Immutability
	if before == nil || after == nil || before.Mode != v1alpha1.ModeCompliance {
		return nil
	}
	path := fldPath.Child("immutability")
	switch {
	case after.Mode == v1alpha1.ModeGovernance:
		return field.ErrorList{field.Forbidden(path.Child("mode"), "compliance cannot be given up: set it back to compliance")}
	case after.RetentionPeriod.Duration < before.RetentionPeriod.Duration:
		return field.ErrorList{field.Forbidden(path.Child("retentionPeriod"),
			fmt.Sprintf("with compliance it cannot become shorter: give %s or more", before.RetentionPeriod.Duration))}
	}
	return nil
}
