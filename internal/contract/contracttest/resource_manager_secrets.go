package contracttest

import (
	"context"
	"fmt"
	"strings"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// requestTokens fills the Secrets that request a token of the shoot.
func (m *ResourceManager) requestTokens(ctx context.Context) error {
	list := &corev1.SecretList{}
	if err := m.client.List(ctx, list, client.InNamespace(m.namespace), tokenRequests()); err != nil {
		return fmt.Errorf("listing Secrets that ask for tokens: %w", err)
	}
	for i := range list.Items {
		if err := m.fillToken(ctx, &list.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// requestToken fills one Secret if it requests a token.
func (m *ResourceManager) requestToken(ctx context.Context, name string) error {
	secret := &corev1.Secret{}
	if err := m.client.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: name}, secret); err != nil {
		return client.IgnoreNotFound(err)
	}
	for label, value := range tokenRequests() {
		if secret.Labels[label] != value {
			return nil
		}
	}
	return m.fillToken(ctx, secret)
}

func tokenRequests() client.MatchingLabels {
	return client.MatchingLabels{
		resourcesv1alpha1.ResourceManagerPurpose: resourcesv1alpha1.LabelPurposeTokenRequest,
		resourcesv1alpha1.ResourceManagerClass:   resourcesv1alpha1.ResourceManagerClassShoot,
	}
}

func (m *ResourceManager) fillToken(ctx context.Context, secret *corev1.Secret) error {
	m.mutex.Lock()
	off := m.hibernated || m.stopped
	m.mutex.Unlock()
	if off || len(secret.Data[resourcesv1alpha1.DataKeyToken]) > 0 {
		return nil
	}
	patch := client.MergeFrom(secret.DeepCopy())
	token := "token of " + secret.Annotations[resourcesv1alpha1.ServiceAccountName]
	secret.Data = map[string][]byte{resourcesv1alpha1.DataKeyToken: []byte(token)}
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, resourcesv1alpha1.ServiceAccountTokenRenewTimestamp, "2106-02-07T06:28:15Z")
	if err := m.client.Patch(ctx, secret, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing the token into Secret %s: %w", secret.Name, err)
	}
	return nil
}

// checkReferencedSecrets reports active ManagedResources whose Secrets are missing.
func (m *ResourceManager) checkReferencedSecrets(ctx context.Context) error {
	m.reconciling.Lock()
	defer m.reconciling.Unlock()
	list := &resourcesv1alpha1.ManagedResourceList{}
	if err := m.client.List(ctx, list, client.InNamespace(m.namespace)); err != nil {
		return fmt.Errorf("listing ManagedResources: %w", err)
	}
	for i := range list.Items {
		resource := &list.Items[i]
		if !resource.DeletionTimestamp.IsZero() {
			continue
		}
		for _, ref := range resource.Spec.SecretRefs {
			err := m.client.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: ref.Name}, partialSecret())
			if err != nil {
				err = m.missingSecretError(ctx, resource, ref.Name, err)
			}
			if err != nil && !apierrors.IsConflict(err) {
				m.addViolationf("%s", err)
			}
		}
	}
	return nil
}

// partialSecret is a Secret without its content.
func partialSecret() *metav1.PartialObjectMetadata {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return secret
}

// CollectGarbage deletes immutable Secrets without references, as the seed's gardener-resource-manager does periodically.
func (m *ResourceManager) CollectGarbage(ctx context.Context) error {
	resources := &resourcesv1alpha1.ManagedResourceList{}
	secrets := &corev1.SecretList{}
	if err := m.client.List(ctx, resources, client.InNamespace(m.namespace)); err != nil {
		return fmt.Errorf("listing ManagedResources: %w", err)
	}
	err := m.client.List(ctx, secrets, client.InNamespace(m.namespace),
		client.MatchingLabels{references.LabelKeyGarbageCollectable: references.LabelValueGarbageCollectable})
	if err != nil {
		return fmt.Errorf("listing Secrets: %w", err)
	}
	used := sets.New[string]()
	for _, resource := range resources.Items {
		addUsedSecrets(used, resource.Annotations)
	}
	for _, deployment := range m.seed.OfKind("Deployment") {
		addUsedSecrets(used, deployment.GetAnnotations())
	}
	for i := range secrets.Items {
		if used.Has(secrets.Items[i].Name) {
			continue
		}
		if err := m.client.Delete(ctx, &secrets.Items[i]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("collecting Secret %s: %w", secrets.Items[i].Name, err)
		}
	}
	return nil
}

// addUsedSecrets adds the Secrets that annotations name.
func addUsedSecrets(used sets.Set[string], annotations map[string]string) {
	for key, name := range annotations {
		if strings.HasPrefix(key, references.AnnotationKeyPrefix) && references.KindFromAnnotationKey(key) == references.KindSecret {
			used.Insert(name)
		}
	}
}
