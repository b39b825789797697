package workload

import (
	"context"
	"fmt"
	"maps"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
)

const (
	// gardenletConfigVolume and gardenletConfigKey locate gardenlet's configuration, as in Gardener's chart.
	gardenletConfigVolume = "gardenlet-config"
	gardenletConfigKey    = "config.yaml"
)

// maxGardenletConfig is a multiple of the usual size of gardenlet's configuration. Decoded YAML may take a hundred times its length in memory, and a compromised seed may contain any text.
const maxGardenletConfig = 256 << 10

// ReadSeedFacts reads the facts of a seed. A seed without a gardenlet has Gardener's defaults.
func ReadSeedFacts(ctx context.Context, cluster *seeds.Cluster) (*SeedFacts, error) {
	configured, err := configuredGates(ctx, cluster.Client)
	if err != nil {
		return nil, fmt.Errorf("reading gardenlet's feature gates: %w", err)
	}
	garden, err := isGarden(ctx, cluster.Client)
	if err != nil {
		return nil, fmt.Errorf("finding out whether the seed is the garden's runtime cluster: %w", err)
	}
	return &SeedFacts{FeatureGates: featureGates(configured), IsGarden: garden}, nil
}

// configuredGates returns the gates that gardenlet's configuration sets. A Deployment that was not created by Gardener's chart sets none. It fails if
// the ConfigMap is missing or malformed: rendering without the gates would be wrong.
func configuredGates(ctx context.Context, c client.Reader) (map[string]bool, error) {
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: v1beta1constants.GardenNamespace, Name: v1beta1constants.DeploymentNameGardenlet}
	if err := c.Get(ctx, key, deployment); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	name := configMapOf(deployment)
	if name == "" {
		return nil, nil
	}
	configMap := &corev1.ConfigMap{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: deployment.Namespace, Name: name}, configMap); err != nil {
		return nil, err
	}
	text := configMap.Data[gardenletConfigKey]
	if len(text) > maxGardenletConfig {
		return nil, fmt.Errorf("%s in ConfigMap %s has more than %d KiB, which no gardenlet's has", gardenletConfigKey, name, maxGardenletConfig>>10)
	}
	var configuration struct {
		FeatureGates map[string]bool `json:"featureGates"`
	}
	if err := yaml.Unmarshal([]byte(text), &configuration); err != nil {
		return nil, fmt.Errorf("decoding %s in ConfigMap %s: %w", gardenletConfigKey, name, err)
	}
	return configuration.FeatureGates, nil
}

func configMapOf(deployment *appsv1.Deployment) string {
	for _, volume := range deployment.Spec.Template.Spec.Volumes {
		if volume.Name == gardenletConfigVolume && volume.ConfigMap != nil {
			return volume.ConfigMap.Name
		}
	}
	return ""
}

// maturity is the gate that sets all features of one maturity, e.g. AllAlpha.
type maturity string

const (
	alpha maturity = "AllAlpha"
	beta  maturity = "AllBeta"
	ga    maturity = ""
)

// gate is a feature gate as gardenlet registers it.
type gate struct {
	maturity maturity
	on       bool
}

// gardenletGates are the gates of gardener/pkg/gardenlet/features at v1.149.3. Gates of other versions are passed to charts if the configuration sets
// them.
func gardenletGates() map[string]gate {
	return map[string]gate{
		"CustomDNSServerInNodeLocalDNS": {beta, true},
		"DefaultSeccompProfile":         {alpha, false},
		"DisableNginxIngressInSeed":     {beta, true},
		"DoNotCopyBackupCredentials":    {ga, true},
		"IstioTLSTermination":           {beta, true},
		"OpenTelemetryCollector":        {beta, true},
		"PrometheusHealthChecks":        {alpha, false},
		"RemoveHTTPProxyLegacyPort":     {alpha, false},
		"RemoveVali":                    {alpha, false},
		"VPNBondingModeRoundRobin":      {alpha, false},
		"VictoriaLogsBackend":           {alpha, false},
	}
}

// featureGates merges the configured gates with the defaults. AllAlpha and AllBeta apply to gates that are not set by name (k8s.io/component-base/featuregate).
func featureGates(configured map[string]bool) map[string]bool {
	gates := map[string]bool{}
	for name, gate := range gardenletGates() {
		gates[name] = gate.on
		if on, set := configured[string(gate.maturity)]; set {
			gates[name] = on
		}
	}
	maps.Copy(gates, configured)
	return gates
}

// isGarden reports whether an object of kind Garden (gardener-operator) exists.
func isGarden(ctx context.Context, c client.Reader) (bool, error) {
	gardens := &metav1.PartialObjectMetadataList{}
	gardens.SetGroupVersionKind(schema.GroupVersionKind{Group: "operator.gardener.cloud", Version: "v1alpha1", Kind: "GardenList"})
	if err := c.List(ctx, gardens, client.Limit(1)); err != nil && !isNotFound(err) {
		return false, err
	}
	return len(gardens.Items) > 0, nil
}

// isNotFound reports whether the kind does not exist.
func isNotFound(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }
