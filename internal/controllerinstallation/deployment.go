package controllerinstallation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/apis/installation/validation"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/chart"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
	"github.com/trellis-garden/trellis/internal/fielderrors"
)

// isOurs reports whether a ControllerDeployment is for the operator. Whichever version it was written in, version v1 says so by an annotation
// (gardener/pkg/apis/core/v1/conversion_controllerdeployment.go).
func isOurs(deployment *gardencorev1.ControllerDeployment) bool {
	return deployment.Helm == nil && deployment.Annotations[gardencorev1.MigrationControllerDeploymentType] == installationv1alpha1.DeploymentType
}

// configOf returns what a deployment says, with defaults. The error is a problem.Problem.
func configOf(deployment *gardencorev1.ControllerDeployment) (*installationv1alpha1.ControllerDeploymentConfig, error) {
	raw := &runtime.RawExtension{Raw: []byte(deployment.Annotations[gardencorev1.MigrationControllerDeploymentProviderConfig])}
	config, err := installationv1alpha1.DecodeControllerDeploymentConfig(raw)
	if err != nil {
		return nil, problem.New(problem.ProviderConfigInvalid, fmt.Sprintf("providerConfig of ControllerDeployment %s: %v", deployment.Name, err))
	}
	path := field.NewPath("providerConfig")
	errs := validation.ValidateControllerDeploymentConfig(config, path)
	errs = append(errs, validation.ValidateOverlaySecrets(config.ValuesOverlays, deployment.Resources, path.Child("valuesOverlays"))...)
	if err := fielderrors.Error(errs); err != nil {
		return nil, problem.New(problem.ProviderConfigInvalid, fmt.Sprintf("ControllerDeployment %s: %v", deployment.Name, err))
	}
	installationv1alpha1.Default(config)
	return config, nil
}

// originOf tells whether a deployment says the same as before, a tag included: it is a hash over all that makes a revision, except for what a
// registry has behind a tag.
func originOf(deployment *gardencorev1.ControllerDeployment, config *installationv1alpha1.ControllerDeploymentConfig) (string, error) {
	document, err := json.Marshal([]any{
		config.Chart, config.OCIRepository, config.Values, config.ValuesOverlays, deployment.InjectGardenKubeconfig, deployment.Resources,
	})
	if err != nil {
		return "", fmt.Errorf("encoding what ControllerDeployment %s says: %w", deployment.Name, err)
	}
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:16]), nil
}

// charts gets what deployments refer to.
type charts struct {
	puller *chart.Puller
	// secrets is where pull secrets and bundles are, namespace the one there.
	secrets   client.Reader
	namespace string
}

// content returns what makes the revision that a deployment asks for, with a chart that can be loaded. A problem.Problem is the admin's.
func (c charts) content(
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

func (c charts) pull(ctx context.Context, repository *installationv1alpha1.OCIRepository, into *revision.Content) error {
	artifact := chart.Artifact{Reference: referenceOf(repository)}
	var err error
	if artifact.DockerConfig, err = c.secret(ctx, "pullSecretRef", repository.PullSecretRef, corev1.DockerConfigJsonKey); err != nil {
		return err
	}
	if artifact.CABundle, err = c.secret(ctx, "caBundleSecretRef", repository.CABundleSecretRef, "bundle.crt"); err != nil {
		return err
	}
	pulled, err := c.puller.Pull(ctx, artifact)
	if found, isProblem := problem.In(err); isProblem {
		return problem.New(found.Reason, fmt.Sprintf("providerConfig.ociRepository: %s; mend the reference, pullSecretRef or caBundleSecretRef, whichever it is",
			found.Message))
	}
	if err != nil {
		return &registryError{reference: artifact.Reference, cause: err}
	}
	into.Chart, into.Source = pulled.Archive, withDigest(artifact.Reference, pulled.Digest)
	return nil
}

// secret returns a key of a Secret, or nothing where none is referred to.
func (c charts) secret(ctx context.Context, fieldName string, ref *corev1.LocalObjectReference, key string) ([]byte, error) {
	if ref == nil {
		return nil, nil
	}
	newProblem := func(what string) error {
		return problem.New(problem.OCIChartCannotBePulled, fmt.Sprintf("providerConfig.ociRepository.%s: %s", fieldName, what))
	}
	secret := &corev1.Secret{}
	err := c.secrets.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: ref.Name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, newProblem(fmt.Sprintf("there is no Secret %q in namespace %s of the garden: create it", ref.Name, c.namespace))
	}
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s/%s of the garden: %w", c.namespace, ref.Name, err)
	}
	if len(secret.Data[key]) == 0 {
		return nil, newProblem(fmt.Sprintf("Secret %s/%s has nothing under %q: add it", c.namespace, ref.Name, key))
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

// registryError is a registry's that goes away by itself.
type registryError struct {
	reference string
	cause     error
}

func (e *registryError) Error() string {
	return fmt.Sprintf("pulling chart %s: %v", e.reference, e.cause)
}

func (e *registryError) Unwrap() error { return e.cause }
