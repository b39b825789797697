package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BackupBucketConfig is a landscape admin's configuration of a bucket for backups (Seed.spec.backup.providerConfig, BackupBucket.spec.providerConfig).
//
// +kubebuilder:object:root=true
type BackupBucketConfig struct {
	metav1.TypeMeta `json:",inline"`

	// Immutability protects backups from being changed and deleted.
	// +optional
	Immutability *ImmutableConfig `json:"immutability,omitempty"`
}

// ImmutableConfig protects objects of a bucket.
type ImmutableConfig struct {
	// RetentionType is `bucket`: the protection applies to the whole bucket.
	RetentionType string `json:"retentionType"`
	// RetentionPeriod is how long an object is protected, in whole days, e.g. `96h`.
	RetentionPeriod metav1.Duration `json:"retentionPeriod"`
	// Mode is `governance` if users with special permissions may change the protection, or `compliance` if nobody may.
	Mode string `json:"mode"`
}

// Values of immutability.
const (
	RetentionTypeBucket = "bucket"     // the protection applies to the whole bucket
	ModeCompliance      = "compliance" // nobody may change the protection
	ModeGovernance      = "governance" // users with special permissions may change the protection
)
