package workload

import (
	"context"
	"fmt"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// Remove deletes the objects of Apply in gardenlet's order: the ManagedResource with its objects, then the namespace. It does not wait: it returns
// what still exists and why ("namespace x to go: ..."), or "" when all is deleted. A ManagedResource of another owner stays. The ServiceAccount in
// the garden is not deleted here.
func Remove(ctx context.Context, cluster *seeds.Cluster, installation string) (waitingFor string, err error) {
	for _, remove := range []func(context.Context, client.Client, string) (string, error){
		removeManagedResource, removeContent, removeNamespace,
	} {
		if waitingFor, err := remove(ctx, cluster.Client, installation); err != nil || waitingFor != "" {
			return waitingFor, err
		}
	}
	return "", nil
}

func removeManagedResource(ctx context.Context, c client.Client, installation string) (string, error) {
	resource, err := readManagedResource(ctx, c, installation)
	if isNotFound(err) {
		return "", nil
	}
	if err != nil || resource == nil || !belongsTo(resource, installation) {
		return "", err
	}
	if !resource.DeletionTimestamp.IsZero() {
		return waitingMessage("ManagedResource", installation, deletionMessage(resource)), nil
	}
	if err := c.Delete(ctx, resource); client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("deleting ManagedResource %s: %w", installation, err)
	}
	// Without finalizers it is deleted at once.
	resource, err = readManagedResource(ctx, c, installation)
	if err != nil || resource == nil {
		return "", err
	}
	return waitingMessage("ManagedResource", installation, deletionMessage(resource)), nil
}

func waitingMessage(kind, name, why string) string {
	if why == "" {
		return kind + " " + name + " to go"
	}
	return kind + " " + name + " to go: " + why
}

// removeContent finds the Secrets by their labels: an interrupted reconciliation may leave Secrets to which no ManagedResource refers.
func removeContent(ctx context.Context, c client.Client, installation string) (string, error) {
	secrets := &metav1.PartialObjectMetadataList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	err := c.List(ctx, secrets, client.InNamespace(v1beta1constants.GardenNamespace), client.MatchingLabels{labelInstallation: installation})
	if err != nil {
		return "", fmt.Errorf("listing the Secrets of ManagedResource %s: %w", installation, err)
	}
	for i := range secrets.Items {
		if err := c.Delete(ctx, &secrets.Items[i]); client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("deleting Secret %s: %w", secrets.Items[i].Name, err)
		}
	}
	return "", nil
}

func removeNamespace(ctx context.Context, c client.Client, installation string) (string, error) {
	namespace := &corev1.Namespace{}
	key := client.ObjectKey{Name: Namespace(installation)}
	switch err := c.Get(ctx, key, namespace); {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading namespace %s: %w", key.Name, err)
	}
	if namespace.DeletionTimestamp.IsZero() {
		if err := c.Delete(ctx, namespace); client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("deleting namespace %s: %w", key.Name, err)
		}
	}
	return waitingMessage("namespace", key.Name, terminationMessage(namespace)), nil
}

// terminationMessage says what remains in a namespace, according to its conditions.
func terminationMessage(namespace *corev1.Namespace) string {
	var reasons []string
	for _, condition := range namespace.Status.Conditions {
		if condition.Status == corev1.ConditionTrue && condition.Message != "" {
			reasons = append(reasons, condition.Message)
		}
	}
	return truncate.Text(strings.Join(reasons, "; "), truncate.MaxExternal)
}
