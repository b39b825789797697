package controlplane

import (
	"context"
	"fmt"
	"maps"

	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/managedresource"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

// labelOwner marks the contract's own Secrets with the ControlPlane's name, so that they are found even if nothing refers to them: a process may end between
// the creation of a Secret and of its user.
const labelOwner = "controlplane.trellis.garden/owner"

// secrets are the contract's own Secrets in one shoot's namespace.
type secrets struct {
	client           client.Client
	namespace, owner string
}

// writeConfigs creates an immutable Secret with a hash in its name for each config, and returns the names for component.Values. Those of earlier contents
// stay until they are unused.
func (s secrets) writeConfigs(ctx context.Context, configs []Config) (map[string]string, error) {
	names := map[string]string{}
	for _, config := range configs {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: config.Name, Labels: map[string]string{labelOwner: s.owner}},
			Data:       config.Files, Type: corev1.SecretTypeOpaque,
		}
		if err := kubernetesutils.MakeUnique(secret); err != nil {
			return nil, fmt.Errorf("naming config %s: %w", config.Name, err)
		}
		if err := managedresource.CreateIfNotExists(ctx, s.client, secret); err != nil {
			return nil, err
		}
		names[config.Name] = secret.Name
	}
	return names, nil
}

// writeShootAccess makes sure that each ServiceAccount has a Secret into which gardener-resource-manager writes a token.
func (s secrets) writeShootAccess(ctx context.Context, serviceAccounts []string) error {
	for _, name := range serviceAccounts {
		if err := s.ensureShootAccess(ctx, component.ShootAccessSecret(name, s.namespace)); err != nil {
			return err
		}
	}
	return nil
}

// removeShootAccess deletes the Secrets of unused ServiceAccounts: our own, and upstream's of retired ones.
func (s secrets) removeShootAccess(ctx context.Context, serviceAccounts, retired []string) error {
	needed := sets.New[string]()
	for _, name := range serviceAccounts {
		needed.Insert(component.ShootAccessSecret(name, s.namespace).Name)
	}
	if err := s.deleteOwned(ctx, func(secret *metav1.PartialObjectMetadata) bool {
		return isShootAccess(secret) && !needed.Has(secret.Name)
	}); err != nil {
		return err
	}
	for _, name := range retired {
		if secret := component.ShootAccessSecret(name, s.namespace); !needed.Has(secret.Name) {
			if err := s.deleteShootAccess(ctx, secret); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteShootAccess deletes a Secret if it exists. It reads it first: a reconciliation without changes makes no writes.
func (s secrets) deleteShootAccess(ctx context.Context, secret *corev1.Secret) error {
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := s.client.Get(ctx, client.ObjectKeyFromObject(secret), found); err != nil {
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading Secret %s: %w", secret.Name, err)
		}
		return nil
	}
	if !isShootAccess(found) {
		return nil
	}
	if err := s.client.Delete(ctx, found); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting Secret %s: %w", secret.Name, err)
	}
	return nil
}

// ensureShootAccess keeps what gardener-resource-manager writes into the Secret: the token and its renewal time.
func (s secrets) ensureShootAccess(ctx context.Context, wanted *corev1.Secret) error {
	metav1.SetMetaDataLabel(&wanted.ObjectMeta, labelOwner, s.owner)
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	err := s.client.Get(ctx, client.ObjectKeyFromObject(wanted), found)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading Secret %s: %w", wanted.Name, err)
	}
	if err != nil {
		if err := s.client.Create(ctx, wanted); err != nil {
			return fmt.Errorf("creating Secret %s: %w", wanted.Name, err)
		}
		return nil
	}
	before := found.DeepCopy()
	found.Labels = merged(found.Labels, wanted.Labels)
	found.Annotations = merged(found.Annotations, wanted.Annotations)
	if equality.Semantic.DeepEqual(before, found) {
		return nil
	}
	if err := s.client.Patch(ctx, found, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("correcting Secret %s: %w", wanted.Name, err)
	}
	return nil
}

// deleteAll deletes all of the contract's own Secrets without waiting.
func (s secrets) deleteAll(ctx context.Context) error {
	return s.deleteOwned(ctx, func(*metav1.PartialObjectMetadata) bool { return true })
}

// removeAll also waits until they are gone: others may have finalizers.
func (s secrets) removeAll(ctx context.Context) error {
	if err := s.deleteAll(ctx); err != nil {
		return err
	}
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		list, err := s.owned(ctx)
		if err != nil || len(list.Items) == 0 {
			return "", err
		}
		return fmt.Sprintf("Secret %s is not gone yet", list.Items[0].Name), nil
	})
}

// deleteOwned deletes the matching ones.
func (s secrets) deleteOwned(ctx context.Context, matches func(*metav1.PartialObjectMetadata) bool) error {
	list, err := s.owned(ctx)
	if err != nil {
		return err
	}
	for i := range list.Items {
		secret := &list.Items[i]
		if !matches(secret) {
			continue
		}
		if err := s.client.Delete(ctx, secret); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting Secret %s: %w", secret.Name, err)
		}
	}
	return nil
}

func (s secrets) owned(ctx context.Context) (*metav1.PartialObjectMetadataList, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := s.client.List(ctx, list, client.InNamespace(s.namespace), client.MatchingLabels{labelOwner: s.owner}); err != nil {
		return nil, fmt.Errorf("listing the control plane's Secrets: %w", err)
	}
	return list, nil
}

func isShootAccess(secret *metav1.PartialObjectMetadata) bool {
	reference := component.ShootAccessSecret("any", secret.Namespace)
	for key, value := range reference.Labels {
		if secret.Labels[key] != value {
			return false
		}
	}
	return true
}

func merged(found, wanted map[string]string) map[string]string {
	result := maps.Clone(found)
	if result == nil {
		result = map[string]string{}
	}
	maps.Copy(result, wanted)
	return result
}
