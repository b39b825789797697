package workload

import (
	"context"
	"encoding/json"
	"fmt"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/controllerutils"
	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	"github.com/gardener/gardener/pkg/utils/secrets"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// accessSecretName is the name of the Secret to which gardenlet's token requestor writes a token for the garden.
	accessSecretName = "garden-access-extension" // #nosec G101 -- it is a name
	// kubeconfigPath is the mount path of the kubeconfig and that token.
	kubeconfigPath = "/var/run/secrets/gardener.cloud/garden/generic-kubeconfig"
)

// kubeconfigSecret returns the Secret with the kubeconfig for all pods of an installation, which reads the token from a file. The name contains a
// hash of the content.
func kubeconfigSecret(installation Installation, garden Garden) (*corev1.Secret, error) {
	if garden.Address == "" {
		return nil, fmt.Errorf("the garden's address is not known")
	}
	kubeconfig, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			"garden": {Server: garden.Address, CertificateAuthorityData: garden.CABundle},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			"extension": {TokenFile: kubeconfigPath + "/" + resourcesv1alpha1.DataKeyToken},
		},
		Contexts:       map[string]*clientcmdapi.Context{"garden": {Cluster: "garden", AuthInfo: "extension"}},
		CurrentContext: "garden",
	})
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig for the garden: %w", err)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace(installation.Name), Name: v1beta1constants.SecretNameGenericGardenKubeconfig},
		Data:       map[string][]byte{secrets.DataKeyKubeconfig: kubeconfig},
	}
	if err := kubernetesutils.MakeUnique(secret); err != nil {
		return nil, fmt.Errorf("naming the kubeconfig for the garden: %w", err)
	}
	return secret, nil
}

// applyAccess requests a token of a ServiceAccount of the garden from gardenlet, or withdraws the request. gardenlet writes to the same Secret, hence the optimistic lock.
func applyAccess(ctx context.Context, c client.Client, installation Installation, wanted bool) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace(installation.Name), Name: accessSecretName}}
	if !wanted {
		return deleteAccess(ctx, c, secret)
	}
	labels, err := json.Marshal(map[string]string{v1beta1constants.LabelControllerRegistrationName: installation.Registration})
	if err != nil {
		return fmt.Errorf("writing the labels of the ServiceAccount in the garden: %w", err)
	}
	describe := func() error {
		secret.Type = corev1.SecretTypeOpaque
		metav1.SetMetaDataLabel(&secret.ObjectMeta, resourcesv1alpha1.ResourceManagerPurpose, resourcesv1alpha1.LabelPurposeTokenRequest)
		metav1.SetMetaDataLabel(&secret.ObjectMeta, resourcesv1alpha1.ResourceManagerClass, resourcesv1alpha1.ResourceManagerClassGarden)
		account := v1beta1constants.ExtensionGardenServiceAccountPrefix + installation.Name
		metav1.SetMetaDataAnnotation(&secret.ObjectMeta, resourcesv1alpha1.ServiceAccountName, account)
		metav1.SetMetaDataAnnotation(&secret.ObjectMeta, resourcesv1alpha1.ServiceAccountLabels, string(labels))
		// With this key gardenlet would write a whole kubeconfig instead of the token.
		delete(secret.Data, resourcesv1alpha1.DataKeyKubeconfig)
		return nil
	}
	lock := controllerutils.MergeFromOption{MergeFromOption: client.MergeFromWithOptimisticLock{}}
	if _, err := controllerutils.GetAndCreateOrMergePatch(ctx, c, secret, describe, lock, controllerutils.SkipEmptyPatch{}); err != nil {
		return fmt.Errorf("applying Secret %s: %w", secret.Name, err)
	}
	return nil
}

func deleteAccess(ctx context.Context, c client.Client, secret *corev1.Secret) error {
	there, err := secretExists(ctx, c, secret)
	if err != nil || !there {
		return err
	}
	if err := c.Delete(ctx, secret); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting Secret %s: %w", secret.Name, err)
	}
	return nil
}

// createIfMissing creates immutable Secrets whose names contain a hash of their content.
func createIfMissing(ctx context.Context, c client.Client, secrets ...*corev1.Secret) error {
	for _, secret := range secrets {
		there, err := secretExists(ctx, c, secret)
		if err != nil {
			return err
		}
		if there {
			continue
		}
		if err := c.Create(ctx, secret); err != nil {
			return fmt.Errorf("creating Secret %s: %w", secret.Name, err)
		}
	}
	return nil
}

// secretExists does not read the content. A Secret that is being deleted does not count.
func secretExists(ctx context.Context, c client.Client, secret *corev1.Secret) (bool, error) {
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	err := c.Get(ctx, client.ObjectKeyFromObject(secret), found)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("looking for Secret %s: %w", secret.Name, err)
	}
	return err == nil && found.DeletionTimestamp.IsZero(), nil
}
