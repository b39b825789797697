package admission

import (
	"context"

	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/ratcheting"
)

// validateWorkloadIdentity validates the configuration of the target system, whose type cannot change.
func (c Credentials) validateWorkloadIdentity(_ context.Context, identity, old *securityv1alpha1.WorkloadIdentity) (Result, error) {
	target := identity.Spec.TargetSystem
	if target.Type != c.Type || old != nil && equality.Semantic.DeepEqual(target, old.Spec.TargetSystem) {
		return Result{}, nil
	}
	var (
		before *runtime.RawExtension
		known  field.ErrorList
		path   = identityConfigPath()
	)
	if old != nil {
		before = old.Spec.TargetSystem.ProviderConfig
		known = c.ValidateIdentity(before, path)
	}
	if errs := TooLarge(target.ProviderConfig, before, MaxShootConfig, path); len(errs) > 0 {
		return Result{Errors: errs}, nil
	}
	return Result{Errors: ratcheting.Introduced(known, c.ValidateIdentity(target.ProviderConfig, path))}, nil
}

func identityConfigPath() *field.Path { return field.NewPath("spec", "targetSystem", "providerConfig") }

// validateReferencedIdentity validates the WorkloadIdentity that a binding refers to. Gardener rejects the binding if it does not exist, or has another
// type.
func (c Credentials) validateReferencedIdentity(ctx context.Context, reference corev1.ObjectReference, path *field.Path) (Result, error) {
	identity, err := c.Garden.WorkloadIdentity(ctx, reference.Namespace, reference.Name)
	if identity == nil || identity.Spec.TargetSystem.Type != c.Type || err != nil {
		return Result{}, err
	}
	return Result{Errors: asReferenced(c.ValidateIdentity(identity.Spec.TargetSystem.ProviderConfig, identityConfigPath()), reference, path)}, nil
}
