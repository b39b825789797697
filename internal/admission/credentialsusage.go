package admission

import (
	"cmp"
	"context"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/pages"
)

// bindingNames are the names of the bindings in a namespace that refer to the same credentials.
type bindingNames struct{ secret, credentials map[string]bool }

// areUsedByShoot reports whether a shoot uses the credentials.
func (c Credentials) areUsedByShoot(ctx context.Context, reference corev1.ObjectReference) (bool, error) {
	byNamespace, err := c.bindingsOf(ctx, reference)
	if err != nil {
		return false, err
	}
	for namespace, names := range byNamespace {
		used := false
		err := pages.Each(ctx, c.Garden.Reader, &gardencorev1beta1.ShootList{}, func(shoots *gardencorev1beta1.ShootList) bool {
			used = slices.ContainsFunc(shoots.Items, func(shoot gardencorev1beta1.Shoot) bool {
				return shoot.Spec.Provider.Type == c.Type && names.areUsedBy(&shoot)
			})
			return !used
		}, client.InNamespace(namespace))
		if used || err != nil {
			return used, err
		}
	}
	return false, nil
}

func (b *bindingNames) areUsedBy(shoot *gardencorev1beta1.Shoot) bool {
	name, secretName := shoot.Spec.CredentialsBindingName, shoot.Spec.SecretBindingName
	return name != nil && b.credentials[*name] || secretName != nil && b.secret[*secretName]
}

// bindingsOf returns the bindings by namespace, which may differ from that of the credentials.
func (c Credentials) bindingsOf(ctx context.Context, reference corev1.ObjectReference) (map[string]*bindingNames, error) {
	found := map[string]*bindingNames{}
	in := func(namespace string) *bindingNames {
		if found[namespace] == nil {
			found[namespace] = &bindingNames{secret: map[string]bool{}, credentials: map[string]bool{}}
		}
		return found[namespace]
	}
	if reference.Kind == "Secret" { // SecretBindings refer to no other kind
		err := pages.Each(ctx, c.Garden.Reader, &gardencorev1beta1.SecretBindingList{}, func(list *gardencorev1beta1.SecretBindingList) bool {
			for i := range list.Items {
				binding := &list.Items[i]
				if secretReference(cmp.Or(binding.SecretRef.Namespace, binding.Namespace), binding.SecretRef.Name) == reference {
					in(binding.Namespace).secret[binding.Name] = true
				}
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	err := pages.Each(ctx, c.Garden.Reader, &securityv1alpha1.CredentialsBindingList{}, func(list *securityv1alpha1.CredentialsBindingList) bool {
		for i := range list.Items {
			if other := list.Items[i].CredentialsRef; other.GroupVersionKind() == reference.GroupVersionKind() &&
				other.Namespace == reference.Namespace && other.Name == reference.Name {
				in(list.Items[i].Namespace).credentials[list.Items[i].Name] = true
			}
		}
		return true
	})
	return found, err
}
