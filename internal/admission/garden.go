package admission

import (
	"context"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Garden reads the objects that validation needs besides the validated one. It reads from the API server: most writes need no read,
// and a cache of CloudProfiles or Secrets would cost more than it saves.
type Garden struct {
	Reader client.Reader
}

// CloudProfileSpec returns the spec of the shoot's CloudProfile, or that of its NamespacedCloudProfile merged with its parent's, which Gardener
// writes to its status. It returns nil if there is no such profile, or its status is still empty: Gardener itself rejects such shoots.
func (g Garden) CloudProfileSpec(ctx context.Context, shoot *gardencorev1beta1.Shoot) (*gardencorev1beta1.CloudProfileSpec, error) {
	reference, _ := cloudProfileOf(shoot)
	if reference.Kind == v1beta1constants.CloudProfileReferenceKindNamespacedCloudProfile {
		profile := &gardencorev1beta1.NamespacedCloudProfile{}
		found, err := g.find(ctx, shoot.Namespace, reference.Name, profile)
		// The status is the parent's spec with additions; a profile that was just created has none.
		if !found || len(profile.Status.CloudProfileSpec.Regions) == 0 && profile.Status.CloudProfileSpec.ProviderConfig == nil {
			return nil, err
		}
		return &profile.Status.CloudProfileSpec, nil
	}
	return g.ParentSpec(ctx, reference.Name)
}

// ParentSpec returns the spec of the CloudProfile of that name, or nil if there is none.
func (g Garden) ParentSpec(ctx context.Context, name string) (*gardencorev1beta1.CloudProfileSpec, error) {
	profile := &gardencorev1beta1.CloudProfile{}
	found, err := g.find(ctx, "", name, profile)
	if !found {
		return nil, err
	}
	return &profile.Spec, nil
}

// CredentialsOf returns the data of the Secret, or InternalSecret, with the credentials of the shoot's infrastructure. It returns nil if the shoot
// references none, or the referenced object does not exist or is of another kind: Gardener itself rejects shoots that need credentials and have
// none.
func (g Garden) CredentialsOf(ctx context.Context, shoot *gardencorev1beta1.Shoot) (map[string][]byte, error) {
	switch {
	case shoot.Spec.CredentialsBindingName != nil:
		binding := &securityv1alpha1.CredentialsBinding{}
		found, err := g.find(ctx, shoot.Namespace, *shoot.Spec.CredentialsBindingName, binding)
		if !found {
			return nil, err
		}
		return g.Credentials(ctx, binding.CredentialsRef)
	case shoot.Spec.SecretBindingName != nil:
		binding := &gardencorev1beta1.SecretBinding{}
		found, err := g.find(ctx, shoot.Namespace, *shoot.Spec.SecretBindingName, binding)
		if !found {
			return nil, err
		}
		return g.Credentials(ctx, corev1.ObjectReference{
			APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Secret", Namespace: binding.SecretRef.Namespace, Name: binding.SecretRef.Name,
		})
	default:
		return nil, nil
	}
}

// Credentials returns the data of a Secret or an InternalSecret, which is not nil even if it is empty. It returns nil if there is no such object,
// or the reference is to another kind.
func (g Garden) Credentials(ctx context.Context, reference corev1.ObjectReference) (map[string][]byte, error) {
	switch reference.GroupVersionKind() {
	case corev1.SchemeGroupVersion.WithKind("Secret"):
		secret := &corev1.Secret{}
		found, err := g.find(ctx, reference.Namespace, reference.Name, secret)
		return dataOf(found, secret.Data), err
	case gardencorev1beta1.SchemeGroupVersion.WithKind("InternalSecret"):
		secret := &gardencorev1beta1.InternalSecret{}
		found, err := g.find(ctx, reference.Namespace, reference.Name, secret)
		return dataOf(found, secret.Data), err
	default:
		return nil, nil
	}
}

func dataOf(found bool, data map[string][]byte) map[string][]byte {
	if found && data == nil {
		return map[string][]byte{}
	}
	return data
}

// WorkloadIdentity returns the WorkloadIdentity of that name, or nil if there is none.
func (g Garden) WorkloadIdentity(ctx context.Context, namespace, name string) (*securityv1alpha1.WorkloadIdentity, error) {
	identity := &securityv1alpha1.WorkloadIdentity{}
	found, err := g.find(ctx, namespace, name, identity)
	if !found {
		return nil, err
	}
	return identity, nil
}

// find reads an object and reports whether it exists. The error is never NotFound.
func (g Garden) find(ctx context.Context, namespace, name string, into client.Object) (bool, error) {
	if name == "" {
		return false, nil
	}
	err := g.Reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, into)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading %T %q: %w", into, name, err)
	default:
		return true, nil
	}
}
