// Package registered decodes ControllerDeployments of the operator's type, and fetches the charts that they refer to. It must not know how a revision
// is stored, rolled out or installed.
package registered

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/apis/installation/validation"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/fielderrors"
)

// IsOurs reports whether a ControllerDeployment has the operator's type. Whichever version it was written in, version v1 has the type in an annotation
// (gardener/pkg/apis/core/v1/conversion_controllerdeployment.go).
func IsOurs(deployment *gardencorev1.ControllerDeployment) bool {
	return deployment.Helm == nil && deployment.Annotations[gardencorev1.MigrationControllerDeploymentType] == installationv1alpha1.DeploymentType
}

// ConfigOf returns the configuration in a deployment, with defaults. The error is a problem.Problem.
func ConfigOf(deployment *gardencorev1.ControllerDeployment) (*installationv1alpha1.ControllerDeploymentConfig, error) {
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

// OriginOf returns a hash of everything in a deployment that a revision depends on. It does not change if a tag is moved to another chart in the registry.
func OriginOf(deployment *gardencorev1.ControllerDeployment, config *installationv1alpha1.ControllerDeploymentConfig) (string, error) {
	document, err := json.Marshal([]any{
		config.Chart, config.OCIRepository, config.Values, config.ValuesOverlays, deployment.InjectGardenKubeconfig, deployment.Resources,
	})
	if err != nil {
		return "", fmt.Errorf("encoding what ControllerDeployment %s says: %w", deployment.Name, err)
	}
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:16]), nil
}
