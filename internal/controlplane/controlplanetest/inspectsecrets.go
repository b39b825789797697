package controlplanetest

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	secretsutils "github.com/gardener/gardener/pkg/utils/secrets"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
)

// identity is the CA of a shoot's control plane, as it was seen first.
type identity struct {
	mutex sync.Mutex
	ca    []byte
}

// matches reports whether the CA is the one that was seen first.
func (i *identity) matches(ca []byte) bool {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if i.ca == nil {
		i.ca = ca
	}
	return bytes.Equal(i.ca, ca)
}

// checkSecrets holds every Secret against its use: there is none that nobody needs, and none is missing.
func (i *inspector) checkSecrets(resources []resourcesv1alpha1.ManagedResource, secrets []corev1.Secret) []string {
	used := sets.New(i.existing...)
	for _, resource := range resources {
		for _, ref := range resource.Spec.SecretRefs {
			used.Insert(ref.Name)
		}
	}
	mounted, err := i.mounted()
	if err != nil {
		return []string{err.Error()}
	}
	used = used.Union(mounted)
	violations, authorities := []string{}, 0
	for _, secret := range secrets {
		switch {
		case i.isAuthority(secret):
			authorities++
			if !i.identity.matches(secret.Data[secretsutils.DataKeyCertificateCA]) {
				violations = append(violations, fmt.Sprintf("the CA has been replaced by Secret %s", secret.Name))
			}
		case secret.Labels[secretsmanager.LabelKeyBundleFor] != "", used.Has(secret.Name):
		default:
			violations = append(violations, fmt.Sprintf("nobody needs Secret %s", secret.Name))
		}
		if isAccess(secret) && len(secret.Data[resourcesv1alpha1.DataKeyToken]) == 0 {
			violations = append(violations, fmt.Sprintf("Secret %s has lost its token", secret.Name))
		}
		used.Delete(secret.Name)
	}
	for name := range used {
		violations = append(violations, fmt.Sprintf("Secret %s is missing", name))
	}
	if authorities != 1 {
		violations = append(violations, fmt.Sprintf("there are %d CAs", authorities))
	}
	slices.Sort(violations)
	return violations
}

func (i *inspector) isAuthority(secret corev1.Secret) bool {
	return secret.Labels[secretsmanager.LabelKeyName] == "ca-provider-"+i.subject.Type+"-controlplane" &&
		secret.Labels[secretsmanager.LabelKeyManagerIdentity] == "provider-"+i.subject.Type+"-controlplane"
}

func isAccess(secret corev1.Secret) bool {
	return secret.Labels[resourcesv1alpha1.ResourceManagerPurpose] == resourcesv1alpha1.LabelPurposeTokenRequest
}

// mounted returns the names of the Secrets that Deployments in the seed mount.
func (i *inspector) mounted() (sets.Set[string], error) {
	names := sets.New[string]()
	for _, object := range i.manager.Seed().OfKind("Deployment") {
		deployment := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment); err != nil {
			return nil, fmt.Errorf("reading Deployment %s: %w", object.GetName(), err)
		}
		for _, volume := range deployment.Spec.Template.Spec.Volumes {
			if volume.Secret != nil {
				names.Insert(volume.Secret.SecretName)
			}
			if volume.Projected == nil {
				continue
			}
			for _, source := range volume.Projected.Sources {
				if source.Secret != nil {
					names.Insert(source.Secret.Name)
				}
			}
		}
	}
	return names, nil
}
