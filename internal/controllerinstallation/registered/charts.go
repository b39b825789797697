package registered

import (
	"context"
	"fmt"
	"strings"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/chart"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
)

// Charts fetches the charts of deployments.
type Charts struct {
	Puller *chart.Puller
	// Secrets reads pull secrets and CA bundles from the garden, in Namespace.
	Secrets   client.Reader
	Namespace string
}

// Content returns the content of the revision that a deployment asks for. Its chart can be loaded. The error is a problem.Problem if an admin has to
// change something, and a RegistryError if the registry does not answer.
func (c Charts) Content(
	ctx context.Context, deployment *gardencorev1.ControllerDeployment, config *installationv1alpha1.ControllerDeploymentConfig,
) (*revision.Content, error) {
	content := &revision.Content{
		Chart:                  config.Chart,
		ValuesOverlays:         config.ValuesOverlays,
		InjectGardenKubeconfig: deployment.InjectGardenKubeconfig != nil && *deployment.InjectGardenKubeconfig,
		Resources:              deployment.Resources,
	}
	if config.Values != nil {
		content.Values = config.Values.Raw
	}
	if config.OCIRepository != nil {
		if err := c.pull(ctx, config.OCIRepository, content); err != nil {
			return nil, err
		}
	}
	if _, err := chart.Load(content.Chart); err != nil {
		return nil, err
	}
	return content, nil
}

func (c Charts) pull(ctx context.Context, repository *installationv1alpha1.OCIRepository, into *revision.Content) error {
	artifact := chart.Artifact{Reference: referenceOf(repository)}
	var err error
	if artifact.DockerConfig, err = c.secret(ctx, "pullSecretRef", repository.PullSecretRef, corev1.DockerConfigJsonKey); err != nil {
		return err
	}
	if artifact.CABundle, err = c.secret(ctx, "caBundleSecretRef", repository.CABundleSecretRef, "bundle.crt"); err != nil {
		return err
	}
	pulled, err := c.Puller.Pull(ctx, artifact)
	if found, isProblem := problem.In(err); isProblem {
		return problem.New(found.Reason, fmt.Sprintf("providerConfig.ociRepository: %s; mend the reference, pullSecretRef or caBundleSecretRef, whichever it is",
			found.Message))
	}
	if err != nil {
		return &RegistryError{reference: artifact.Reference, cause: err}
	}
	into.Chart, into.Source = pulled.Archive, withDigest(artifact.Reference, pulled.Digest)
	return nil
}

// secret returns a key of a Secret, or nothing without a reference.
func (c Charts) secret(ctx context.Context, fieldName string, ref *corev1.LocalObjectReference, key string) ([]byte, error) {
	if ref == nil {
		return nil, nil
	}
	newProblem := func(what string) error {
		return problem.New(problem.OCIChartCannotBePulled, fmt.Sprintf("providerConfig.ociRepository.%s: %s", fieldName, what))
	}
	secret := &corev1.Secret{}
	err := c.Secrets.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: ref.Name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, newProblem(fmt.Sprintf("there is no Secret %q in namespace %s of the garden: create it", ref.Name, c.Namespace))
	}
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s/%s of the garden: %w", c.Namespace, ref.Name, err)
	}
	if len(secret.Data[key]) == 0 {
		return nil, newProblem(fmt.Sprintf("Secret %s/%s has nothing under %q: add it", c.Namespace, ref.Name, key))
	}
	return secret.Data[key], nil
}

// referenceOf returns registry/repository:tag or ...@digest.
func referenceOf(repository *installationv1alpha1.OCIRepository) string {
	reference := repository.Ref
	switch {
	case reference != "":
	case repository.Digest != "":
		reference = repository.Repository + "@" + repository.Digest
	default:
		reference = repository.Repository + ":" + repository.Tag
	}
	return strings.TrimPrefix(reference, "oci://")
}

// withDigest replaces the tag of a reference.
func withDigest(reference, digest string) string {
	repository, _, _ := strings.Cut(reference, "@")
	if colon := strings.LastIndex(repository, ":"); colon > strings.LastIndex(repository, "/") {
		repository = repository[:colon]
	}
	return repository + "@" + digest
}

// RegistryError is a transient error of a registry.
type RegistryError struct {
	reference string
	cause     error
}

// Error implements error.
func (e *RegistryError) Error() string {
	return fmt.Sprintf("pulling chart %s: %v", e.reference, e.cause)
}

// Unwrap returns the cause.
func (e *RegistryError) Unwrap() error { return e.cause }
