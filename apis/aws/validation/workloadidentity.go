package validation

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/internal/shoots"
)

// ValidateWorkloadIdentity checks the configuration of a WorkloadIdentity, which it must have; fldPath is the configuration's. Unknown fields are errors.
func ValidateWorkloadIdentity(raw *runtime.RawExtension, fldPath *field.Path) field.ErrorList {
	configs := shoots.Reader[v1alpha1.WorkloadIdentityConfig]{
		Kind: kindOf("WorkloadIdentityConfig"), Strictly: v1alpha1.DecodeWorkloadIdentityConfig, Leniently: v1alpha1.DecodeStoredWorkloadIdentityConfig,
	}
	config, errs := configs.Required(raw, fldPath)
	if config == nil {
		return errs
	}
	return append(errs, ValidateWorkloadIdentityConfig(config, fldPath)...)
}

// ValidateWorkloadIdentityConfig checks the configuration of credentials without secrets.
func ValidateWorkloadIdentityConfig(config *v1alpha1.WorkloadIdentityConfig, fldPath *field.Path) field.ErrorList {
	return roleARN().validate(config.RoleARN, fldPath.Child("roleARN"))
}
